package server

import (
	"cmp"
	"encoding/json"
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
	// Masked has pointers of what a record has replaced in the arguments.
	Masked []string
}

// NotKeptError says that the record of a call has kept none of its arguments.
type NotKeptError struct {
	Tool string
	Why  string
}

// Error says why.
func (e *NotKeptError) Error() string {
	return "the record has kept no arguments: " + e.Why
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

// ReadCall reads a recorded call: a JSON-RPC tools/call request, its bare params object
// {"name": ..., "arguments": ...}, or an event as package records writes it. The error is a
// *MessageError, or for such an event a *NotKeptError.
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
	if envelope["decision_id"] != nil && envelope["input"] != nil {
		return readEvent(envelope)
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

// readEvent reads an event of OPA's decision logs that has a call.
func readEvent(event frame.Members) (Call, error) {
	var call Call
	in, err := frame.Object(event["input"], []string{"tool", "payload"})
	if err != nil {
		return call, &MessageError{frame.CodeInvalidRequest, "the input of the decision is not that of a call"}
	}
	var isTool bool
	if call.Tool, isTool = frame.String(in["tool"]); !isTool {
		return call, &MessageError{frame.CodeInvalidRequest, "the input of the decision names no tool"}
	}
	var custom struct {
		LeftOut string   `json:"left_out"`
		Masked  []string `json:"masked"`
	}
	if event["custom"] != nil {
		if err := json.Unmarshal(event["custom"], &custom); err != nil {
			return call, &MessageError{frame.CodeInvalidRequest, "the member custom of the decision cannot be read"}
		}
	}
	if in["payload"] == nil {
		return call, &NotKeptError{Tool: call.Tool, Why: cmp.Or(custom.LeftOut, "it does not say why")}
	}
	call.Arguments, call.Masked = in["payload"], custom.Masked
	return call, nil
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
