package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// tool is a schema of the usual size: ten properties, of which one is a list.
const tool = `{"type": "object", "additionalProperties": false, "required": ["id", "title", "list"], "properties": {
	"id": {"type": "string", "pattern": "^[a-z0-9-]+$", "maxLength": 64}, "title": {"type": "string", "minLength": 1, "maxLength": 200},
	"body": {"type": "string", "maxLength": 4096}, "role": {"enum": ["author", "reviewer", "tester"]}, "priority": {"type": "integer", "minimum": 1, "maximum": 3},
	"due": {"type": "string", "format": "date"}, "dry": {"type": "boolean"}, "parent": {"type": ["string", "null"]},
	"labels": {"type": "array", "maxItems": 8, "uniqueItems": true, "items": {"type": "string"}}, "list": {"type": "array", "items": {"$ref": "#/definitions/step"}}},
	"definitions": {"step": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}}}`

// payload fits tool but for the first n items of its list.
func payload(n int) any {
	return decode(`{"id": "t-1", "title": "Title", "body": "Text", "role": "author", "priority": 2, "due": "2026-01-02", "dry": true, "parent": null,
		"labels": ["a", "b"], "list": [` + strings.Repeat(`-1,`, n) + strings.Repeat(`1,`, 100-n) + `1]}`)
}

// What is on top of "bare", which is the validator alone, are budget, rebuilt
// keywords and the list of violations.
func BenchmarkValidate(b *testing.B) {
	s := mustCompile(b, tool)
	bare := jsonschema.NewCompiler()
	bare.DefaultDraft(jsonschema.Draft7)
	if err := bare.AddResource("fw://t.json", decode(tool)); err != nil {
		b.Fatal(err)
	}
	validator := bare.MustCompile("fw://t.json")
	for _, n := range []int{0, 1, 10, 100} {
		value := payload(n)
		b.Run(fmt.Sprintf("ours/%d_violations", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list, err := s.Validate(context.Background(), value); err != nil || len(list) != n {
					b.Fatal(len(list), err)
				}
			}
		})
		b.Run(fmt.Sprintf("bare/%d_violations", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := validator.Validate(value); (err != nil) != (n > 0) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFlatten is what the list of violations costs once the validator is done.
func BenchmarkFlatten(b *testing.B) {
	s := mustCompile(b, tool)
	i := s.pool.first
	for _, n := range []int{1, 10, 100} {
		value := payload(n)
		i.budget.start(context.Background(), value, Limits{Steps: 1 << 40, Validate: time.Hour})
		var tree *jsonschema.ValidationError
		if !errors.As(i.root.Validate(value), &tree) {
			b.Fatal("valid")
		}
		b.Run(fmt.Sprintf("%d_violations", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list, err := flatten(tree, value, s.base, i.hints, &budget{}); err != nil || len(list) != n {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		document := decode(tool) // Compile keeps it
		b.StartTimer()
		if _, _, err := Compile("t", document, asFile); err != nil {
			b.Fatal(err)
		}
	}
}
