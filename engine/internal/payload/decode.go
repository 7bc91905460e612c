package payload

import (
	"bytes"
	"strings"
)

const space = " \t\r\n"

var byteOrderMark = []byte("\xEF\xBB\xBF")

// Decode reads one JSON value, strictly: RFC 8259 grammar in valid UTF-8, no
// duplicate keys however they are spelt, no lone surrogates, no byte order mark,
// nothing behind the value, numbers within the limits.
//
// It takes time in proportion to the text, recurses MaxDepth levels and builds
// MaxValues values at most, and keeps no reference to raw.
func Decode(raw []byte, limits Limits) Result {
	trimmed := bytes.TrimRight(raw, space)
	start := len(trimmed) - len(bytes.TrimLeft(trimmed, space))
	trimmed = trimmed[start:]
	facts := Facts{Type: rootType(trimmed), Bytes: len(trimmed)}
	if len(trimmed) > limits.MaxBytes {
		facts.Stop = StopSize
		return Result{Facts: facts}
	}
	d := decoder{text: string(trimmed), limits: &limits, facts: &facts}
	value, ok := d.document(bytes.HasPrefix(trimmed, byteOrderMark))
	if facts.Depth > 0 {
		facts.Deepest = pointer(d.deepest)
	}
	if !ok {
		if facts.Fault != nil {
			facts.Fault.Offset += start
		}
		return Result{Facts: facts}
	}
	facts.Complete = true
	return Result{Value: value, Facts: facts}
}

func rootType(text []byte) string {
	if len(text) == 0 {
		return "unknown"
	}
	switch text[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return "number"
	}
	for literal, kind := range map[string]string{"true": "boolean", "false": "boolean", "null": "null"} {
		if bytes.HasPrefix(text, []byte(literal)) {
			return kind
		}
	}
	return "unknown"
}

// decoder reads one text. Its methods return false once the reading has stopped,
// with the reason in facts.
type decoder struct {
	text   string // one copy of the input; strings without escapes are parts of it
	pos    int
	limits *Limits
	facts  *Facts

	steps    []step // to the value that is being read
	deepest  []step // to the first value at facts.Depth
	elements []any  // of all arrays that are being read, so that each is allocated once
	listed   int    // bytes of pointers in the list of strings
	seen     CodePointSet
	seenHere int // watched characters in the string that is being read
}

func (d *decoder) document(hasMark bool) (any, bool) {
	switch {
	case d.text == "":
		return nil, d.fault(FaultEmpty, 0)
	case hasMark:
		return nil, d.fault(FaultByteOrderMark, 0)
	}
	value, ok := d.value()
	if !ok {
		return nil, false
	}
	if d.skipSpace(); d.pos < len(d.text) {
		return nil, d.fault(FaultTrailingData, d.pos)
	}
	return value, true
}

func (d *decoder) fault(code string, offset int) bool {
	d.facts.Stop = StopFault
	d.facts.Fault = &Fault{Code: code, Path: pointer(d.steps), Offset: offset}
	return false
}

// unexpected is the fault of a character that the grammar does not have here.
func (d *decoder) unexpected() bool {
	switch {
	case d.pos >= len(d.text):
		return d.fault(FaultUnexpectedEnd, len(d.text))
	case d.text[d.pos] >= 0x80 && !validRune(d.text[d.pos:]):
		return d.fault(FaultInvalidUTF8, d.pos)
	}
	return d.fault(FaultSyntax, d.pos)
}

func (d *decoder) skipSpace() {
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

// take skips c if it comes next.
func (d *decoder) take(c byte) bool {
	if d.pos < len(d.text) && d.text[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

func (d *decoder) value() (any, bool) {
	d.skipSpace()
	if d.pos >= len(d.text) {
		return nil, d.unexpected()
	}
	if d.facts.Values++; d.facts.Values > d.limits.MaxValues {
		d.facts.Stop = StopValues
		return nil, false
	}
	if len(d.steps) > d.facts.Depth {
		d.facts.Depth = len(d.steps)
		d.deepest = append(d.deepest[:0], d.steps...)
		if d.facts.Depth > d.limits.MaxDepth {
			d.facts.Stop = StopDepth
			d.facts.Depth = d.countDepth()
			return nil, false
		}
	}
	switch c := d.text[d.pos]; {
	case c == '"':
		text, ok := d.string()
		if !ok {
			return nil, false
		}
		d.note("value")
		return text, true
	case c == '{':
		return d.object()
	case c == '[':
		return d.array()
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	return d.literal()
}

func (d *decoder) literal() (any, bool) {
	for _, literal := range [...]struct {
		text  string
		value any
	}{{"true", true}, {"false", false}, {"null", nil}} {
		if rest := d.text[d.pos:]; rest[0] == literal.text[0] {
			if strings.HasPrefix(rest, literal.text) {
				d.pos += len(literal.text)
				return literal.value, true
			}
			for i := range literal.text {
				if i >= len(rest) || rest[i] != literal.text[i] {
					d.pos += i
					break
				}
			}
			break
		}
	}
	return nil, d.unexpected()
}

func (d *decoder) object() (any, bool) {
	d.pos++
	members := map[string]any{}
	if d.skipSpace(); d.take('}') {
		return members, true
	}
	for {
		d.skipSpace()
		start := d.pos
		if d.pos >= len(d.text) || d.text[d.pos] != '"' {
			return nil, d.unexpected()
		}
		key, ok := d.string()
		if !ok {
			return nil, false
		}
		d.steps = append(d.steps, step{key: key, index: -1})
		d.note("key")
		if d.skipSpace(); !d.take(':') {
			return nil, d.unexpected()
		}
		value, ok := d.value()
		if !ok {
			return nil, false
		}
		before := len(members)
		if members[key] = value; len(members) == before {
			return nil, d.fault(FaultDuplicateKey, start)
		}
		d.steps = d.steps[:len(d.steps)-1]
		d.skipSpace()
		if d.take(',') {
			continue
		}
		if d.take('}') {
			return members, true
		}
		return nil, d.unexpected()
	}
}

func (d *decoder) array() (any, bool) {
	d.pos++
	if d.skipSpace(); d.take(']') {
		return []any{}, true
	}
	first := len(d.elements)
	d.steps = append(d.steps, step{})
	for {
		value, ok := d.value()
		if !ok {
			return nil, false
		}
		d.elements = append(d.elements, value)
		if d.skipSpace(); d.take(',') {
			d.steps[len(d.steps)-1].index++
			continue
		}
		if !d.take(']') {
			return nil, d.unexpected()
		}
		d.steps = d.steps[:len(d.steps)-1]
		elements := make([]any, len(d.elements)-first)
		copy(elements, d.elements[first:])
		clear(d.elements[first:])
		d.elements = d.elements[:first]
		return elements, true
	}
}

// countDepth goes on from a value that is too deep and returns the depth of the
// deepest one. It only counts brackets outside strings, so it takes no stack and
// no memory however deep the text goes.
func (d *decoder) countDepth() int {
	open := len(d.steps)
	deepest := open
	for d.pos < len(d.text) && open > 0 {
		c := d.text[d.pos]
		switch c {
		case '}', ']':
			open--
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			deepest = max(deepest, open)
		}
		switch c {
		case '{', '[':
			open++
		case '"':
			d.skipString()
			continue
		}
		d.pos++
	}
	return deepest
}
