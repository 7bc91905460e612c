package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// reads is what the rules look at in an input, found in the compiled modules. A verdict
// can depend on nothing else: rules are pure, since the capabilities leave out every
// builtin that is not.
type reads struct {
	facts   map[string]bool // members of input.facts whose value matters
	payload []path          // places in the payload, none of them below another
}

// path leads to a value: string keys, and int indexes.
type path []any

// dependencies say what a verdict depends on.
type dependencies struct {
	// readers are the rules that read the payload, by name, and those of which it cannot
	// be told what they read. unbounded says of one of the latter why; "" if there is none.
	readers   []string
	unbounded string
	// readersUseFacts says whether they need more than tool, mode and payload.
	readersUseFacts bool

	others byCalm // reads of all but the readers
	whole  byCalm // reads of all rules, if none is unbounded
	// calmUpTo holds, by fact, the greatest value at which no rule fires that has a
	// condition such as input.facts.bytes > data.sallyport.limits.max_bytes.
	calmUpTo map[string]int
}

// byCalm are the reads in any case, and those that are left while no number is above
// calmUpTo.
type byCalm struct{ any, calm reads }

// numericFacts are those that a condition can keep a rule calm with.
var numericFacts = map[string]bool{"bytes": true, "values": true, "depth": true}

// typedFacts are always there, and always of their type.
var typedFacts = map[string]bool{
	"registered": true, "type": true, "bytes": true, "bytes_counted": true, "values": true, "complete": true, "depth": true, "deepest": true, "control_characters": true, "selected": true,
}

// analyse finds out what the modules of a compiler read. The error says why verdicts
// cannot be told from what they read at all.
func analyse(compiler *ast.Compiler, base *baseDocument, rules map[string]Rule) (*dependencies, error) {
	a := &analysis{compiler: compiler, base: base, asleep: map[*ast.Rule]int{}, tainted: map[*ast.Rule]bool{}, found: &dependencies{calmUpTo: map[string]int{}}}
	for _, name := range sortedKeys(compiler.Modules) {
		for _, rule := range compiler.Modules[name].Rules {
			for r := rule; r != nil; r = r.Else {
				a.rules = append(a.rules, r)
			}
		}
	}
	a.putToSleep()
	a.findTainted()
	for _, name := range sortedKeys(rules) {
		if slices.ContainsFunc(compiler.GetRules(denyOf(name)), func(r *ast.Rule) bool { return a.tainted[r] }) {
			a.found.readers = append(a.found.readers, name)
		}
	}
	for _, r := range a.rules {
		if _, ofRule := rulePackage(r.Module.Package.Path); a.tainted[r] && !ofRule {
			return nil, fmt.Errorf("%s reads the payload", r.Ref())
		}
	}
	a.found.others, _ = a.collect(func(r *ast.Rule) bool { return !a.tainted[r] })
	a.found.whole, a.found.unbounded = a.collect(func(*ast.Rule) bool { return true })
	a.found.readersUseFacts = a.useFacts(a.found.readers)
	return a.found, nil
}

func denyOf(rule string) ast.Ref {
	return ast.MustParseRef(RulePrefix).Append(ast.StringTerm(rule)).Append(ast.StringTerm("deny"))
}

// useFacts says whether the findings of these rules depend on anything that refers to facts.
func (a *analysis) useFacts(names []string) bool {
	seen := map[*ast.Rule]bool{}
	c := newCollector()
	var queue []*ast.Rule
	for _, name := range names {
		queue = append(queue, a.compiler.GetRules(denyOf(name))...)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for r := queue[0]; r != nil && !seen[r]; r = r.Else {
			seen[r] = true
			c.rule(r, len(r.Body))
			for d := range a.compiler.Graph.Dependencies(r) {
				if dependency, ok := d.(*ast.Rule); ok {
					queue = append(queue, dependency)
				}
			}
		}
	}
	return c.ofFacts
}

// findTainted marks the rules that read the payload, or something that cannot be told,
// and all that depend on one. The findings of all rules are where that ends: they are
// known to be empty once none of the rules has any.
func (a *analysis) findTainted() {
	findings := ast.MustParseRef("data.sallyport.main.found")
	for _, r := range a.rules {
		seen := newCollector()
		seen.rule(r, len(r.Body))
		a.tainted[r] = len(seen.paths) > 0 || seen.unbounded != ""
	}
	for changed := true; changed; {
		changed = false
		for _, r := range a.rules {
			if a.tainted[r] || r.Ref().GroundPrefix().Equal(findings) {
				continue
			}
			for d := range a.compiler.Graph.Dependencies(r) {
				if other, ok := d.(*ast.Rule); ok && a.tainted[other] {
					a.tainted[r], changed = true, true
				}
			}
		}
	}
}

// collect returns what some of the rules read; unbounded says why it cannot be told.
func (a *analysis) collect(wanted func(*ast.Rule) bool) (found byCalm, unbounded string) {
	all, calm := newCollector(), newCollector()
	for _, r := range a.rules {
		if !wanted(r) {
			continue
		}
		all.rule(r, len(r.Body))
		end := len(r.Body)
		if failing, asleep := a.asleep[r]; asleep {
			end = failing
		}
		calm.rule(r, end)
	}
	return byCalm{all.reads(), calm.reads()}, all.unbounded
}

type analysis struct {
	compiler *ast.Compiler
	base     *baseDocument
	rules    []*ast.Rule
	// asleep are the rules that cannot fire while the numbers are calm, with the index of
	// the condition that fails. What stands before it is evaluated all the same.
	asleep  map[*ast.Rule]int
	tainted map[*ast.Rule]bool // reads the payload, or depends on what does
	found   *dependencies
}

// putToSleep marks the rules that have a condition which does not hold while the numbers
// are calm, or that ask for a rule of which all definitions are asleep.
func (a *analysis) putToSleep() {
	for changed := true; changed; {
		changed = false
		for _, r := range a.rules {
			if _, known := a.asleep[r]; known || r.Default {
				continue
			}
			aliases := aliasesIn(r.Body)
			if i := slices.IndexFunc(r.Body, func(e *ast.Expr) bool { return a.keepsCalm(e, aliases) }); i >= 0 {
				a.asleep[r], changed = i, true
			}
		}
	}
}

// aliases are the variables that stand for a reference in a body, as the compiler writes
// it: __local1__ = input.facts.bytes.
type aliases map[ast.Var]ast.Ref

func aliasesIn(body ast.Body) aliases {
	found := aliases{}
	for _, e := range body {
		if v, ref, ok := alias(e); ok {
			found[v] = ref
		}
	}
	return found
}

func alias(e *ast.Expr) (ast.Var, ast.Ref, bool) {
	if e.Negated || len(e.With) > 0 || !e.IsEquality() {
		return "", nil, false
	}
	v, isVar := e.Operand(0).Value.(ast.Var)
	ref, isRef := e.Operand(1).Value.(ast.Ref)
	return v, ref, isVar && isRef
}

func (s aliases) refOf(t *ast.Term) ast.Ref {
	switch v := t.Value.(type) {
	case ast.Ref:
		return v
	case ast.Var:
		return s[v]
	}
	return nil
}

// keepsCalm says whether e fails while the numbers are calm.
func (a *analysis) keepsCalm(e *ast.Expr, s aliases) bool {
	if e.Negated || len(e.With) > 0 {
		return false
	}
	if term, ok := e.Terms.(*ast.Term); ok {
		ref, _ := term.Value.(ast.Ref)
		return a.allAsleep(ref) || a.leadsNowhere(ref)
	}
	if _, ref, ok := alias(e); ok && a.leadsNowhere(ref) {
		return true
	}
	if !e.IsCall() || len(e.Operands()) != 2 {
		return false
	}
	left, right := s.refOf(e.Operand(0)), e.Operand(1)
	fact, ok := factOf(left)
	if !ok || !numericFacts[fact] {
		return false
	}
	limit, ok := a.constant(right, s)
	switch operator := e.Operator().String(); {
	case !ok:
		return false
	case operator == ast.GreaterThanEq.Name:
		limit--
	case operator != ast.GreaterThan.Name:
		return false
	}
	if known, ok := a.found.calmUpTo[fact]; !ok || limit < known {
		a.found.calmUpTo[fact] = limit
	}
	return true
}

// allAsleep says whether ref names a rule all of whose definitions are asleep.
func (a *analysis) allAsleep(ref ast.Ref) bool {
	if !ref.IsGround() || !ref.HasPrefix(ast.DefaultRootRef) {
		return false
	}
	rules := a.compiler.GetRulesExact(ref)
	return len(rules) > 0 && !slices.ContainsFunc(rules, func(r *ast.Rule) bool {
		_, asleep := a.asleep[r]
		return !asleep || r.Else != nil
	})
}

// leadsNowhere says whether ref leads through data where there is nothing, whatever the
// input: below an empty list of exemptions, for one.
func (a *analysis) leadsNowhere(ref ast.Ref) bool {
	values, ok := a.dataAt(ref)
	return ok && len(values) == 0
}

// dataAt returns all values that ref may stand for; ok is false for what is no data, or is
// more than data.
func (a *analysis) dataAt(ref ast.Ref) (values []ast.Value, ok bool) {
	if len(ref) < 2 || !ref.HasPrefix(ast.DefaultRootRef) || len(a.compiler.GetRules(ref)) > 0 {
		return nil, false
	}
	values = []ast.Value{a.base.root}
	for _, key := range ref[1:] {
		var below []ast.Value
		for _, value := range values {
			object, isObject := value.(ast.Object)
			switch {
			case !isObject:
				if _, isArray := value.(*ast.Array); isArray {
					return nil, false
				}
			case ast.IsConstant(key.Value):
				if member := object.Get(key); member != nil {
					below = append(below, member.Value)
				}
			default:
				object.Foreach(func(_, member *ast.Term) { below = append(below, member.Value) })
			}
		}
		values = below
	}
	return values, true
}

// constant returns the least whole number that that t may stand for, as it
// is written in the rule, or in the data.
func (a *analysis) constant(t *ast.Term, s aliases) (int, bool) {
	values := []ast.Value{t.Value}
	if ref := s.refOf(t); ref != nil {
		if values, _ = a.dataAt(ref); len(values) == 0 {
			return 0, false
		}
	}
	least := math.MaxInt
	for _, value := range values {
		number, ok := value.(ast.Number)
		if !ok {
			return 0, false
		}
		n, ok := number.Int()
		if !ok {
			return 0, false
		}
		least = min(least, n)
	}
	return least, true
}

// factOf returns the first member of input.facts on the way of ref.
func factOf(ref ast.Ref) (string, bool) {
	if len(ref) < 3 || !ref.HasPrefix(factsRef) {
		return "", false
	}
	name, ok := ref[2].Value.(ast.String)
	return string(name), ok
}

var (
	factsRef   = ast.MustParseRef("input.facts")
	payloadRef = ast.MustParseRef("input.payload")
)
