package frame

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what a message is (JSON-RPC 2.0 sections 4 and 5).
type Kind int

// The kinds of message.
const (
	Request      Kind = iota // has a method and an id that an answer can name
	Notification             // has a method and no such id
	Response                 // has no method
)

// Message is one JSON-RPC message. Its parts are ranges of the text it was read from.
type Message struct {
	Kind   Kind
	ID     []byte // as written; nil where there is none that an answer can name
	Method string // decoded, so that escapes hide nothing; "" in a response
	Params []byte // nil where absent
	Result []byte // nil where absent
	Error  []byte // nil where absent
}

// Read reads one message, strictly. Where it refuses one it still returns the ID if
// there is exactly one, since a caller waits for an answer that names it. The error is
// an *Error.
func Read(text []byte) (Message, error) {
	members, err := Object(text, EnvelopeNames)
	if err != nil {
		return Message{ID: ID(text)}, err
	}
	m := Message{Params: members["params"], Result: members["result"], Error: members["error"]}
	if isID(members["id"]) {
		m.ID = members["id"]
	}
	method, hasMethod := members["method"]
	if !hasMethod {
		m.Kind = Response
		return m, nil
	}
	var isString bool
	if m.Method, isString = String(method); !isString {
		return m, invalid("the method of the message is not a string")
	}
	if m.ID == nil {
		m.Kind = Notification
	}
	return m, nil
}

// isID says whether value can name a request: a string or a number. JSON-RPC allows
// null too, and MCP does not.
func isID(value []byte) bool {
	return len(value) > 0 && (value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9')
}

// ID finds the id in a message that need not be well-formed, or whole: it looks as far
// as it can read. It returns nil where there is no id, or more than one.
func ID(text []byte) []byte {
	s := scanner{text: bytes.TrimPrefix(text, byteOrderMark)}
	if !s.take('{') {
		return nil
	}
	var id []byte
	for {
		name, err := s.name()
		if err != nil {
			return id
		}
		s.space()
		start := s.pos
		if _, ok := s.skipValue(); !ok {
			return id
		}
		value := s.text[start:s.pos]
		if name == "id" && isID(value) {
			if id != nil || !jsontext.Value(value).IsValid() {
				return nil
			}
			id = value
		}
		if !s.take(',') {
			return id
		}
	}
}

// Offset returns where in text the part of it begins that Read, Object or Array
// returned.
func Offset(text, part []byte) int { return cap(text) - cap(part) }

// Key returns what two ids share exactly if they name the same request, however they
// are written: servers write "a" for "\u0061", and some write 1 for 1.0.
func Key(id []byte) string {
	if text, ok := String(id); ok {
		return "s" + text
	}
	canonical := jsontext.Value(bytes.Clone(id))
	if err := canonical.Canonicalize(); err != nil {
		return "n" + string(id)
	}
	return "n" + string(canonical)
}
