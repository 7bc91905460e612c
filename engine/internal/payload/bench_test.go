package payload_test

import (
	"encoding/json"
	"testing"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/tests/shapes"
)

func BenchmarkDecode(b *testing.B) {
	l := limits(b)
	for _, shape := range append(shapes.All(),
		shapes.Shape{Name: "brackets_100k", Payload: shapes.Brackets(100_000)},
		shapes.Shape{Name: "string_10MB", Payload: shapes.LongString(10 << 20)},
		shapes.Shape{Name: "control_characters_500", Payload: shapes.ControlCharacters(500)}) {
		b.Run(shape.Name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(shape.Payload)))
			for b.Loop() {
				payload.Decode(shape.Payload, l)
			}
		})
	}
}

// BenchmarkUnmarshal is what the decoder is measured against.
func BenchmarkUnmarshal(b *testing.B) {
	for _, shape := range shapes.All() {
		b.Run(shape.Name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(shape.Payload)))
			for b.Loop() {
				var value any
				if err := json.Unmarshal(shape.Payload, &value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
