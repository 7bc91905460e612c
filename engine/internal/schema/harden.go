package schema

import (
	"cmp"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxApplied is how many subschemas may apply to one value. Real schemas need a
// dozen; two dozen lines that double at each level reach millions.
const maxApplied = 1000

type hardenFault struct{ location, problem, remedy string }

// harden walks the compiled graph once. It refuses what would run forever, or
// validate anything: subschemas that apply themselves to the same value (within
// "not" such a cycle accepts everything). And it rebuilds each schema so that it
// pays before it works, and so that no keyword reports wrong places, hides others,
// takes more than linear time, or costs more or less from run to run.
func harden(roots []*jsonschema.Schema, b *budget, formats Formats) (hints, []hardenFault) {
	all := reachable(roots)
	g := newGraph(all)
	for _, s := range all {
		g.count(s)
	}
	if len(g.faults) > 0 {
		return hints{}, g.faults
	}
	g.measureWays()
	h := hints{
		schemas: map[string]*jsonschema.Schema{}, values: map[*jsonschema.Schema]bool{},
		not: map[*jsonschema.Schema]*jsonschema.Schema{}, oneOf: map[*jsonschema.Schema][]*jsonschema.Schema{},
	}
	tracked := g.tracked(all)
	for _, s := range all {
		h.schemas[s.Location] = s
		if s.Bool == nil {
			c := costOf(s).below(g.above[s], len(sameValue(s))).refusing(sameValue(s))
			if tracked[s] {
				c = c.tracking(s)
			}
			rebuild(s, &entry{budget: b, cost: c}, formats, &h)
		}
	}
	return h, g.faults
}

// hints are what the error tree of the validator does not tell.
type hints struct {
	schemas map[string]*jsonschema.Schema // by location
	values  map[*jsonschema.Schema]bool   // those with a const or an enum
	not     map[*jsonschema.Schema]*jsonschema.Schema
	oneOf   map[*jsonschema.Schema][]*jsonschema.Schema
}

func rebuild(s *jsonschema.Schema, e *entry, formats Formats, h *hints) {
	if s.Const != nil {
		e.values = append(e.values, newValueSet("const", []any{*s.Const}))
		s.Const = nil
	}
	if s.Enum != nil {
		e.values = append(e.values, newValueSet("enum", s.Enum.Values))
		s.Enum = nil
	}
	if len(e.values) > 0 {
		h.values[s] = true
	}
	if s.PropertyNames != nil {
		s.Extensions = append(s.Extensions, propertyNames{s.PropertyNames})
		s.PropertyNames = nil
	}
	if s.UniqueItems {
		s.Extensions = append(s.Extensions, uniqueItems{e.budget})
		s.UniqueItems = false
	}
	if l, ok := takeLengths(s); ok {
		s.Extensions = append(s.Extensions, l)
	}
	if b, ok := takeBounds(s); ok {
		s.Extensions = append(s.Extensions, b)
	}
	if s.Not != nil {
		h.not[s] = s.Not
		s.Extensions = append(s.Extensions, not{s.Not})
		s.Not = nil
	}
	if s.If != nil {
		s.Extensions = append(s.Extensions, condition{s.If, s.Then, s.Else})
		s.If = nil
	}
	if s.OneOf != nil {
		h.oneOf[s] = s.OneOf
		s.Extensions = append(s.Extensions, oneOf{s.OneOf})
		s.OneOf = nil
	}
	if s.Format != nil && formats == AssertFormats {
		s.Extensions = append(s.Extensions, format{s.Format, e.budget})
	}
	s.Format = &jsonschema.Format{Name: entryFormat, Validate: e.check}
	// From draft 7 on the validator copies every string, for contentEncoding, which is a
	// remark here. That is all that the two drafts differ in once a schema is compiled.
	// A text of 64 KiB takes half the time so.
	if s.DraftVersion == 7 {
		s.DraftVersion = 6
	}
}

// reachable returns the schemas that the roots lead to, sorted by location.
func reachable(roots []*jsonschema.Schema) []*jsonschema.Schema {
	seen := map[*jsonschema.Schema]bool{}
	var all []*jsonschema.Schema
	queue := slices.Clone(roots)
	for len(queue) > 0 {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		all = append(all, s)
		queue = append(queue, sameValue(s)...)
		queue = append(queue, deeper(s)...)
	}
	slices.SortFunc(all, func(a, b *jsonschema.Schema) int { return cmp.Compare(a.Location, b.Location) })
	return all
}

// graph counts how many subschemas apply to one value.
type graph struct {
	applied   map[*jsonschema.Schema]int
	busy      map[*jsonschema.Schema]bool
	above     map[*jsonschema.Schema]int      // most schemas on a way to it that apply to the same value
	dynamic   map[string][]*jsonschema.Schema // by $dynamicAnchor
	recursive []*jsonschema.Schema            // with $recursiveAnchor
	faults    []hardenFault
}

func newGraph(all []*jsonschema.Schema) *graph {
	g := &graph{applied: map[*jsonschema.Schema]int{}, busy: map[*jsonschema.Schema]bool{}, above: map[*jsonschema.Schema]int{}, dynamic: map[string][]*jsonschema.Schema{}}
	for _, s := range all {
		if s.DynamicAnchor != "" {
			g.dynamic[s.DynamicAnchor] = append(g.dynamic[s.DynamicAnchor], s)
		}
		if s.RecursiveAnchor {
			g.recursive = append(g.recursive, s)
		}
	}
	return g
}

// count returns the number of subschemas that apply to a value if s does. What it
// has reported once counts no more, or everything around it would be reported too.
func (g *graph) count(s *jsonschema.Schema) int {
	if n, known := g.applied[s]; known {
		return n
	}
	if g.busy[s] {
		g.faults = append(g.faults, hardenFault{s.Location, "this schema applies itself to the same value without end", "let a reference to itself lie below properties or items"})
		return 0
	}
	g.busy[s] = true
	total := 1
	for _, child := range g.inPlace(s) {
		if total += g.count(child); total > maxApplied {
			g.faults = append(g.faults, hardenFault{s.Location, "more than 1000 subschemas apply to one value here", "combine fewer alternatives"})
			total = 1
			break
		}
	}
	delete(g.busy, s)
	g.applied[s] = total
	return total
}

// measureWays finds, for each schema, the longest way to it on which all apply to the same
// value. There are no cycles any more.
func (g *graph) measureWays() {
	waiting := map[*jsonschema.Schema]int{} // how many ways to a schema have not been gone
	for s := range g.applied {
		for _, child := range g.inPlace(s) {
			waiting[child]++
		}
	}
	var queue []*jsonschema.Schema
	for s := range g.applied {
		if waiting[s] == 0 {
			queue = append(queue, s)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, child := range g.inPlace(queue[0]) {
			g.above[child] = max(g.above[child], g.above[queue[0]]+1)
			if waiting[child]--; waiting[child] == 0 {
				queue = append(queue, child)
			}
		}
	}
}

// inPlace returns the subschemas that apply, or may, to the value s applies to.
func (g *graph) inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	return append(sameValue(s), g.elsewhere(s)...)
}

// elsewhere returns what a dynamic reference may resolve to besides the schema that
// it names: that depends on the way a validation has come.
func (g *graph) elsewhere(s *jsonschema.Schema) []*jsonschema.Schema {
	var targets []*jsonschema.Schema
	if r := s.DynamicRef; r != nil && r.Anchor != "" && r.Ref.DynamicAnchor == r.Anchor {
		targets = append(targets, without(g.dynamic[r.Anchor], r.Ref)...)
	}
	if r := s.RecursiveRef; r != nil && r.RecursiveAnchor {
		targets = append(targets, without(g.recursive, r)...)
	}
	return targets
}

// tracked returns the schemas for which the validator keeps lists of what is not yet
// evaluated: those that have unevaluatedProperties or unevaluatedItems, and all that
// apply to the same value on their behalf.
func (g *graph) tracked(all []*jsonschema.Schema) map[*jsonschema.Schema]bool {
	tracked := map[*jsonschema.Schema]bool{}
	var track func(s *jsonschema.Schema)
	track = func(s *jsonschema.Schema) {
		if tracked[s] {
			return
		}
		tracked[s] = true
		for _, child := range g.inPlace(s) {
			track(child)
		}
	}
	for _, s := range all {
		if s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil {
			track(s)
		}
	}
	return tracked
}

func without(list []*jsonschema.Schema, excluded *jsonschema.Schema) []*jsonschema.Schema {
	return slices.DeleteFunc(slices.Clone(list), func(s *jsonschema.Schema) bool { return s == excluded })
}

// sameValue returns the subschemas that apply to the value s applies to.
func sameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	children := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		children = append(children, s.DynamicRef.Ref)
	}
	children = slices.Concat(children, s.AllOf, s.AnyOf, s.OneOf)
	for _, name := range sortedKeys(s.Dependencies) {
		if child, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			children = append(children, child)
		}
	}
	for _, name := range sortedKeys(s.DependentSchemas) {
		children = append(children, s.DependentSchemas[name])
	}
	return present(children)
}

// deeper returns the subschemas that apply to members, elements or names.
func deeper(s *jsonschema.Schema) []*jsonschema.Schema {
	children := []*jsonschema.Schema{
		s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
	}
	for _, child := range s.Properties {
		children = append(children, child)
	}
	for _, child := range s.PatternProperties {
		children = append(children, child)
	}
	children = append(children, s.PrefixItems...)
	for _, either := range []any{s.AdditionalProperties, s.AdditionalItems, s.Items} {
		switch child := either.(type) {
		case *jsonschema.Schema:
			children = append(children, child)
		case []*jsonschema.Schema:
			children = append(children, child...)
		}
	}
	return present(children)
}

func present(children []*jsonschema.Schema) []*jsonschema.Schema {
	return slices.DeleteFunc(children, func(s *jsonschema.Schema) bool { return s == nil })
}
