package policy

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Trace tells how far one definition of a deny set has come for one input.
type Trace struct {
	Rule  string
	File  string
	Line  int // of the definition
	Fired bool
	// Held is how many conditions held before the first that did not, the furthest that
	// any attempt has come; StoppedAt is where that one stands, and Condition its text.
	Held      int
	StoppedAt int
	Condition string
	Saw       []Seen // what that condition, or all of a definition that fired, read of the input
}

// Seen is one reference of a condition, and what it led to.
type Seen struct {
	Ref   string
	Value string // as JSON; "undefined" where there is nothing
}

// Explain puts an input to every deny rule, whatever is remembered or exempt.
func (p *Policy) Explain(ctx context.Context, in Input) ([]Trace, error) {
	var all []Trace
	input := in.term()
	for _, name := range sortedKeys(p.rules) {
		if p.LeftOut(name) {
			continue
		}
		q, err := p.compileQuery(denyOf(name).String())
		if err != nil {
			return nil, err
		}
		attempts := &explainer{}
		// The compiler returns them in the order of a map.
		definitions := p.compiler.GetRules(denyOf(name))
		slices.SortFunc(definitions, func(a, b *ast.Rule) int { return a.Location.Compare(b.Location) })
		for _, r := range definitions {
			attempts.of = append(attempts.of, &attempt{rule: r, furthest: -1})
		}
		if _, err := p.evaluate(ctx, q, input, func(q *topdown.Query) { q.WithQueryTracer(attempts).WithIndexing(false) }); err != nil {
			return nil, fmt.Errorf("rule %s: %w", name, err)
		}
		for _, a := range attempts.of {
			all = append(all, a.trace(name, in))
		}
	}
	return all, nil
}

// explainer notes how far the definitions of one rule come.
type explainer struct{ of []*attempt }

type attempt struct {
	rule     *ast.Rule
	fired    bool
	furthest int // index of the condition that did not hold; -1 where none was tried
}

// Enabled implements topdown.QueryTracer.
func (*explainer) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (*explainer) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer.
func (x *explainer) TraceEvent(e topdown.Event) {
	for _, a := range x.of {
		switch node := e.Node.(type) {
		case *ast.Rule:
			a.fired = a.fired || e.Op == topdown.ExitOp && node == a.rule
		case *ast.Expr:
			if e.Op == topdown.FailOp {
				a.furthest = max(a.furthest, slices.Index(a.rule.Body, node))
			}
		}
	}
}

func (a *attempt) trace(name string, in Input) Trace {
	t := Trace{Rule: name, File: a.rule.Location.File, Line: a.rule.Location.Row, Fired: a.fired}
	stop := len(a.rule.Body)
	if !a.fired {
		stop = max(a.furthest, 0)
	}
	lines := map[int]bool{}
	refs := map[string]bool{}
	for i, e := range a.rule.Body {
		if e.Location == nil || i > stop {
			continue
		}
		if i < stop {
			lines[e.Location.Row] = true
		}
		if a.fired || i == stop {
			readBy(string(e.Location.Text), refs)
		}
	}
	if !a.fired {
		at := a.rule.Body[stop].Location
		delete(lines, at.Row)
		t.StoppedAt, t.Condition = at.Row, strings.Join(strings.Fields(string(at.Text)), " ")
	}
	t.Held = len(lines)
	for _, ref := range sortedKeys(refs) {
		t.Saw = append(t.Saw, Seen{Ref: ref, Value: in.shown(ref)})
	}
	return t
}

// inputRef is a reference to the input as rules mostly write it.
var inputRef = regexp.MustCompile(`\binput(?:\.[a-zA-Z_][a-zA-Z0-9_]*|\["[^"\\]*"\])+`)

func readBy(text string, refs map[string]bool) {
	for _, ref := range inputRef.FindAllString(text, -1) {
		refs[ref] = true
	}
}

// longestShown bounds a value that is shown, in bytes.
const longestShown = 120

// shown returns what a reference leads to, as JSON.
func (in Input) shown(ref string) string {
	parsed, err := ast.ParseRef(ref)
	if err != nil {
		return "unknown"
	}
	value, err := in.term().Value.Find(parsed[1:])
	if err != nil {
		return "undefined"
	}
	text := value.String()
	if len(text) > longestShown {
		text = text[:longestShown] + "..."
	}
	return text
}

// Question is one thing that can be asked of the rules.
type Question struct {
	Rule string // "" for the verdict
	Ask  func(context.Context, Input) error
}

// Questions returns a question for each rule, and the one for the verdict last. Nothing is
// answered from memory.
func (p *Policy) Questions() []Question {
	var all []Question
	for _, name := range sortedKeys(p.rules) {
		if p.LeftOut(name) {
			continue
		}
		q, err := p.compileQuery(denyOf(name).String())
		all = append(all, Question{name, func(ctx context.Context, in Input) error {
			if err != nil {
				return err
			}
			_, err := p.evaluate(ctx, q, in.term())
			return err
		}})
	}
	return append(all, Question{"", func(ctx context.Context, in Input) error {
		_, err := p.ask(ctx, in)
		return err
	}})
}
