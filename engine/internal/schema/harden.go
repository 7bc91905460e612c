package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxApplied is how many subschemas may apply to one value. Real schemas need a
// dozen; two dozen lines that double at each level reach millions.
const maxApplied = 1000

type hardenError struct{ location, problem, remedy string }

// harden walks the compiled graph once. It refuses what would run forever, or
// validate anything: subschemas that apply themselves to the same value (within
// "not" such a cycle accepts everything). And it moves two keywords into
// extensions: propertyNames, which reports wrong places, and format, whose failure
// hides all other keywords of its schema.
func harden(root *jsonschema.Schema) *hardenError {
	g := graph{applied: map[*jsonschema.Schema]int{}, busy: map[*jsonschema.Schema]bool{}}
	queue := []*jsonschema.Schema{root}
	seen := map[*jsonschema.Schema]bool{root: true}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if _, err := g.count(s); err != nil {
			return err
		}
		for _, child := range append(sameValue(s), deeper(s)...) {
			if !seen[child] {
				seen[child] = true
				queue = append(queue, child)
			}
		}
	}
	for s := range seen {
		if s.PropertyNames != nil {
			s.Extensions = append(s.Extensions, propertyNames{s.PropertyNames})
			s.PropertyNames = nil
		}
		if s.Format != nil {
			s.Extensions = append(s.Extensions, format{s.Format})
			s.Format = nil
		}
	}
	return nil
}

// graph counts how many subschemas apply to one value.
type graph struct {
	applied map[*jsonschema.Schema]int
	busy    map[*jsonschema.Schema]bool
}

func (g *graph) count(s *jsonschema.Schema) (int, *hardenError) {
	if n, known := g.applied[s]; known {
		return n, nil
	}
	if g.busy[s] {
		return 0, &hardenError{s.Location, "this schema applies itself to the same value without end", "let a reference to itself lie below properties or items"}
	}
	g.busy[s] = true
	total := 1
	for _, child := range sameValue(s) {
		n, err := g.count(child)
		if err != nil {
			return 0, err
		}
		if total += n; total > maxApplied {
			return 0, &hardenError{s.Location, "more than 1000 subschemas apply to one value here", "combine fewer alternatives"}
		}
	}
	delete(g.busy, s)
	g.applied[s] = total
	return total, nil
}

// sameValue returns the subschemas that apply to the value s applies to.
func sameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	children := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		children = append(children, s.DynamicRef.Ref)
	}
	children = append(children, s.AllOf...)
	children = append(children, s.AnyOf...)
	children = append(children, s.OneOf...)
	for _, dependency := range s.Dependencies {
		if child, ok := dependency.(*jsonschema.Schema); ok {
			children = append(children, child)
		}
	}
	for _, child := range s.DependentSchemas {
		children = append(children, child)
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
	kept := children[:0]
	for _, child := range children {
		if child != nil {
			kept = append(kept, child)
		}
	}
	return kept
}

// propertyNames validates each key at the path of its member.
type propertyNames struct{ schema *jsonschema.Schema }

func (p propertyNames) Validate(ctx *jsonschema.ValidatorContext, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	for key := range object {
		var refused *jsonschema.ValidationError
		if errors.As(ctx.Validate(p.schema, key, []string{key}), &refused) {
			ctx.AddErrors([]*jsonschema.ValidationError{refused}, &kind.PropertyNames{Property: key})
		}
	}
}

// format validates a format beside the other keywords of its schema.
type format struct{ format *jsonschema.Format }

func (f format) Validate(ctx *jsonschema.ValidatorContext, value any) {
	if err := f.format.Validate(value); err != nil {
		ctx.AddError(&kind.Format{Want: f.format.Name})
	}
}
