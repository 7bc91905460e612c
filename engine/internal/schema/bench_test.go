package schema

import (
	"fmt"
	"strings"
	"testing"
)

// tool is a schema of the usual size: ten properties, of which one is a list.
const tool = `{"type": "object", "additionalProperties": false, "required": ["id", "title", "list"], "properties": {
	"id": {"type": "string", "pattern": "^[a-z0-9-]+$", "maxLength": 64}, "title": {"type": "string", "minLength": 1, "maxLength": 200},
	"body": {"type": "string", "maxLength": 4096}, "role": {"enum": ["author", "reviewer", "tester"]}, "priority": {"type": "integer", "minimum": 1, "maximum": 3},
	"due": {"type": "string", "format": "date"}, "dry": {"type": "boolean"}, "parent": {"type": ["string", "null"]},
	"labels": {"type": "array", "maxItems": 8, "uniqueItems": true, "items": {"type": "string"}}, "list": {"type": "array", "items": {"$ref": "#/definitions/step"}}},
	"definitions": {"step": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}}}`

func BenchmarkValidate(b *testing.B) {
	s := mustCompile(b, tool)
	for _, n := range []int{0, 1, 10, 100} {
		value := decode(`{"id": "t-1", "title": "Title", "body": "Text", "role": "author", "priority": 2, "due": "2026-01-02", "dry": true, "parent": null,
			"labels": ["a", "b"], "list": [` + strings.Repeat(`-1,`, n) + strings.Repeat(`1,`, 100-n) + `1]}`)
		b.Run(fmt.Sprintf("%d_violations", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list, err := s.Validate(value); err != nil || len(list) != n {
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
		if _, _, err := Compile("t", document); err != nil {
			b.Fatal(err)
		}
	}
}
