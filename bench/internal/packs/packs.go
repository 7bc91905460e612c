// Package packs measures what each rule pack adds to a verdict: engines with the pack on
// and off judge the same payload in turns.
package packs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
	"github.com/sallyport-mcp/sallyport/engine"
)

// Sizes of the payloads in bytes, less a few.
const (
	Small = 2 << 10
	Large = 64 << 10
)

// load is a payload of ordinary values at places that a pack looks at.
type load struct {
	pack string
	what string
	fill func(size int) map[string]any
}

var loads = []load{
	{"unicode", "Persian, with joiners", text("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 ")},
	{"unicode", "plain text", text("write the release notes, then ask. ")},
	{"secrets", "plain text", text("write the release notes, then ask. ")},
	{"secrets", "text about tokens", text("export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxx and npm_config_registry. ")},
	{"paths", "one list", list("paths", "services/billing/internal/ledger/%d.go", 1000)},
	{"ssrf", "one list", list("urls", "https://docs.example.org/guide/chapter-%d?lang=en", 250)},
	{"command_arguments", "one list", list("packages", "@scope/package-%d@^1.2.3", 1000)},
	{"sql", "one statement", one("sql", "SELECT a.id, b.name -- the owner\nFROM accounts a JOIN owners b ON b.id = a.owner WHERE b.name LIKE 'x; y%' AND a.n > 10\nUNION ALL ")},
}

// text fills a member with a text.
func text(part string) func(int) map[string]any { return one("text", part) }

func one(member, part string) func(int) map[string]any {
	written, _ := json.Marshal(part) // a text can always be written
	return func(size int) map[string]any {
		return map[string]any{member: strings.Repeat(part, size/(len(written)-len(`""`)))}
	}
}

// list fills a list with values, up to so many; then with longer ones.
func list(member, format string, most int) func(int) map[string]any {
	return func(size int) map[string]any {
		n := min(most, size/(len(format)+4))
		padding := strings.Repeat("x", max(0, size/n-len(format)-6))
		values := make([]any, n)
		for i := range values {
			values[i] = fmt.Sprintf(format, i) + padding
		}
		return map[string]any{member: values}
	}
}

// Run measures each pack on its payloads, and beside it all packs at once.
func Run(ctx context.Context, plan measure.Plan) ([]report.Case, error) {
	var all []string
	for _, l := range loads {
		all = append(all, l.pack)
	}
	off, err := newEngine(ctx)
	if err != nil {
		return nil, err
	}
	everything, err := newEngine(ctx, all...)
	if err != nil {
		return nil, err
	}
	var cases []report.Case
	for _, l := range loads {
		on, err := newEngine(ctx, l.pack)
		if err != nil {
			return nil, err
		}
		for _, size := range []int{Small, Large} {
			measured, err := l.measure(ctx, plan, size, []contender{{"no pack", off}, {l.pack, on}, {"all packs", everything}})
			if err != nil {
				return nil, err
			}
			cases = append(cases, measured)
		}
	}
	return cases, nil
}

type contender struct {
	name   string
	engine *engine.Engine
}

func (l load) measure(ctx context.Context, plan measure.Plan, size int, contenders []contender) (report.Case, error) {
	payload, err := json.Marshal(l.fill(size))
	if err != nil {
		return report.Case{}, err
	}
	result := report.Case{Name: fmt.Sprintf("pack %s, %s", l.pack, l.what), Bytes: len(payload), Accepted: true}
	var subjects []measure.Subject
	for _, c := range contenders {
		if _, err := c.engine.Validate(ctx, tool, payload); err != nil {
			return result, fmt.Errorf("%s refuses an ordinary payload (%s): %w", c.name, result.Name, err)
		}
		subjects = append(subjects, measure.Func(func() { _, _ = c.engine.Validate(ctx, tool, payload) }))
	}
	measured, err := measure.Interleave(plan, subjects)
	if err != nil {
		return result, err
	}
	for i, m := range measured {
		result.Rows = append(result.Rows, report.Row{Candidate: contenders[i].name, Rounds: m.Rounds, Times: &m.Times, Memory: m.Memory})
	}
	result.Compare(contenders[0].name)
	return result, nil
}

const tool = "anything"

// newEngine builds an engine of one tool that takes anything, with these packs on.
func newEngine(ctx context.Context, packs ...string) (*engine.Engine, error) {
	on := map[string]any{}
	for _, pack := range packs {
		on[pack] = map[string]any{"on": true}
	}
	data, err := json.Marshal(map[string]any{"sallyport": map[string]any{"packs": on}})
	if err != nil {
		return nil, err
	}
	return engine.New(ctx,
		engine.WithSchemas(fstest.MapFS{tool + ".json": {Data: []byte(`{"type": "object", "additionalProperties": true}`)}}),
		engine.WithPolicies(fstest.MapFS{"data.json": {Data: data}}))
}
