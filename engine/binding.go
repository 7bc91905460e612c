package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// bindEnums writes values of the policy as the enum of members of a tool's
// schema, so that the rule, the advertised schema and the enforced one share one
// list. It replaces an enum that is there or inserts one; every other byte of
// the document stays as it is.
func bindEnums(document []byte, binding map[string][]string) ([]byte, error) {
	members := make([]string, 0, len(binding))
	for member := range binding {
		members = append(members, member)
	}
	slices.Sort(members)
	for _, member := range members {
		var err error
		if document, err = bindEnum(document, member, binding[member]); err != nil {
			return nil, err
		}
	}
	return document, nil
}

func bindEnum(document []byte, member string, values []string) ([]byte, error) {
	place := "/properties/" + pointerEscaper.Replace(member)
	if len(values) == 0 {
		return nil, fmt.Errorf("at %s: the policy binds an empty list of values to this member", place)
	}
	list, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("at %s: %w", place, err)
	}
	start, end, err := valueAt(document, place+"/enum")
	if err == nil {
		return slices.Concat(document[:start], list, document[end:]), nil
	}
	start, end, err = valueAt(document, place)
	if err != nil || document[start] != '{' {
		return nil, fmt.Errorf("at %s: there is no such property with an object schema, but the policy binds its values", place)
	}
	inserted := slices.Concat([]byte(`"enum": `), list)
	if len(bytes.TrimSpace(document[start+1:end-1])) > 0 {
		inserted = append(inserted, ", "...)
	}
	return slices.Concat(document[:start+1], inserted, document[start+1:]), nil
}

var errNoValue = errors.New("no value there")

// valueAt returns the byte range of the value at an RFC 6901 pointer.
func valueAt(document []byte, pointer string) (start, end int, err error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(document))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return 0, 0, errNoValue // io.EOF after the last token
		}
		// The pointer of a member's name is that of its value, too.
		if kind, _ := decoder.StackIndex(decoder.StackDepth()); string(decoder.StackPointer()) != pointer || kind != '{' || token.Kind() != '"' {
			continue
		}
		value, err := decoder.ReadValue()
		if err != nil {
			return 0, 0, errNoValue
		}
		end := int(decoder.InputOffset())
		return end - len(value), end, nil
	}
}
