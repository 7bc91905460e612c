package engine_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/engine"
)

func TestExplain(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}), ownRule(`deny contains {"path": "/goal", "reason": "do not shout"} if {
	input.tool == "open"
	goal := input.payload.goal
	goal == upper(goal)
}

deny contains {"path": "/kind", "reason": "which"} if {
	some kind in input.payload.kinds
	kind == "bad"
}
`))
	explain := func(arguments string) (own []engine.RuleTrace, x *engine.Explanation) {
		x, err := e.Explain(context.Background(), "open", []byte(arguments))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range x.Rules {
			if r.Rule == "own" {
				own = append(own, r)
			}
		}
		return own, x
	}
	own, x := explain(`{"goal": "ABC", "kinds": ["good", "fine"]}`)
	if x.Refused == nil || x.Accepted != nil {
		t.Errorf("%+v", x)
	}
	want := []engine.RuleTrace{
		{Rule: "own", File: "own.rego", Line: 10, Fired: true, Held: 3, Saw: []engine.Seen{{"input.payload.goal", `"ABC"`}, {"input.tool", `"open"`}}},
		{Rule: "own", File: "own.rego", Line: 16, Held: 1, StoppedAt: 18, Condition: `kind == "bad"`},
	}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	own, x = explain(`{"goal": "abc"}`)
	if x.Refused != nil || x.Accepted == nil {
		t.Errorf("%+v", x)
	}
	want = []engine.RuleTrace{
		{Rule: "own", File: "own.rego", Line: 10, Held: 2, StoppedAt: 13, Condition: "goal == upper(goal)"},
		{Rule: "own", File: "own.rego", Line: 16, StoppedAt: 17, Condition: "some kind in input.payload.kinds", Saw: []engine.Seen{{"input.payload.kinds", "undefined"}}},
	}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(x.Rules) < 12 {
		t.Errorf("only %d definitions are explained", len(x.Rules))
	}
	if _, err := e.Explain(context.Background(), "open", []byte(`{"a": 1, "a": 2}`)); err != nil {
		t.Error(err)
	}
}
