package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// flatten turns the validator's tree into violations at the member concerned, in
// their order. base is the URL of the schema, which locations leave out.
func flatten(root *jsonschema.ValidationError, value any, base string, h hints, b *budget) ([]Violation, error) {
	f := flattener{value: value, base: base, hints: h, memo: &memo{held: map[string]string{}, numbers: map[*big.Rat]string{}}, budget: b}
	f.node(root)
	return ordered(f.list), f.err
}

type flattener struct {
	value any
	base  string
	hints hints
	memo  *memo
	list  []Violation
	room  int   // how long the list may get until it is put in order
	err   error // the last one; any means that the list is not to be used

	budget *budget
}

// memo remembers what takes long to find out, and is asked often.
type memo struct {
	held    map[string]string   // what HeldType said, by text
	numbers map[*big.Rat]string // as they are shown
}

func (f *flattener) number(r *big.Rat) string {
	shown, known := f.memo.numbers[r]
	if !known {
		shown = number(r)
		f.memo.numbers[r] = shown
	}
	return shown
}

// inner returns a flattener for a part of the tree that is shown in another way.
func (f *flattener) inner() *flattener {
	return &flattener{value: f.value, base: f.base, hints: f.hints, memo: f.memo, budget: f.budget}
}

func (f *flattener) node(e *jsonschema.ValidationError) {
	f.budget.spend(1 + len(e.Causes))
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			f.node(cause)
		}
		if len(e.Causes) == 0 {
			f.err = fmt.Errorf("a violation at %s has no cause", f.location(e))
		}
	case *kind.AnyOf:
		f.union(e, "anyOf")
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			f.add(e, nil, "oneOf", reasonTwoFit(k.Subschemas))
			return
		}
		f.union(e, "oneOf")
	case *kind.Type:
		f.add(e, nil, "type", f.reasonType(e, k.Got, k.Want))
		f.list[len(f.list)-1].Wanted = k.Want
	case *kind.Required:
		f.each(e, k.Missing, "required", reasonMissing)
	case *kind.Dependency:
		f.each(e, k.Missing, "dependencies", reasonNeeded(k.Prop))
	case *kind.DependentRequired:
		f.each(e, k.Missing, "dependentRequired", reasonNeeded(k.Prop))
	case *kind.AdditionalProperties:
		f.each(e, k.Properties, "additionalProperties", reasonUnexpected)
	case *kind.AdditionalItems:
		f.surplus(e, k.Count)
	case *kind.UniqueItems:
		f.add(e, []string{strconv.Itoa(k.Duplicates[1])}, "uniqueItems", reasonRepeated(k.Duplicates[0]))
	case *kind.PropertyNames:
		f.name(e, k.Property)
	case *kind.FalseSchema:
		f.forbidden(e)
	case *kind.Not:
		f.add(e, nil, "not", f.reasonNot(e))
	case *kind.RefCycle, *kind.InvalidJsonValue:
		f.err = fmt.Errorf("the validator met %T at %s", k, f.location(e))
	default:
		keyword, reason, known := f.leaf(k)
		if !known {
			f.err = fmt.Errorf("the validator reports %T at %s, which is unknown here", k, f.location(e))
			return
		}
		f.add(e, nil, keyword, reason)
	}
}

// longestLocation bounds a location in the schema, in bytes; there may be very many.
const longestLocation = 512

// location returns where in the schema e comes from.
func (f *flattener) location(e *jsonschema.ValidationError) string {
	return cut(strings.TrimPrefix(e.SchemaURL, f.base), longestLocation)
}

// add reports one violation at the place of e, or below it.
func (f *flattener) add(e *jsonschema.ValidationError, below []string, keyword, reason string) {
	location := f.location(e)
	if keyword != falseSchema {
		location += "/" + keyword
	}
	f.report(e, below, keyword, reason, location)
}

func (f *flattener) report(e *jsonschema.ValidationError, below []string, keyword, reason, location string) {
	tokens := make([]string, 0, len(e.InstanceLocation)+len(below))
	tokens = append(append(tokens, e.InstanceLocation...), below...)
	f.list = append(f.list, Violation{Tokens: tokens, Keyword: keyword, Reason: cut(reason, maxReason), Location: location})
	if len(f.list) > max(f.room, longestMess) {
		f.list = ordered(f.list) // a hundred branches may all say the same
		f.room = 2 * len(f.list)
	}
}

// longestMess is how many violations are kept, whatever they say, until those that say the
// same at the same place are dropped.
const longestMess = 4096

// stepsPerViolation is what one more violation costs that the validator reports together
// with others, sorting included.
const stepsPerViolation = 6

// each reports the properties of the object at e that have these names.
func (f *flattener) each(e *jsonschema.ValidationError, names []string, keyword, reason string) {
	f.budget.spend(stepsPerViolation * (len(names) - 1))
	for _, name := range names {
		f.add(e, []string{name}, keyword, reason)
	}
}

// surplus reports the last count items of the array at e.
func (f *flattener) surplus(e *jsonschema.ValidationError, count int) {
	items, _ := valueAt(f.value, e.InstanceLocation).([]any)
	if count > len(items) {
		f.add(e, nil, "additionalItems", reasonSurplus)
		return
	}
	f.budget.spend(stepsPerViolation * (count - 1))
	for i := len(items) - count; i < len(items); i++ {
		f.add(e, []string{strconv.Itoa(i)}, "additionalItems", reasonSurplus)
	}
}

// forbidden reports a value that met the schema false. The keyword that holds it
// says better what is wrong.
func (f *flattener) forbidden(e *jsonschema.ValidationError) {
	location := f.location(e)
	for keyword, reason := range map[string]string{
		"unevaluatedProperties": reasonUnexpected, "unevaluatedItems": reasonSurplus, "items": reasonSurplus,
	} {
		if strings.HasSuffix(location, "/"+keyword) {
			f.report(e, nil, keyword, reason, location)
			return
		}
	}
	keyword, reason, _ := f.leaf(e.ErrorKind)
	f.add(e, nil, keyword, reason)
}

// name reports a property name, with all the reasons that its own schema has.
func (f *flattener) name(e *jsonschema.ValidationError, property string) {
	inner := f.inner()
	inner.value = nil // the schema of a name looks at no value
	for _, cause := range e.Causes {
		inner.node(cause)
	}
	if inner.err != nil || len(inner.list) == 0 {
		f.err = errors.Join(inner.err, fmt.Errorf("a property name at %s is refused without a cause", f.location(e)))
		return
	}
	f.add(e, []string{property}, "propertyNames", reasonName(ordered(inner.list)))
}

// reasonNot adds what the schema's author says of what is forbidden.
func (f *flattener) reasonNot(e *jsonschema.ValidationError) string {
	if not := f.hints.not[f.hints.schemas[e.SchemaURL]]; not != nil && not.Description != "" {
		return reasonForbidden + ": " + quote(not.Description, 120)
	}
	return reasonForbidden
}

// reasonType says what type is wanted. A model that sends an object as a text hears
// just that.
func (f *flattener) reasonType(e *jsonschema.ValidationError, got string, want []string) string {
	text, isText := valueAt(f.value, e.InstanceLocation).(string)
	if isText && !slices.Contains(want, "string") {
		held, known := f.memo.held[text]
		if !known {
			held = HeldType(text)
			f.memo.held[text] = held
		}
		if held != "" && slices.Contains(want, held) {
			return "is a string that holds JSON; send the " + held + " itself"
		}
	}
	return reasonType(got, want)
}

// HeldType returns "object" or "array" if text is the JSON text of one, else "".
func HeldType(text string) string {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	held := ""
	switch {
	case strings.HasPrefix(trimmed, "{"):
		held = "object"
	case strings.HasPrefix(trimmed, "["):
		held = "array"
	}
	if held == "" || !json.Valid([]byte(text)) {
		return ""
	}
	return held
}
