// Package sweep measures how the cost of a verdict grows with one quantity, the rest
// being equal. It draws nothing.
package sweep

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/bench/internal/hand"
	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
	"github.com/sallyport-mcp/sallyport/engine"
)

// Kind is one quantity.
type Kind struct {
	Name string
	Run  func(context.Context, measure.Plan) (report.Sweep, error)
}

// All returns the quantities.
func All() []Kind {
	return []Kind{{"payload size", bySize}, {"violations", byViolations}, {"tools", byTools}, {"exemptions", byExemptions}}
}

const perVerdict = "microseconds per verdict"

const (
	textSchema = `{"type": "object", "additionalProperties": false, "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}`

	rowsSchema = `{"type": "object", "additionalProperties": false, "required": ["rows"], "properties": {"rows": {"type": "array", "items": {
		"type": "object", "additionalProperties": false, "required": ["id"], "properties": {
			"id": {"type": "integer", "minimum": 0}, "name": {"type": "string", "maxLength": 32}, "done": {"type": "boolean"}}}}}}`

	listSchema = `{"type": "object", "additionalProperties": false, "required": ["a"], "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}`
)

// text returns arguments of n bytes with one string.
func text(n int) []byte {
	const frame = `{"text":""}`
	return []byte(`{"text":"` + strings.Repeat("x", n-len(frame)) + `"}`)
}

// rows returns arguments of at most n bytes with a list of objects.
func rows(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"rows":[{"id":0}`)
	for i := 1; ; i++ {
		row := fmt.Sprintf(`,{"id":%d,"name":"row %d","done":true}`, i, i)
		if b.Len()+len(row)+len("]}") > n {
			break
		}
		b.WriteString(row)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// pair is the product and the lower bound, with the same tools and exemptions.
type pair struct {
	engine *engine.Engine
	byHand *hand.Judge
}

func newPair(ctx context.Context, schemas map[string]string, exempt ...string) (p pair, err error) {
	files, documents := fstest.MapFS{}, map[string][]byte{}
	for tool, schema := range schemas {
		files[tool+".json"] = &fstest.MapFile{Data: []byte(schema)}
		documents[tool] = []byte(schema)
	}
	p.engine, err = engine.New(ctx, engine.WithSchemas(files), engine.WithMode(engine.Strict),
		engine.WithAllowUnsafeArgs(exempt...), engine.WithLogger(zap.NewNop()))
	if err != nil {
		return p, err
	}
	p.byHand, err = hand.New(hand.Decode, documents, exempt...)
	return p, err
}

// subjects are both of them on one call, the product first. The verdicts have to be
// what is wanted, or the figures would be of something else.
func (p pair) subjects(tool string, payload []byte, accepted bool) ([]measure.Subject, error) {
	ctx := context.Background()
	ours := func() bool { _, err := p.engine.Validate(ctx, tool, payload); return err == nil }
	byHand := func() bool { _, found := p.byHand.Judge(tool, payload); return len(found) == 0 }
	if a, b := ours(), byHand(); a != accepted || b != accepted {
		return nil, fmt.Errorf("%s, %d bytes: accepted by sallyport: %t, by hand: %t, want %t", tool, len(payload), a, b, accepted)
	}
	return []measure.Subject{measure.Func(func() { ours() }), measure.Func(func() { byHand() })}, nil
}

// add measures subjects at x, one for each series.
func add(s *report.Sweep, plan measure.Plan, x int, subjects []measure.Subject) error {
	results, err := measure.Interleave(plan, subjects)
	if err != nil {
		return err
	}
	for i, r := range results {
		s.Series[i].Points = append(s.Series[i].Points, report.Point{X: float64(x), Y: r.Times.Min / 1e3})
	}
	return nil
}

func series(names ...string) []report.Series {
	list := make([]report.Series, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return list
}
