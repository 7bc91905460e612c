package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// Answer returns what a client gets of one raw message from the server. Every list of
// tools is rewritten, whatever request it answers: tools that are not registered are
// taken out, and each other one has the schema that is enforced. Everything else in it,
// and every other message, stays as it is, byte for byte. A list that cannot be read is
// answered with an error, and so is a message that cannot be, and that a more lenient
// reader may take for a list.
func (j *Judge) Answer(ctx context.Context, message []byte) []byte {
	return j.answerTo(ctx, message, nil)
}

// answerTo is Answer to the request with this id, where a message has none itself.
func (j *Judge) answerTo(ctx context.Context, message, id []byte) []byte {
	m, about := read(message)
	if m.ID == nil {
		m.ID = id
	}
	switch about {
	case aboutOther:
	case aboutChange:
		j.source.Changed(callerOf(ctx))
	case aboutTools:
		return j.answerList(ctx, message, m)
	case aboutPerhaps:
		return j.unreadable(m.ID, errors.New("the message is not one JSON-RPC message"))
	}
	return message
}

// subject is what a message from the server is about.
type subject int

const (
	aboutOther   subject = iota
	aboutTools           // a list of them
	aboutChange          // the list has changed
	aboutPerhaps         // it cannot be read, and may be a list of tools to somebody else
)

// read reads no more than it has to.
func read(message []byte) (frame.Message, subject) {
	if !mentionsTools(message) {
		return frame.Message{}, aboutOther
	}
	m, err := frame.Read(message)
	return m, subjectOf(message, m, err)
}

// subjectOf goes by what frame.Read has returned.
func subjectOf(message []byte, m frame.Message, err error) subject {
	switch {
	case err != nil && mayList(message):
		return aboutPerhaps
	case err != nil: // the client's to judge
	case m.Kind == frame.Notification && m.Method == "notifications/tools/list_changed":
		return aboutChange
	case len(m.Result) > 0 && m.Result[0] == '{' && hasTools(m.Result): // with a method, too
		return aboutTools
	}
	return aboutOther
}

// mentionsTools says whether a text has the word in any case, or an escape that may hide
// it.
func mentionsTools(text []byte) bool {
	if bytes.ContainsRune(text, '\\') {
		return true
	}
	word := []byte("tool")
	for {
		start := bytes.IndexAny(text, "tT")
		if start < 0 || len(text) < start+len(word) {
			return false
		}
		if bytes.EqualFold(text[start:start+len(word)], word) {
			return true
		}
		text = text[start+1:]
	}
}

// mayList says whether a reader that takes what frame.Read does not may find a list of
// tools in a text: one that passes over a byte order mark, bytes that are no UTF-8, and
// members that occur twice or in another case, or reads one value after the other.
func mayList(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return false
		case err != nil:
			return mentionsTools(text) // it is not JSON, as far as we can tell
		case token.Kind() == '"' && strings.EqualFold(token.String(), "tools"):
			return true
		}
	}
}

// hasTools says whether a result is, or may be, a list of tools.
func hasTools(result []byte) bool {
	members, err := frame.Object(result, []string{"tools"})
	if err != nil {
		return mayList(result)
	}
	tools, ok := members["tools"]
	return ok && tools[0] == '['
}

func (j *Judge) answerList(ctx context.Context, message []byte, m frame.Message) []byte {
	result, err := frame.Object(m.Result, []string{"tools"})
	if err != nil {
		return j.unreadable(m.ID, err)
	}
	tools := result["tools"]
	list, err := j.rewriteList(ctx, tools)
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

// rewriteList rewrites a list by the engine of the caller. A list that has other tools
// than the source knows is as good as a notification that it has changed.
func (j *Judge) rewriteList(ctx context.Context, tools []byte) ([]byte, error) {
	eng, err := j.source.Engine(ctx, callerOf(ctx))
	if err != nil {
		return nil, err
	}
	list, drifted, err := rewriteTools(eng, tools)
	if err != nil || !drifted {
		return list, err
	}
	j.source.Changed(callerOf(ctx))
	renewed, err := j.source.Engine(ctx, callerOf(ctx))
	if err != nil || renewed == eng {
		return list, err
	}
	list, _, err = rewriteTools(renewed, tools)
	return list, err
}

// rewriteTools keeps the entries of registered tools. drifted says that the engine has
// another schema for one, or has never heard of it.
func rewriteTools(eng *engine.Engine, tools []byte) (list []byte, drifted bool, err error) {
	items, err := frame.Array(tools)
	if err != nil {
		return nil, false, err
	}
	quarantined := eng.Quarantined()
	out := []byte{'['}
	for i, item := range items {
		entry, err := rewriteTool(eng, item)
		if err != nil {
			return nil, false, fmt.Errorf("entry %d: %w", i, err)
		}
		drifted = drifted || entry.differs && !slices.Contains(quarantined, entry.name)
		if entry.rewritten == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, entry.rewritten...)
	}
	return append(out, ']'), drifted, nil
}

// listed is an entry of a list of tools.
type listed struct {
	name      string
	rewritten []byte // nil for a tool that is not registered
	differs   bool   // the list has another schema than the engine, or the engine none
}

// rewriteTool puts the enforced schema into an entry of the list.
func rewriteTool(eng *engine.Engine, item []byte) (listed, error) {
	members, err := frame.Object(item, toolNames)
	if err != nil {
		return listed{}, err
	}
	name, ok := frame.String(members["name"])
	if !ok {
		return listed{}, errors.New("the name is not a string")
	}
	enforced, registered := eng.AdvertisedSchema(name)
	if !registered {
		return listed{name: name, differs: true}, nil
	}
	schema, ok := members["inputSchema"]
	if !ok {
		return listed{}, errors.New("there is no inputSchema")
	}
	var oneLine bytes.Buffer // a message on stdio is one line
	if err := json.Compact(&oneLine, enforced); err != nil {
		return listed{}, err
	}
	start := frame.Offset(item, schema)
	rewritten := bytes.Join([][]byte{item[:start], oneLine.Bytes(), item[start+len(schema):]}, nil)
	return listed{name: name, rewritten: rewritten, differs: !bytes.Equal(schema, enforced)}, nil
}

// answeredID returns the id of the request that a message from the server answers.
func answeredID(message []byte) (id []byte, isAnswer bool) {
	m, err := frame.Read(message)
	return m.ID, err == nil && m.Kind == frame.Response && m.ID != nil
}
