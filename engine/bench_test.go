package engine_test

import (
	"context"
	"testing"

	"github.com/sallyport-mcp/sallyport/tests/shapes"
)

// BenchmarkValidate is the whole verdict: decoder, rules, schema, answer.
func BenchmarkValidate(b *testing.B) {
	e := newEngine(b, schemas(map[string]string{"open": open}))
	bundled := newEngine(b)
	for _, shape := range shapes.All() {
		b.Run(shape.Name, func(b *testing.B) {
			judge, tool := e, "open"
			if shape.Tool != "" {
				judge, tool = bundled, shape.Tool
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(shape.Payload)))
			for b.Loop() {
				if _, err := judge.Validate(context.Background(), tool, shape.Payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRefuse is the whole verdict on payloads that are refused.
func BenchmarkRefuse(b *testing.B) {
	e := newEngine(b, schemas(map[string]string{
		"open": open,
		"list": `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}`,
	}))
	for name, c := range map[string]struct {
		tool    string
		payload []byte
	}{
		"brackets_100k":         {"open", shapes.Brackets(100_000)},
		"string_10MB":           {"open", shapes.LongString(10 << 20)},
		"control_characters":    {"open", shapes.ControlCharacters(500)},
		"schema_violations_100": {"list", []byte(`{"a": [` + repeated(`"x"`, 100) + `]}`)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Validate(context.Background(), c.tool, c.payload); err == nil {
					b.Fatal("accepted")
				}
			}
		})
	}
}

func repeated(item string, times int) string {
	list := item
	for range times - 1 {
		list += "," + item
	}
	return list
}
