package schema

import (
	"encoding/json"
	"errors"
	"slices"

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
	whole   int            // whatever the value
	members int            // for each member of an object
	items   int            // for each item of an array
	lengths int            // how often the characters of a string are counted
	refused map[string]int // for each JSON type, the subschemas that refuse a value of it
}

// What a subschema takes that refuses a value by its type. A union may well have some.
const (
	usuallyRefused   = 16
	stepsPerRefusal  = 8
	maxTypeReference = 8 // references that are followed to a type
)

// refusing counts the subschemas by the types that they refuse.
func (c cost) refusing(subschemas []*jsonschema.Schema) cost {
	for _, s := range subschemas {
		for i := 0; s.Ref != nil && (s.Types == nil || s.Types.IsEmpty()) && i < maxTypeReference; i++ {
			s = s.Ref
		}
		if s.Types == nil || s.Types.IsEmpty() {
			continue
		}
		wanted := s.Types.ToStrings()
		for _, kind := range []string{"null", "boolean", "number", "string", "array", "object"} {
			allowed := slices.Contains(wanted, kind) || kind == "number" && slices.Contains(wanted, "integer")
			if !allowed {
				if c.refused == nil {
					c.refused = map[string]int{}
				}
				c.refused[kind]++
			}
		}
	}
	for kind, n := range c.refused {
		if n <= usuallyRefused {
			delete(c.refused, kind)
		}
	}
	return c
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
	const namesPerStep = 2
	c := cost{whole: 1 + len(sameValue(s)) + names/namesPerStep, members: 1 + len(s.PatternProperties), items: 1}
	if s.PropertyNames != nil {
		c.members++
	}
	if s.Contains != nil {
		c.items++
	}
	if s.MinLength != nil || s.MaxLength != nil {
		c.lengths++
	}
	return c
}

// tracking adds what the list costs that the validator makes for each subschema which is
// put to the same value, of all members or items that are not yet evaluated.
func (c cost) tracking(s *jsonschema.Schema) cost {
	lists := 1 + len(sameValue(s))
	c.members += lists
	c.items += lists
	return c
}

// waysPerStep is how many schemas one step pays for that the validator looks back at, to see
// whether it has met a schema already at this value.
const waysPerStep = 32

// below adds what that costs for a schema which so many others may stand above, and for the
// subschemas that it puts to the same value.
func (c cost) below(above, subschemas int) cost {
	c.whole += above * (1 + subschemas) / waysPerStep
	return c
}

// otherValue is what entry fails with where the validator would fail with a const or an
// enum.
type otherValue struct{ allowed *valueSet }

// Error says so.
func (*otherValue) Error() string { return "none of the values that are allowed" }

const (
	keyBytesPerStep    = 64  // bytes of a value's key that one step pays for
	textBytesPerStep   = 128 // bytes of a text whose characters are counted
	exponentsPerFactor = 32  // 1e64 costs three times what 1 does
)

func (e *entry) check(value any) error {
	steps := e.cost.whole
	switch v := value.(type) {
	case map[string]any:
		steps += len(v) * e.cost.members
	case []any:
		steps += len(v) * e.cost.items
	case string:
		steps += len(v) * e.cost.lengths / textBytesPerStep
	case json.Number:
		steps *= 1 + exponent(v)/exponentsPerFactor
	}
	if len(e.cost.refused) > 0 {
		steps += e.cost.refused[typeOf(value)] * stepsPerRefusal
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

// typeOf returns the JSON type of a decoded value.
func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
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
type format struct {
	format *jsonschema.Format
	budget *budget
}

// formatBytesPerStep is how many bytes of a text one step pays for.
const formatBytesPerStep = 16

func (f format) Validate(ctx *jsonschema.ValidatorContext, value any) {
	text, isText := value.(string)
	if !isText {
		return // a format says nothing of other types
	}
	err := error(nil)
	if f.format.Name == "regex" {
		f.budget.spend(len(text)) // one byte can stand for a class of letters
		err = ecma.Check(text)    // not whether our engine can run it
	} else {
		f.budget.spend(len(text) / formatBytesPerStep)
		err = f.format.Validate(value)
	}
	if err != nil {
		ctx.AddError(&kind.Format{Want: f.format.Name})
	}
}

// The validator's own not, if and oneOf ask for no more than yes or no, and stop at the
// first thing that is wrong. Since members come in random order, the same call would
// cost more or less from run to run, and be refused now and then. These always look
// at everything.

// not refuses what its schema accepts.
type not struct{ schema *jsonschema.Schema }

func (n not) Validate(ctx *jsonschema.ValidatorContext, value any) {
	if ctx.Validate(n.schema, value, nil) == nil {
		ctx.AddError(&kind.Not{})
	}
}

// condition is if, with its then and else, of which either may be nil.
type condition struct{ when, then, otherwise *jsonschema.Schema }

func (c condition) Validate(ctx *jsonschema.ValidatorContext, value any) {
	next := c.otherwise
	if ctx.Validate(c.when, value, nil) == nil {
		next = c.then
	}
	if next == nil {
		return
	}
	if err := ctx.Validate(next, value, nil); err != nil {
		ctx.AddErr(err)
	}
}

// oneOf wants exactly one of its schemas to accept a value.
type oneOf struct{ schemas []*jsonschema.Schema }

func (o oneOf) Validate(ctx *jsonschema.ValidatorContext, value any) {
	var failures []*jsonschema.ValidationError
	var fit []int
	for i, s := range o.schemas {
		var failure *jsonschema.ValidationError
		if errors.As(ctx.Validate(s, value, nil), &failure) {
			failures = append(failures, failure)
			continue
		}
		if fit = append(fit, i); len(fit) > 1 {
			break
		}
	}
	switch len(fit) {
	case 0:
		ctx.AddErrors(failures, &kind.OneOf{})
	case 1:
	default:
		ctx.AddError(&kind.OneOf{Subschemas: fit})
	}
}
