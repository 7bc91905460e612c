package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sallyport-mcp/sallyport/engine"
)

// FuzzValidate holds what is true of every answer: it is never a fault, it is the
// same twice, its list is sorted and within its limits, and accepted bytes are
// the bytes given.
func FuzzValidate(f *testing.F) {
	for _, seed := range []string{
		`{"goal": "x"}`, `{}`, `null`, `[]`, ``, `{"goal": "\u001b", "priority": 9, "z": 1}`, `{"role": "poet", "a/b": 1, "~": 2}`,
		`{"a": 1, "\u0061": 2}`, `{"a": "\ud800"}`, `{"n": 1e999}`, `{"a":[[[[[[[[[[[1]]]]]]]]]]]}`, "{\"a\xff\": 1}",
		`{"task_id": "t", "key": "k", "artifact_type": "table", "poster": "p", "rows": [["a", 1], 2, [null]]}`,
		`{"name": "n", "reference": "r", "script": null}`, `{"completed_ids": ["a", "", "b c", 1.5, "a"]}`,
	} {
		for tool := range 4 {
			f.Add(uint(tool), []byte(seed))
		}
	}
	e := newEngine(f, schemas(map[string]string{
		"open": open,
		"strict": `{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false, "properties": {
			"goal": {"type": "string", "minLength": 1, "maxLength": 10, "pattern": "^[a-z]+$"},
			"priority": {"type": "integer", "minimum": 1, "maximum": 3, "multipleOf": 2},
			"completed_ids": {"type": "array", "minItems": 2, "maxItems": 3, "uniqueItems": true, "items": {"type": "string", "minLength": 1}}
		}, "required": ["goal"], "dependencies": {"priority": ["completed_ids"]}}`,
		"union": `{"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"not": {"type": "null"}}}]},
			"propertyNames": {"maxLength": 5}, "minProperties": 1}`,
		"bernstein_create_subtask": `{"type": "object", "additionalProperties": true, "properties": {"role": {"type": "string"}}}`,
	}), engine.WithAllowUnsafeArgs("union"))
	tools := e.Tools()
	f.Fuzz(func(t *testing.T, tool uint, arguments []byte) {
		if arguments == nil {
			arguments = []byte{}
		}
		name := tools[tool%uint(len(tools))]
		accepted, err := e.Validate(context.Background(), name, arguments)
		again, errAgain := e.Validate(context.Background(), name, arguments)
		if err == nil {
			if errAgain != nil || string(accepted.Raw) != string(arguments) || accepted.Bypassed != nil || !json.Valid(arguments) {
				t.Fatalf("%s %q: accepted as %v, then %v", name, arguments, accepted, errAgain)
			}
			return
		}
		var refusal, second *engine.ValidationError
		if !errors.As(err, &refusal) || errors.Is(err, engine.ErrFault) {
			t.Fatalf("%s %q: %v (%v)", name, arguments, err, errors.Unwrap(err))
		}
		if !errors.As(errAgain, &second) {
			t.Fatalf("%s %q: refused, then accepted as %v", name, arguments, again)
		}
		first, _ := json.Marshal(refusal.JSONRPC())
		if other, _ := json.Marshal(second.JSONRPC()); string(first) != string(other) {
			t.Fatalf("%s %q: two answers:\n%s\n%s", name, arguments, first, other)
		}
		if len(refusal.Violations) == 0 || len(refusal.Violations) > 100 || refusal.Code != -32602 || strings.ContainsAny(refusal.Message, "\n\x1b") {
			t.Fatalf("%s %q: %s", name, arguments, first)
		}
		for _, v := range refusal.Violations {
			if v.Reason == "" || len(v.Reason) > 256 || len(v.Path) > 512 || v.Path != "" && v.Path[0] != '/' || v.Check() == "" {
				t.Fatalf("%s %q: %+v", name, arguments, v)
			}
		}
	})
}
