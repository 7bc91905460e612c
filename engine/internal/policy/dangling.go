package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// PayloadRead is a reference of a rule of one's own to a place in the payload.
type PayloadRead struct {
	Rule  string
	File  string
	Line  int
	Path  []string // as far as it is written out
	Tools []string // that the definition is for, by input.tool == "..."; none for all
}

// PayloadReads returns what rules of one's own read of the payload, and, with an empty path,
// the tools that their definitions are for.
func (p *Policy) PayloadReads() (all []PayloadRead) {
	p.visitOwn(func(file, rule string, r *ast.Rule, ref ast.Ref, at *ast.Location) {
		if !ref.HasPrefix(payloadRef) || len(ref) == len(payloadRef) {
			return
		}
		read := PayloadRead{Rule: rule, File: file, Line: at.Row, Tools: toolsOf(r)}
		for _, step := range prefix(ref[len(payloadRef):]) {
			name, isName := step.(string)
			if !isName {
				break
			}
			read.Path = append(read.Path, name)
		}
		if len(read.Path) > 0 {
			all = append(all, read)
		}
	})
	for _, name := range sortedKeys(p.rules) {
		if p.rules[name].BuiltIn {
			continue
		}
		for _, r := range p.compiler.GetRules(denyOf(name)) {
			if tools := toolsOf(r); len(tools) > 0 {
				all = append(all, PayloadRead{Rule: name, File: r.Location.File, Line: r.Location.Row, Tools: tools})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b PayloadRead) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return all
}

// toolsOf returns the names that a definition compares input.tool with.
func toolsOf(r *ast.Rule) (names []string) {
	for _, e := range r.Body {
		compares := e.IsEquality() || e.IsCall() && e.Operator().Equal(ast.Equal.Ref())
		if e.Negated || len(e.With) > 0 || !compares {
			continue
		}
		for i, operand := range e.Operands() {
			if ref, ok := operand.Value.(ast.Ref); ok && ref.Equal(toolRef) {
				if name, ok := e.Operand(1 - i).Value.(ast.String); ok {
					names = append(names, string(name))
				}
			}
		}
	}
	return names
}

var toolRef = ast.MustParseRef("input.tool")

// checkData returns an error for each reference of a rule of one's own to data that is not
// there: a condition on it never holds, so the rule would be silent.
func (p *Policy) checkData() error {
	var faults []error
	seen := map[string]bool{}
	p.visitOwn(func(file, _ string, _ *ast.Rule, ref ast.Ref, at *ast.Location) {
		if !ref.HasPrefix(ast.DefaultRootRef) || len(ref) < 2 || len(p.compiler.GetRules(ref)) > 0 {
			return
		}
		ground := ref.GroundPrefix()
		for i := 2; i <= len(ground); i++ {
			if len(p.compiler.GetRules(ground[:i])) > 0 && len(p.compiler.GetRulesExact(ground[:i])) > 0 {
				return // below a rule: its value is not known
			}
		}
		if p.base.Get(ground) != nil {
			return
		}
		fault := fmt.Sprintf("%s:%d: reads %s, which does not exist: put it into the data.json of the folder, or correct the name", file, at.Row, ground)
		if !seen[fault] {
			seen[fault] = true
			faults = append(faults, errors.New(fault))
		}
	})
	return errors.Join(faults...)
}

// visitOwn calls visit for every reference in rules of one's own.
func (p *Policy) visitOwn(visit func(file, rule string, r *ast.Rule, ref ast.Ref, at *ast.Location)) {
	for _, name := range sortedKeys(p.compiler.Modules) {
		module := p.compiler.Modules[name]
		rule, _ := rulePackage(module.Package.Path)
		if !p.rules[rule].BuiltIn && p.rules[rule].Name != "" {
			for _, r := range module.Rules {
				visitRefs(r, func(ref ast.Ref, at *ast.Location) { visit(name, rule, r, ref, at) })
			}
		}
	}
}

func visitRefs(r *ast.Rule, visit func(ref ast.Ref, at *ast.Location)) {
	at := r.Location
	visitor := ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Expr:
			if x.Location != nil && x.Location.Row > 0 {
				at = x.Location
			}
		case ast.Ref:
			visit(x, at)
		}
		return false
	})
	visitor.Walk(r)
}
