package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// Answer returns what a client gets of one raw message from the server. Every list of
// tools is rewritten, whatever request it answers: tools that are not registered are
// taken out, and each other one has the schema that is enforced. Everything else in it,
// and every other message, stays as it is, byte for byte. A list that cannot be read is
// answered with an error.
func (j *Judge) Answer(message []byte) []byte {
	if !bytes.Contains(message, []byte("inputSchema")) && !bytes.ContainsRune(message, '\\') {
		return message // saves reading what holds no tool, escaped or not
	}
	m, err := frame.Read(message)
	if err != nil || m.Kind != frame.Response || len(m.Result) == 0 || m.Result[0] != '{' {
		return message // the client's to judge; no list of tools in it
	}
	result, err := frame.Object(m.Result, []string{"tools"})
	if err != nil {
		return j.unreadable(m.ID, err)
	}
	tools, ok := result["tools"]
	if !ok || tools[0] != '[' {
		return message
	}
	list, err := j.rewriteTools(tools)
	if err != nil {
		return j.unreadable(m.ID, err)
	}
	start := frame.Offset(message, tools)
	return bytes.Join([][]byte{message[:start], list, message[start+len(tools):]}, nil)
}

func (j *Judge) unreadable(id []byte, err error) []byte {
	j.logger.Error("the server's list of tools cannot be read", zap.Error(err))
	return errorReply(id, rpcError{Code: codeInternal, Message: "the server's list of tools cannot be read, so it is not passed on"})
}

// rewriteTools keeps the entries of registered tools.
func (j *Judge) rewriteTools(tools []byte) ([]byte, error) {
	items, err := frame.Array(tools)
	if err != nil {
		return nil, err
	}
	out := []byte{'['}
	for i, item := range items {
		rewritten, keep, err := j.rewriteTool(item)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		if !keep {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, rewritten...)
	}
	return append(out, ']'), nil
}

// rewriteTool puts the enforced schema into an entry of the list.
func (j *Judge) rewriteTool(item []byte) (rewritten []byte, keep bool, err error) {
	members, err := frame.Object(item, toolNames)
	if err != nil {
		return nil, false, err
	}
	name, ok := frame.String(members["name"])
	if !ok {
		return nil, false, errors.New("the name is not a string")
	}
	enforced, registered := j.engine.AdvertisedSchema(name)
	if !registered {
		return nil, false, nil
	}
	schema, ok := members["inputSchema"]
	if !ok {
		return nil, false, errors.New("there is no inputSchema")
	}
	var oneLine bytes.Buffer // a message on stdio is one line
	if err := json.Compact(&oneLine, enforced); err != nil {
		return nil, false, err
	}
	start := frame.Offset(item, schema)
	return bytes.Join([][]byte{item[:start], oneLine.Bytes(), item[start+len(schema):]}, nil), true, nil
}

// answeredID returns the id of the request that a message from the server answers.
func answeredID(message []byte) (id []byte, isAnswer bool) {
	m, err := frame.Read(message)
	return m.ID, err == nil && m.Kind == frame.Response && m.ID != nil
}
