package engine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
)

// Call is one call, as it is put to an engine.
type Call struct {
	Tool      string
	Arguments []byte // nil where they are absent
}

// RuleCost is what asking one rule takes.
type RuleCost struct {
	Rule    string        // "" for the verdict of all rules together
	PerCall time.Duration // the median of all rounds
	Bytes   int           // allocated for one call, on average
	Allocs  int
}

// MeasureRules asks each rule about each call, so many times, and all of them together last.
// Nothing is answered from memory. The costs of rules do not add up to the whole, since
// they share work.
func (e *Engine) MeasureRules(ctx context.Context, calls []Call, rounds int) ([]RuleCost, error) {
	var inputs []policy.Input
	for _, c := range calls {
		raw := c.Arguments
		if raw == nil {
			raw = []byte("{}")
		}
		in, _, err := e.measure(ctx, e.registry, call{tool: c.Tool, mode: e.mode, raw: slices.Clone(raw), counted: true})
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	if len(inputs) == 0 || rounds < 1 {
		return nil, fmt.Errorf("there is nothing to measure: %d calls, %d rounds", len(inputs), rounds)
	}
	var costs []RuleCost
	for _, rule := range e.policy.Questions() {
		cost, err := measureRule(ctx, rule, inputs, rounds)
		if err != nil {
			return nil, err
		}
		costs = append(costs, cost)
	}
	return costs, nil
}

func measureRule(ctx context.Context, q policy.Question, inputs []policy.Input, rounds int) (RuleCost, error) {
	ask := func() error {
		for _, in := range inputs {
			if err := q.Ask(ctx, in); err != nil {
				return fmt.Errorf("rule %s: %w", q.Rule, err)
			}
		}
		return nil
	}
	if err := ask(); err != nil { // once, so that all is warm
		return RuleCost{}, err
	}
	took := make([]time.Duration, rounds)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range took {
		start := time.Now()
		if err := ask(); err != nil {
			return RuleCost{}, err
		}
		took[i] = time.Since(start)
	}
	runtime.ReadMemStats(&after)
	slices.Sort(took)
	all := uint64(rounds * len(inputs))
	return RuleCost{
		Rule: q.Rule, PerCall: took[rounds/2] / time.Duration(len(inputs)),
		Bytes: int((after.TotalAlloc - before.TotalAlloc) / all), Allocs: int((after.Mallocs - before.Mallocs) / all),
	}, nil
}
