// Package search looks for the payload that costs most: it makes payloads by a recipe,
// changes the recipe at random, and keeps what takes longer. It knows no candidate but
// the engine.
package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/bench/internal/report"
	"github.com/sallyport-mcp/sallyport/engine"
)

// recipe is how a payload is made.
type recipe struct {
	Depth, Width, Key, Text int
	Leaf                    int // which of leaves
	Arrays, Objects         int // their shares
	Blanks                  int // between tokens
}

var leaves = []func(b *strings.Builder, n int){
	func(b *strings.Builder, _ int) { b.WriteString("1") },
	func(b *strings.Builder, _ int) { b.WriteString("-1.5e308") },
	func(b *strings.Builder, _ int) { b.WriteString(strings.Repeat("9", 60)) },
	func(b *strings.Builder, _ int) { b.WriteString("null") },
	func(b *strings.Builder, _ int) { b.WriteString("[]") },
	func(b *strings.Builder, _ int) { b.WriteString("{}") },
	func(b *strings.Builder, n int) { fmt.Fprintf(b, `"%s"`, strings.Repeat("a", n)) },
	func(b *strings.Builder, n int) { fmt.Fprintf(b, `"%s"`, strings.Repeat(`\n`, n)) },
	func(b *strings.Builder, n int) { fmt.Fprintf(b, `"%s"`, strings.Repeat(`\u00e9`, n)) },
	func(b *strings.Builder, n int) { fmt.Fprintf(b, `"%s"`, strings.Repeat("\u00e9", n)) },
	func(b *strings.Builder, n int) { fmt.Fprintf(b, `"%s"`, strings.Repeat(`\u0007`, n)) },
	func(b *strings.Builder, n int) { fmt.Fprintf(b, `"%s"`, strings.Repeat(`\ud83d\ude00`, n)) },
}

func (r recipe) change(random *rand.Rand) recipe {
	step := func(value, least, most int) int {
		switch random.IntN(3) {
		case 0:
			value = value*2 + 1
		case 1:
			value /= 2
		default:
			value += random.IntN(5) - 2
		}
		return min(max(value, least), most)
	}
	for range 1 + random.IntN(2) {
		switch random.IntN(8) {
		case 0:
			r.Depth = step(r.Depth, 1, 9)
		case 1:
			r.Width = step(r.Width, 1, 100_000)
		case 2:
			r.Key = step(r.Key, 0, 2000)
		case 3:
			r.Text = step(r.Text, 0, 100_000)
		case 4:
			r.Leaf = random.IntN(len(leaves))
		case 5:
			r.Arrays = step(r.Arrays, 0, 4)
		case 6:
			r.Objects = step(r.Objects, 0, 4)
		case 7:
			r.Blanks = step(r.Blanks, 0, 8)
		}
	}
	if r.Arrays+r.Objects == 0 {
		r.Arrays = 1
	}
	return r
}

// make writes a payload of at most so many bytes, as near to them as the recipe comes.
func (r recipe) make(limit int) []byte {
	var b strings.Builder
	b.WriteString(`{"value":`)
	r.value(&b, 1, limit-64)
	b.WriteString("}")
	return []byte(b.String())
}

func (r recipe) value(b *strings.Builder, depth, limit int) {
	if depth >= r.Depth || b.Len() > limit {
		leaves[r.Leaf](b, min(r.Text, max(0, limit-b.Len())/12))
		return
	}
	blanks := strings.Repeat(" ", r.Blanks)
	isArray := (depth*7)%(r.Arrays+r.Objects) < r.Arrays
	open, closing := "{", "}"
	if isArray {
		open, closing = "[", "]"
	}
	b.WriteString(open)
	for i := 0; i < r.Width && b.Len() < limit; i++ {
		if i > 0 {
			b.WriteString("," + blanks)
		}
		if !isArray {
			fmt.Fprintf(b, `"%s%d":%s`, strings.Repeat("k", r.Key), i, blanks)
		}
		r.value(b, depth+1, limit)
	}
	b.WriteString(closing)
}

// tool is a schema that looks at every value of a payload.
const tool = `{"type": "object", "additionalProperties": false, "properties": {"value": {"$ref": "#/definitions/any"}}, "definitions": {"any": {
	"type": ["array", "object", "string", "number", "boolean", "null"], "maxLength": 1000000, "minimum": -1e300,
	"items": {"$ref": "#/definitions/any"}, "additionalProperties": {"$ref": "#/definitions/any"}}}}`

// Kinds are the limits that payloads are made for: that of every tool, and the ceiling
// for tools that are exempt from it.
var kinds = []struct {
	name  string
	bytes int
	tool  string
}{
	{"64 KiB, the limit of every tool", 64 << 10, "usual"},
	{"4 MiB, a tool that is exempt", 4 << 20, "exempt"},
}

// Run searches for so long for each kind.
func Run(ctx context.Context, d time.Duration) ([]report.Worst, error) {
	e, err := engine.New(ctx, engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()), engine.WithAllowUnsafeArgs("exempt"), engine.WithServerTools([]engine.ServerTool{
		{Name: "usual", InputSchema: []byte(tool)}, {Name: "exempt", InputSchema: []byte(tool)},
	}), engine.WithDialect(engine.Draft7))
	if err != nil {
		return nil, err
	}
	var worst []report.Worst
	for _, kind := range kinds {
		found, err := search(ctx, e, kind.tool, kind.bytes, d)
		if err != nil {
			return nil, err
		}
		found.Kind = kind.name
		worst = append(worst, found)
	}
	return worst, nil
}

func search(ctx context.Context, e *engine.Engine, tool string, limit int, d time.Duration) (report.Worst, error) {
	random := rand.New(rand.NewPCG(1, uint64(limit)))
	best := recipe{Depth: 3, Width: 10, Key: 3, Text: 5, Arrays: 1, Objects: 1}
	worst := measure(ctx, e, tool, best.make(limit))
	fruitless := 0
	for deadline := time.Now().Add(d); time.Now().Before(deadline); {
		if err := ctx.Err(); err != nil {
			return worst, err
		}
		candidate := best.change(random)
		if fruitless > 50 { // from somewhere else
			for range 20 {
				candidate = candidate.change(random)
			}
			fruitless = 0
		}
		payload := candidate.make(limit)
		if len(payload) > limit {
			continue
		}
		found := measure(ctx, e, tool, payload)
		found.Tried = worst.Tried + 1
		if fruitless++; found.Time <= worst.Time {
			worst.Tried = found.Tried
			continue
		}
		// Once more, since a stall of the machine is no cost of the payload.
		again := measure(ctx, e, tool, payload)
		if found.Time = min(found.Time, again.Time); found.Time > worst.Time {
			found.Recipe = fmt.Sprintf("%+v", candidate)
			best, worst, fruitless = candidate, found, 0
		}
	}
	return worst, nil
}

func measure(ctx context.Context, e *engine.Engine, tool string, payload []byte) report.Worst {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	_, err := e.Validate(ctx, tool, payload)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	w := report.Worst{Bytes: len(payload), Time: float64(took.Nanoseconds()), Allocated: float64(after.TotalAlloc - before.TotalAlloc), Verdict: "accepted"}
	if err != nil {
		w.Verdict = "refused"
	}
	return w
}
