package engine

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// rewrite makes the changes at and below root to a JSON text. Every value that no change
// concerns keeps its bytes.
func rewrite(text []byte, root *place) ([]byte, error) {
	w := rewriter{decoder: jsontext.NewDecoder(bytes.NewReader(text))}
	if err := w.value(root); err != nil {
		return nil, fmt.Errorf("rewrite: %w", err)
	}
	return w.out, nil
}

type rewriter struct {
	decoder *jsontext.Decoder
	out     []byte
}

// value copies the next value, edited. at is nil where there is nothing to do.
func (w *rewriter) value(at *place) error {
	if at != nil && at.edit == UnwrapJSONString {
		text, err := w.decoder.ReadToken()
		if err != nil {
			return err
		}
		w.out = append(w.out, strings.Trim(text.String(), jsonSpace)...)
		return nil
	}
	kind := w.decoder.PeekKind()
	if at != nil && at.edit == redact {
		w.out = append(w.out, standIn(kind)...)
		return w.decoder.SkipValue()
	}
	if at == nil || len(at.below) == 0 || kind != '{' && kind != '[' {
		value, err := w.decoder.ReadValue()
		w.out = append(w.out, value...)
		return err
	}
	return w.container(at, kind)
}

// redact puts another value of its type in the place of one that is not to be kept.
const redact RepairKind = "redact"

// standIn is a value of this kind that tells nothing, not even a key.
func standIn(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "{}"
	case '[':
		return "[]"
	case '"':
		return `"(redacted)"`
	case '0':
		return "0"
	case 't', 'f':
		return "false"
	default:
		return "null"
	}
}

// container copies an array or an object part by part.
func (w *rewriter) container(at *place, kind jsontext.Kind) error {
	if _, err := w.decoder.ReadToken(); err != nil {
		return err
	}
	end := jsontext.Kind(']')
	if kind == '{' {
		end = '}'
	}
	w.out = append(w.out, byte(kind))
	empty := true
	for index := 0; w.decoder.PeekKind() != end; index++ {
		token := strconv.Itoa(index)
		start := len(w.out)
		if !empty {
			w.out = append(w.out, ',')
		}
		if kind == '{' {
			name, err := w.decoder.ReadValue()
			if err != nil {
				return err
			}
			w.out = append(append(w.out, name...), ':')
			plain, err := jsontext.AppendUnquote(nil, name)
			if err != nil {
				return err
			}
			token = string(plain)
		}
		below := at.below[token]
		if err := w.value(below); err != nil {
			return err
		}
		if below != nil && below.edit == DropNull {
			w.out = w.out[:start]
			continue
		}
		empty = false
	}
	_, err := w.decoder.ReadToken()
	w.out = append(w.out, byte(end))
	return err
}
