package hand

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeTokens does what Decode does on top of a library: jsontext refuses duplicate
// keys, invalid UTF-8, lone surrogates and what is not JSON; depth, numbers and
// control characters are checked here.
func DecodeTokens(raw []byte) (any, Facts, *Violation) {
	text := bytes.Trim(raw, " \t\r\n")
	b := builder{d: jsontext.NewDecoder(bytes.NewBuffer(text)), facts: Facts{Bytes: len(text)}}
	value, err := b.value()
	if err == nil {
		if _, end := b.d.ReadToken(); !errors.Is(end, io.EOF) {
			err = errRefused("there is more after the value")
		}
	}
	if err != nil {
		return nil, b.facts, &Violation{string(b.d.StackPointer()), err.Error()}
	}
	return value, b.facts, nil
}

type errRefused string

func (e errRefused) Error() string { return string(e) }

type builder struct {
	d     *jsontext.Decoder
	facts Facts
}

func (b *builder) value() (any, error) {
	if b.facts.Values++; b.facts.Values > maxValues {
		return nil, errRefused("too many values")
	}
	if depth := b.d.StackDepth(); depth > b.facts.Depth {
		if b.facts.Depth = depth; depth > maxDepth {
			return nil, errRefused("nested too deep")
		}
	}
	t, err := b.d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return b.object()
	case '[':
		return b.array()
	case '"':
		text := t.String()
		b.watch(text, false)
		return text, nil
	case '0':
		return number(t.String())
	case 't', 'f':
		return t.Bool(), nil
	default: // null: ReadToken has refused anything else here
		return nil, nil
	}
}

func (b *builder) object() (any, error) {
	members := map[string]any{}
	for b.d.PeekKind() != '}' {
		t, err := b.d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := t.String()
		b.watch(key, true)
		if members[key], err = b.value(); err != nil {
			return nil, err
		}
	}
	_, err := b.d.ReadToken()
	return members, err
}

func (b *builder) array() (any, error) {
	list := []any{}
	for b.d.PeekKind() != ']' {
		item, err := b.value()
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := b.d.ReadToken()
	return list, err
}

func number(text string) (any, error) {
	if len(text) > maxNumberLength {
		return nil, errRefused("a number is too long")
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		if n, err := strconv.Atoi(strings.TrimLeft(text[at+1:], "+-")); err != nil || n > maxExponent {
			return nil, errRefused("the exponent of a number is too great")
		}
	}
	return json.Number(text), nil
}

func (b *builder) watch(text string, key bool) {
	d := decoder{}
	for i := plain(text, 0); i < len(text); i = plain(text, i) {
		r, size := utf8.DecodeRuneInString(text[i:])
		d.watch(r)
		i += size
	}
	if d.count == 0 {
		return
	}
	if b.facts.Total++; b.facts.Total <= maxListed {
		b.facts.Controls = append(b.facts.Controls, Control{string(b.d.StackPointer()), key, d.seen, d.count})
	}
}
