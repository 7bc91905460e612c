package policy

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// collector gathers what rules read of the input.
type collector struct {
	facts     map[string]bool
	paths     []path
	unbounded string
	ofFacts   bool // there is a reference to facts, whatever of them matters

	// Of the rule at hand: references whose type alone may matter, by the variable that
	// stands for them, and all variables that are used for more.
	typeOnly map[ast.Var]ast.Ref
	used     map[ast.Var]bool
}

func newCollector() *collector { return &collector{facts: map[string]bool{}} }

// rule gathers what a rule reads up to the expression of its body with the index end;
// with the whole of the body, its head as well.
func (c *collector) rule(r *ast.Rule, end int) {
	c.typeOnly, c.used = map[ast.Var]ast.Ref{}, map[ast.Var]bool{}
	visitor := ast.NewGenericVisitor(c.visit)
	visitor.Walk(r.Body[:end])
	if end == len(r.Body) {
		visitor.Walk(r.Head)
		visitor.Walk(r.Head.Reference) // with the keys that are part of a rule's name
	}
	for v, ref := range c.typeOnly {
		if c.used[v] {
			c.read(ref)
		}
	}
}

// visit returns true for what it has walked itself.
func (c *collector) visit(x any) bool {
	switch x := x.(type) {
	case *ast.Expr:
		return c.expression(x)
	case ast.Ref:
		c.reference(x)
		return true
	case ast.Var:
		if x.Equal(ast.InputRootDocument.Value) {
			c.cannotTell("the input as a whole", nil)
		}
		c.used[x] = true
	}
	return false
}

func (c *collector) expression(e *ast.Expr) bool {
	if len(e.With) > 0 {
		c.cannotTell("another input or other data, by the keyword with", e.Location)
		return true
	}
	if v, ref, ok := alias(e); ok && typeKnown(ref) {
		c.ofFacts = c.ofFacts || ref.HasPrefix(factsRef)
		c.typeOnly[v] = ref
		return true
	}
	if !e.IsCall() {
		return false
	}
	if b := ast.BuiltinMap[e.Operator().String()]; b != nil && b.Nondeterministic {
		c.cannotTell("what changes without the input, by "+b.Name, e.Location)
	}
	return len(e.Operands()) == 1 && typeChecks[e.Operator().String()] && c.checksType(e.Operand(0))
}

// checksType says whether a check of the type of t needs no reading.
func (c *collector) checksType(t *ast.Term) bool {
	switch v := t.Value.(type) {
	case ast.Var:
		return true // what it stands for counts where it is bound
	case ast.Ref:
		c.ofFacts = c.ofFacts || v.HasPrefix(factsRef)
		return typeKnown(v)
	}
	return false
}

// typeKnown says whether ref is always there, and of one type: for a call of which a
// verdict is remembered, that is true of the payload as well.
func typeKnown(ref ast.Ref) bool {
	fact, ok := factOf(ref)
	if ok && fact == "control_characters" {
		return len(ref) <= 4 && ref.IsGround()
	}
	return ok && len(ref) == 3 && typedFacts[fact] || ref.Equal(payloadRef)
}

var typeChecks = map[string]bool{
	ast.IsArray.Name: true, ast.IsBoolean.Name: true, ast.IsNull.Name: true, ast.IsNumber.Name: true, ast.IsObject.Name: true, ast.IsSet.Name: true, ast.IsString.Name: true,
}

func (c *collector) reference(ref ast.Ref) {
	visitor := ast.NewGenericVisitor(c.visit)
	for _, t := range ref[1:] {
		visitor.Walk(t)
	}
	switch head := ref[0].Value.(type) {
	case ast.Var:
		if c.used[head] = true; head.Equal(ast.InputRootDocument.Value) {
			c.read(ref)
		}
	default:
		visitor.Walk(ref[0])
	}
}

// read counts a reference into the input.
func (c *collector) read(ref ast.Ref) {
	location := ref[0].Location
	if len(ref) == 1 {
		c.cannotTell("the input as a whole", location)
		return
	}
	member, ok := ref[1].Value.(ast.String)
	switch {
	case !ok:
		c.cannotTell("a member of the input that depends on other things", location)
	case member == "payload":
		if p := prefix(ref[2:]); len(p) > 0 {
			c.paths = append(c.paths, p)
			return
		}
		c.cannotTell("the payload as a whole", location)
	case member == "facts":
		c.ofFacts = true
		if fact, ok := factOf(ref); ok {
			c.facts[fact] = true
			return
		}
		for fact := range typedFacts {
			c.facts[fact] = true
		}
	}
}

// prefix returns the part of a way that is written out.
func prefix(ref ast.Ref) (p path) {
	for _, t := range ref {
		switch v := t.Value.(type) {
		case ast.String:
			p = append(p, string(v))
			continue
		case ast.Number:
			if i, ok := v.Int(); ok {
				p = append(p, i)
				continue
			}
		}
		break
	}
	return p
}

func (c *collector) cannotTell(what string, location *ast.Location) {
	c.ofFacts = true // for all that is known
	if c.unbounded != "" {
		return
	}
	c.unbounded = "a rule reads " + what
	if location != nil && location.File != "" {
		c.unbounded = fmt.Sprintf("%s:%d: %s", location.File, location.Row, c.unbounded)
	}
}

// reads returns what has been gathered, in a fixed order.
func (c *collector) reads() reads {
	slices.SortFunc(c.paths, comparePaths)
	var paths []path
	for _, p := range c.paths {
		if last := len(paths) - 1; last < 0 || !startsWith(p, paths[last]) {
			paths = append(paths, p)
		}
	}
	return reads{facts: c.facts, payload: paths}
}

func comparePaths(a, b path) int { return slices.CompareFunc(a, b, compareSteps) }

// compareSteps puts indexes before keys.
func compareSteps(a, b any) int {
	i, isIndex := a.(int)
	j, isIndexToo := b.(int)
	k, l := fmt.Sprint(a), fmt.Sprint(b)
	switch {
	case isIndex && isIndexToo:
		return i - j
	case isIndex:
		return -1
	case isIndexToo:
		return 1
	}
	return slices.Compare([]byte(k), []byte(l))
}

func startsWith(p, start path) bool {
	return len(p) >= len(start) && comparePaths(p[:len(start)], start) == 0
}
