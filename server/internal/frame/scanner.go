package frame

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner walks over the members of one object. It finds where a value ends by
// counting brackets, which takes no recursion however deep the value is, and then
// has the value's syntax checked.
type scanner struct {
	text []byte
	pos  int
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// take skips white space and, if c comes next, c.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) unexpected() error {
	if s.pos >= len(s.text) {
		return parseError("not JSON: the message ends too early")
	}
	return parseError("not JSON: unexpected character at byte %d", s.pos)
}

// notA tells another JSON value, a batch for example, from text that is no JSON at
// all.
func (s *scanner) notA(kind string) error {
	if _, err := s.value(); err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	return invalid("the message is not a JSON %s", kind)
}

func (s *scanner) end() error {
	if s.space(); s.pos < len(s.text) {
		return parseError("not JSON: there is more after the message, at byte %d", s.pos)
	}
	return nil
}

func (s *scanner) name() (string, error) {
	s.space()
	if s.pos >= len(s.text) || s.text[s.pos] != '"' {
		return "", s.unexpected()
	}
	start := s.pos
	if !s.skipString() {
		return "", s.unexpected()
	}
	name, ok := String(s.text[start:s.pos])
	if !ok {
		s.pos = start
		return "", s.unexpected()
	}
	if !s.take(':') {
		return "", s.unexpected()
	}
	return name, nil
}

// deepest is how deep a value may nest for its syntax to be checked here: the
// check recurses, and gives up at ten times that. The engine refuses such values
// in any case, and gives a better reason.
const deepest = 1000

func (s *scanner) value() ([]byte, error) {
	s.space()
	start := s.pos
	depth, ok := s.skipValue()
	if !ok {
		return nil, s.unexpected()
	}
	value := s.text[start:s.pos]
	if depth > deepest {
		return value, nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(value), syntax...)
	if err := decoder.SkipValue(); err != nil {
		s.pos = start
		if fault := new(jsontext.SyntacticError); errors.As(err, &fault) {
			s.pos += int(fault.ByteOffset)
		}
		return nil, s.unexpected()
	}
	if end := int(decoder.InputOffset()); end != len(value) {
		s.pos = start + end
		return nil, s.unexpected()
	}
	return value, nil
}

// skipValue moves past one value and returns how deep its brackets nest.
func (s *scanner) skipValue() (deepest int, ok bool) {
	depth := 0
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '"':
			if !s.skipString() {
				return 0, false
			}
		case '{', '[':
			s.pos++
			depth++
			deepest = max(deepest, depth)
			continue
		case '}', ']':
			if depth == 0 {
				return 0, false
			}
			s.pos++
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return 0, false
			}
			s.pos++
			continue
		default:
			s.skipLiteral()
		}
		if depth == 0 {
			return deepest, true
		}
	}
	return 0, false
}

func (s *scanner) skipString() bool {
	s.pos++
	for s.pos < len(s.text) {
		i := bytes.IndexAny(s.text[s.pos:], `"\`)
		if i < 0 {
			break
		}
		s.pos += i
		if s.text[s.pos] == '"' {
			s.pos++
			return true
		}
		s.pos += 2
	}
	s.pos = len(s.text)
	return false
}

func (s *scanner) skipLiteral() {
	i := bytes.IndexAny(s.text[s.pos:], "{}[],:\" \t\r\n")
	if i < 0 {
		i = len(s.text) - s.pos
	}
	s.pos += i
}
