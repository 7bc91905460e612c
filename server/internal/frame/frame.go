package frame

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON-RPC 2.0 error codes (section 5.1 there) of messages that are no usable
// call.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
)

// Error says why a message is refused before anybody looks at its arguments.
type Error struct {
	Code    int
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func parseError(format string, args ...any) *Error {
	return &Error{CodeParseError, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Error {
	return &Error{CodeInvalidRequest, fmt.Sprintf(format, args...)}
}

// Members are the members of one object, by decoded name, as the bytes they have
// in the message.
type Members map[string][]byte

// EnvelopeNames are the members of a JSON-RPC 2.0 message.
var EnvelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// CallNames are the members of the params of a tools/call in all revisions of MCP.
var CallNames = []string{"name", "arguments", "_meta", "task", "inputResponses", "requestState"}

// AllNames are both.
var AllNames = slices.Concat(EnvelopeNames, CallNames)

// Object reads one JSON object that is the whole of text. Each name of reserved
// may occur once, and no other member may be spelt like one of them but for case:
// readers that fold case would take it for the real one.
//
// Values are checked for syntax only, so that duplicate keys or lone surrogates
// within arguments are left for the engine to report at their place.
func Object(text []byte, reserved []string) (Members, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	text = bytes.Trim(text, " \t\r\n")
	s := scanner{text: text}
	members := Members{}
	if !s.take('{') {
		return nil, s.notA("object")
	}
	if s.take('}') {
		return members, s.end()
	}
	for {
		name, err := s.name()
		if err != nil {
			return nil, err
		}
		value, err := s.value()
		if err != nil {
			return nil, err
		}
		if err := members.add(name, value, reserved); err != nil {
			return nil, err
		}
		if s.take(',') {
			continue
		}
		if s.take('}') {
			return members, s.end()
		}
		return nil, s.unexpected()
	}
}

// Array reads one JSON array that is the whole of text, and returns its items as the
// bytes they have there. They are checked for syntax only.
func Array(text []byte) ([][]byte, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	s := scanner{text: bytes.Trim(text, " \t\r\n")}
	items := [][]byte{}
	if !s.take('[') {
		return nil, s.notA("array")
	}
	if s.take(']') {
		return items, s.end()
	}
	for {
		item, err := s.value()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if s.take(',') {
			continue
		}
		if s.take(']') {
			return items, s.end()
		}
		return nil, s.unexpected()
	}
}

func (m Members) add(name string, value []byte, reserved []string) error {
	if _, repeated := m[name]; repeated {
		return invalid("a member of the message occurs twice: %s", quoted(name))
	}
	for _, known := range reserved {
		if name != known && strings.EqualFold(name, known) {
			return invalid("the message has a member that differs from %q only in case: %s", known, quoted(name))
		}
	}
	m[name] = value
	return nil
}

// quoted shows a caller's name in ASCII and not at length.
func quoted(name string) string {
	if len(name) > 64 {
		name = name[:64] + "..."
	}
	return fmt.Sprintf("%+q", name)
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

func checkText(text []byte) error {
	switch {
	case bytes.HasPrefix(text, byteOrderMark):
		return parseError("not JSON: the message starts with a byte order mark")
	case !utf8.Valid(text):
		return parseError("not JSON: the message is not valid UTF-8")
	case len(bytes.Trim(text, " \t\r\n")) == 0:
		return parseError("not JSON: the message is empty")
	}
	return nil
}

// syntax accepts what JSON's grammar accepts; the strict rules on keys and strings
// are the engine's.
var syntax = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// String decodes a JSON string; ok is false for any other value.
func String(value []byte) (text string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	// Lone surrogates are refused here: a name with one is no name.
	decoded, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "", false
	}
	return string(decoded), true
}
