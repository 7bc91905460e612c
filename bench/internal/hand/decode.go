package hand

import (
	"encoding/json"
	"strconv"
	"strings"
)

// The limits of the shipped policy data, as a programmer would write them down.
const (
	MaxBytes        = 64 << 10
	maxBytesExempt  = 4 << 20
	maxDepth        = 10
	maxNumberLength = 64
	maxExponent     = 308
	maxValues       = 131_072
	maxListed       = 32
	maxViolations   = 100
)

// Violation is one thing that is wrong, at an RFC 6901 pointer.
type Violation struct{ Path, Reason string }

// Facts are what a rule engine would have to be told about a decoded payload.
type Facts struct {
	Bytes    int
	Depth    int
	Values   int
	Controls []Control // strings with forbidden characters, the first maxListed of them
	Total    int       // of them
}

// Control is one string value or key with forbidden control characters.
type Control struct {
	Path       string
	Key        bool
	CodePoints [3]uint64 // a bit for each one below U+00A0
	Count      int
}

// decoder reads one JSON text strictly. Its methods return false once fault is set.
type decoder struct {
	text    string
	pos     int
	path    []token
	scratch []any // elements of the arrays that are being read
	facts   Facts
	seen    [3]uint64 // forbidden characters of the string just read
	count   int
	fault   *Violation
}

// token is one step of a pointer: a key, or an index where key is not set.
type token struct {
	key   string
	index int
	isKey bool
}

// Decode reads strict JSON: no duplicate keys, valid UTF-8, no lone surrogates, no
// byte order mark, nothing behind the value, bounded numbers, at most maxDepth levels.
// A violation means that there is no value.
func Decode(raw []byte) (any, Facts, *Violation) {
	text := strings.Trim(string(raw), " \t\r\n")
	d := decoder{text: text, facts: Facts{Bytes: len(text)}}
	value, ok := d.value()
	if ok {
		d.space()
		if d.pos < len(text) {
			ok = d.fail("there is more after the value")
		}
	}
	if !ok {
		return nil, d.facts, d.fault
	}
	return value, d.facts, nil
}

func (d *decoder) fail(reason string) bool {
	d.fault = &Violation{d.pointer(), reason}
	return false
}

func (d *decoder) pointer() string {
	var b strings.Builder
	for _, t := range d.path {
		b.WriteByte('/')
		b.WriteString(t.text())
	}
	return b.String()
}

func (d *decoder) space() {
	for d.pos < len(d.text) && d.text[d.pos] <= ' ' {
		if c := d.text[d.pos]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return
		}
		d.pos++
	}
}

// next skips white space and returns the character that comes then, 0 at the end.
func (d *decoder) next() byte {
	if d.pos < len(d.text) && d.text[d.pos] > ' ' {
		return d.text[d.pos]
	}
	d.space()
	if d.pos < len(d.text) {
		return d.text[d.pos]
	}
	return 0
}

func (d *decoder) value() (any, bool) {
	c := d.next()
	if d.facts.Values++; d.facts.Values > maxValues {
		return nil, d.fail("too many values")
	}
	if len(d.path) > d.facts.Depth {
		if d.facts.Depth = len(d.path); d.facts.Depth > maxDepth {
			return nil, d.fail("nested too deep")
		}
	}
	switch c {
	case '"':
		text, ok := d.str()
		if ok && d.count > 0 {
			d.note(false)
		}
		return text, ok
	case '{':
		return d.object()
	case '[':
		return d.array()
	case 't':
		return true, d.literal("true")
	case 'f':
		return false, d.literal("false")
	case 'n':
		return nil, d.literal("null")
	}
	return d.number()
}

func (d *decoder) literal(word string) bool {
	if !strings.HasPrefix(d.text[d.pos:], word) {
		return d.fail("unexpected character")
	}
	d.pos += len(word)
	return true
}

func (d *decoder) object() (any, bool) {
	d.pos++
	members := map[string]any{}
	if d.next() == '}' {
		d.pos++
		return members, true
	}
	for {
		if d.next() != '"' {
			return nil, d.fail("a key is expected")
		}
		key, ok := d.str()
		if !ok {
			return nil, false
		}
		d.path = append(d.path, token{key: key, isKey: true})
		if d.count > 0 {
			d.note(true)
		}
		if d.next() != ':' {
			return nil, d.fail("a colon is expected")
		}
		d.pos++
		value, ok := d.value()
		if !ok {
			return nil, false
		}
		before := len(members)
		if members[key] = value; len(members) == before {
			return nil, d.fail("this key appears twice")
		}
		d.path = d.path[:len(d.path)-1]
		switch d.next() {
		case ',':
			d.pos++
		case '}':
			d.pos++
			return members, true
		default:
			return nil, d.fail("a comma or brace is expected")
		}
	}
}

func (d *decoder) array() (any, bool) {
	d.pos++
	if d.next() == ']' {
		d.pos++
		return []any{}, true
	}
	first, at := len(d.scratch), len(d.path)
	d.path = append(d.path, token{})
	for {
		value, ok := d.value()
		if !ok {
			return nil, false
		}
		d.scratch = append(d.scratch, value)
		switch d.next() {
		case ',':
			d.pos++
			d.path[at].index++
		case ']':
			d.pos++
			d.path = d.path[:at]
			list := append([]any(nil), d.scratch[first:]...)
			clear(d.scratch[first:])
			d.scratch = d.scratch[:first]
			return list, true
		default:
			return nil, d.fail("a comma or bracket is expected")
		}
	}
}

func (d *decoder) number() (any, bool) {
	start := d.pos
	if d.pos < len(d.text) && d.text[d.pos] == '-' {
		d.pos++
	}
	whole := d.digits()
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return nil, d.fail("unexpected character")
	}
	if d.pos < len(d.text) && d.text[d.pos] == '.' {
		d.pos++
		if d.digits() == "" {
			return nil, d.fail("a digit is expected")
		}
	}
	if d.pos < len(d.text) && d.text[d.pos]|0x20 == 'e' {
		if d.pos++; d.pos < len(d.text) && (d.text[d.pos] == '+' || d.text[d.pos] == '-') {
			d.pos++
		}
		exponent := d.digits()
		if exponent == "" {
			return nil, d.fail("a digit is expected")
		}
		if n, err := strconv.Atoi(exponent); err != nil || n > maxExponent {
			return nil, d.fail("the exponent of a number is too great")
		}
	}
	if d.pos-start > maxNumberLength {
		return nil, d.fail("a number is too long")
	}
	return json.Number(d.text[start:d.pos]), true
}

func (d *decoder) digits() string {
	start := d.pos
	for d.pos < len(d.text) && d.text[d.pos]-'0' <= 9 {
		d.pos++
	}
	return d.text[start:d.pos]
}
