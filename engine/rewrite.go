package engine

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// rewrite makes the edits to the members of a JSON text, by RFC 6901 pointer. Every
// value that no edit concerns keeps its bytes.
func rewrite(text []byte, edits map[string]RepairKind) ([]byte, error) {
	w := rewriter{decoder: jsontext.NewDecoder(bytes.NewReader(text)), edits: edits, onTheWay: map[string]bool{}}
	for path := range edits {
		for i := range path {
			if path[i] == '/' {
				w.onTheWay[path[:i]] = true
			}
		}
	}
	if err := w.value(""); err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	return w.out, nil
}

type rewriter struct {
	decoder  *jsontext.Decoder
	edits    map[string]RepairKind
	onTheWay map[string]bool // pointers to what an edit is within
	out      []byte
}

// value copies the next value, edited.
func (w *rewriter) value(path string) error {
	if w.edits[path] == UnwrapJSONString {
		text, err := w.decoder.ReadToken()
		if err != nil {
			return err
		}
		w.out = append(w.out, strings.Trim(text.String(), jsonSpace)...)
		return nil
	}
	kind := w.decoder.PeekKind()
	if !w.onTheWay[path] || kind != '{' && kind != '[' {
		value, err := w.decoder.ReadValue()
		w.out = append(w.out, value...)
		return err
	}
	return w.container(path, kind)
}

// container copies an array or an object part by part.
func (w *rewriter) container(path string, kind jsontext.Kind) error {
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
		below := path + "/" + strconv.Itoa(index)
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
			below = path + "/" + pointerEscaper.Replace(string(plain))
		}
		if err := w.value(below); err != nil {
			return err
		}
		if w.edits[below] == DropNull {
			w.out = w.out[:start]
			continue
		}
		empty = false
	}
	_, err := w.decoder.ReadToken()
	w.out = append(w.out, byte(end))
	return err
}
