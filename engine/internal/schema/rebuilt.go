package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/sallyport-mcp/sallyport/engine/internal/schema/ecma"
)

// entryFormat is the name of what stands at the place of a schema's format. The
// validator looks there after type and before everything else, also where only yes or
// no is asked; so it is where a schema pays for the work ahead of it.
const entryFormat = "entry"

// entry stands before all other keywords of one schema but type.
type entry struct {
	budget *budget
	cost   cost
	values []*valueSet // of const and enum
}

// cost is what putting a schema to a value takes, in steps.
type cost struct {
	whole   int // whatever the value
	members int // for each member of an object
	items   int // for each item of an array
}

// costOf counts the subschemas that s puts to a value itself or to its parts. A
// subschema that refuses by type comes to no entry of its own, so it is paid here.
func costOf(s *jsonschema.Schema) cost {
	names := len(s.Required)
	for _, list := range s.DependentRequired {
		names += len(list)
	}
	for _, either := range s.Dependencies {
		if list, ok := either.([]string); ok {
			names += len(list)
		}
	}
	const namesPerStep = 8
	c := cost{whole: 1 + len(sameValue(s)) + names/namesPerStep, members: 1 + len(s.PatternProperties), items: 1}
	if s.PropertyNames != nil {
		c.members++
	}
	if s.Contains != nil {
		c.items++
	}
	return c
}

// otherValue is what entry fails with where the validator would fail with a const or an
// enum.
type otherValue struct{ allowed *valueSet }

// Error says so.
func (*otherValue) Error() string { return "none of the values that are allowed" }

// keyBytesPerStep is how many bytes of a value's key one step pays for.
const keyBytesPerStep = 64

func (e *entry) check(value any) error {
	steps := e.cost.whole
	switch v := value.(type) {
	case map[string]any:
		steps += len(v) * e.cost.members
	case []any:
		steps += len(v) * e.cost.items
	}
	e.budget.spend(steps)
	for _, set := range e.values {
		has, bytes := set.has(value)
		e.budget.spend(bytes / keyBytesPerStep)
		if !has {
			return &otherValue{set}
		}
	}
	return nil
}

// propertyNames validates each key at the path of its member; the validator's own
// reports wrong places.
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

// uniqueItems reports every item that repeats an earlier one, in linear time; the
// validator's own compares up to 20 items pairwise, however large they are.
type uniqueItems struct{ budget *budget }

func (u uniqueItems) Validate(ctx *jsonschema.ValidatorContext, value any) {
	items, ok := value.([]any)
	if !ok {
		return
	}
	first := make(map[string]int, len(items))
	for i, item := range items {
		key := valueKey(item)
		u.budget.spend(len(key) / keyBytesPerStep)
		if earlier, repeated := first[key]; repeated {
			ctx.AddError(&kind.UniqueItems{Duplicates: [2]int{earlier, i}})
			continue
		}
		first[key] = i
	}
}

// format validates a format beside the other keywords of its schema, which the
// validator's own would hide.
type format struct{ format *jsonschema.Format }

func (f format) Validate(ctx *jsonschema.ValidatorContext, value any) {
	err := error(nil)
	if text, ok := value.(string); ok && f.format.Name == "regex" {
		err = ecma.Check(text) // not whether our engine can run it
	} else {
		err = f.format.Validate(value)
	}
	if err != nil {
		ctx.AddError(&kind.Format{Want: f.format.Name})
	}
}
