package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
)

// Explanation tells how a call is judged, and how near each rule came to a finding.
type Explanation struct {
	// Accepted is the payload, nil for a call that is refused; Refused is nil otherwise.
	Accepted *ValidatedPayload
	Refused  *ValidationError
	Rules    []RuleTrace // by rule, in the order of their names and of their lines
}

// RuleTrace tells how far one definition of a rule's deny set came.
type RuleTrace struct {
	Rule  string
	File  string // within its policy folder
	Line  int    // of the definition
	Fired bool   // it has findings; whether they count is in the verdict
	// Held is how many lines of conditions held before the first that did not, at the
	// line StoppedAt. Both are 0 for one that fired.
	Held      int
	StoppedAt int
	Condition string // its text, in one line
	Saw       []Seen // what it read of the input
}

// Seen is a reference to the input, and what it led to: JSON, cut where it is long, or
// "undefined". It may hold what the caller sent.
type Seen struct{ Ref, Value string }

// Explain judges a call as Validate does, and puts it to every rule once more to see how far
// each comes. It takes a hundred times as long, and is for people who write rules. The
// error is of the explanation, not of the call.
func (e *Engine) Explain(ctx context.Context, tool string, arguments []byte) (*Explanation, error) {
	var x Explanation
	var err error
	x.Accepted, err = e.Validate(ctx, tool, arguments)
	if err != nil && !errors.As(err, &x.Refused) {
		return nil, err
	}
	if arguments == nil {
		arguments = []byte("{}")
	}
	in, _, err := e.measure(ctx, e.registry, call{tool: tool, mode: e.mode, raw: arguments, counted: true})
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	traces, err := e.policy.Explain(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	for _, t := range traces {
		x.Rules = append(x.Rules, ruleTrace(t))
	}
	return &x, nil
}

func ruleTrace(t policy.Trace) RuleTrace {
	r := RuleTrace{Rule: t.Rule, File: t.File, Line: t.Line, Fired: t.Fired, Held: t.Held, StoppedAt: t.StoppedAt, Condition: t.Condition}
	for _, s := range t.Saw {
		r.Saw = append(r.Saw, Seen{Ref: s.Ref, Value: printable(s.Value)})
	}
	return r
}
