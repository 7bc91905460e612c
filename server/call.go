package server

import (
	"errors"
	"fmt"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// MaxMessageBytes is how long one message may be, in bytes. It is what the MCP
// SDKs allow, too.
const MaxMessageBytes = 4 << 20

// Call is one tools/call as read from a message.
type Call struct {
	Tool      string // "" when the name is missing or not a string
	Arguments []byte // the very bytes in the message; nil when absent
}

// MessageError says why a message is no call that could be judged. Code is -32700
// where it is not one JSON value, else -32600 (JSON-RPC 2.0 section 5.1).
type MessageError struct {
	Code    int
	Message string
}

// Error returns the message.
func (e *MessageError) Error() string { return e.Message }

const methodCall = "tools/call"

// ReadCall reads a recorded call: a JSON-RPC tools/call request, or its bare
// params object {"name": ..., "arguments": ...}. The error is a *MessageError.
func ReadCall(message []byte) (Call, error) {
	call, err := readCall(message)
	var refused *frame.Error
	if errors.As(err, &refused) {
		return Call{}, &MessageError{Code: refused.Code, Message: refused.Message}
	}
	if err != nil {
		return Call{}, err
	}
	return call, nil
}

func readCall(message []byte) (Call, error) {
	if len(message) > MaxMessageBytes {
		return Call{}, &MessageError{frame.CodeInvalidRequest, fmt.Sprintf("the message has more than %d bytes", MaxMessageBytes)}
	}
	envelope, err := frame.Object(message, frame.AllNames)
	if err != nil {
		return Call{}, err
	}
	params := envelope
	if _, isEnvelope := envelope["method"]; isEnvelope || envelope["jsonrpc"] != nil {
		if params, err = callParams(envelope); err != nil {
			return Call{}, err
		}
	}
	name, _ := frame.String(params["name"])
	return Call{Tool: name, Arguments: params["arguments"]}, nil
}

func callParams(envelope frame.Members) (frame.Members, error) {
	if method, ok := frame.String(envelope["method"]); !ok || method != methodCall {
		return nil, &MessageError{frame.CodeInvalidRequest, "the message is not a tools/call request"}
	}
	params, present := envelope["params"]
	if !present {
		return frame.Members{}, nil
	}
	if params[0] != '{' {
		return nil, &MessageError{frame.CodeInvalidRequest, "params of tools/call must be an object"}
	}
	return frame.Object(params, frame.CallNames)
}
