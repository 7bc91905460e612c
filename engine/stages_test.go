package engine

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/tests/shapes"
	toolschemas "github.com/sallyport-mcp/sallyport/tool_schemas"
)

// BenchmarkStages measures the parts of a verdict one by one: decode (with the facts),
// rules (from memory and asked), schema. What the whole takes beyond them is merging and rendering. The command
// in bench runs it.
func BenchmarkStages(b *testing.B) {
	all := append(shapes.All(), shapes.Refused()...)
	e, forgetful := stagesEngine(b, all), stagesEngine(b, all, WithVerdictMemo(0))
	ctx := context.Background()
	for _, shape := range all {
		name := shape.Tool
		if name == "" {
			name = shape.Name
		}
		c := call{tool: name, mode: e.mode, raw: shape.Payload, counted: true}
		in, decoded, err := e.measure(ctx, e.registry, c)
		if err != nil {
			b.Fatal(err)
		}
		verdict, err := e.policy.Evaluate(ctx, in)
		if err != nil {
			b.Fatal(err)
		}
		stage(b, shape.Name+"/decode", func() error { _, _, err := e.measure(ctx, e.registry, c); return err })
		stage(b, shape.Name+"/rules_remembered", func() error { _, err := e.policy.Evaluate(ctx, in); return err })
		stage(b, shape.Name+"/rules_asked", func() error { _, err := forgetful.policy.Evaluate(ctx, in); return err })
		if !verdict.Halt {
			stage(b, shape.Name+"/schema", func() error { _, err := e.tools[name].schema.Validate(ctx, decoded); return err })
		}
	}
}

func stage(b *testing.B, name string, run func() error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// stagesEngine knows the bundled tools and one tool for each further shape, under its
// name.
func stagesEngine(b *testing.B, all []shapes.Shape, more ...Option) *Engine {
	files := fstest.MapFS{}
	names, err := fs.Glob(toolschemas.FS, "*.json")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(toolschemas.FS, name)
		if err != nil {
			b.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	for _, shape := range all {
		if shape.Schema != "" {
			files[shape.Name+".json"] = &fstest.MapFile{Data: []byte(shape.Schema)}
		}
	}
	e, err := New(context.Background(), append(more, WithSchemas(files), WithMode(Strict), WithLogger(zap.NewNop()))...)
	if err != nil {
		b.Fatal(err)
	}
	return e
}
