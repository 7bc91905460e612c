package schema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// flatten turns the validator's tree into violations at the member concerned, in
// their order. base is the URL of the schema, which locations leave out.
func flatten(root *jsonschema.ValidationError, value any, base string) ([]Violation, error) {
	f := flattener{value: value, base: base}
	f.node(root)
	return ordered(f.list), f.err
}

type flattener struct {
	value any
	base  string
	list  []Violation
	err   error // the last one; any means that the list is not to be used
}

func (f *flattener) node(e *jsonschema.ValidationError) {
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
	case *kind.RefCycle, *kind.InvalidJsonValue:
		f.err = fmt.Errorf("the validator met %T at %s", k, f.location(e))
	default:
		keyword, reason, known := leaf(k)
		if !known {
			f.err = fmt.Errorf("the validator reports %T at %s, which is unknown here", k, f.location(e))
			return
		}
		f.add(e, nil, keyword, reason)
	}
}

// location returns where in the schema e comes from.
func (f *flattener) location(e *jsonschema.ValidationError) string {
	return strings.TrimPrefix(e.SchemaURL, f.base)
}

// add reports one violation at the place of e, or below it.
func (f *flattener) add(e *jsonschema.ValidationError, below []string, keyword, reason string) {
	tokens := make([]string, 0, len(e.InstanceLocation)+len(below))
	tokens = append(append(tokens, e.InstanceLocation...), below...)
	location := f.location(e)
	if keyword != falseSchema {
		location += "/" + keyword
	}
	f.list = append(f.list, Violation{Tokens: tokens, Keyword: keyword, Reason: cut(reason, maxReason), Location: location})
}

// each reports the properties of the object at e that have these names.
func (f *flattener) each(e *jsonschema.ValidationError, names []string, keyword, reason string) {
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
	for i := len(items) - count; i < len(items); i++ {
		f.add(e, []string{strconv.Itoa(i)}, "additionalItems", reasonSurplus)
	}
}

// name reports a property name, with all the reasons that its own schema has.
func (f *flattener) name(e *jsonschema.ValidationError, property string) {
	inner := flattener{base: f.base}
	for _, cause := range e.Causes {
		inner.node(cause)
	}
	if inner.err != nil || len(inner.list) == 0 {
		f.err = errors.Join(inner.err, fmt.Errorf("a property name at %s is refused without a cause", f.location(e)))
		return
	}
	f.add(e, []string{property}, "propertyNames", reasonName(ordered(inner.list)))
}

// union reports a value that fits none of several alternatives. Those of another
// type are left out where one has the right type; a single one that is left
// speaks for itself; several are summed up in one entry, since their demands
// contradict each other.
func (f *flattener) union(e *jsonschema.ValidationError, keyword string) {
	var left []*jsonschema.ValidationError
	var got string
	var want []string
	for _, branch := range e.Causes {
		if k := typeFailure(branch, len(e.InstanceLocation)); k != nil {
			got, want = k.Got, append(want, k.Want...)
			continue
		}
		left = append(left, branch)
	}
	inner := flattener{value: f.value, base: f.base}
	for _, branch := range left {
		inner.node(branch) // also where it is not shown: it may hold a fault
	}
	switch {
	case inner.err != nil || len(e.Causes) == 0:
		f.err = errors.Join(inner.err, fmt.Errorf("the alternatives at %s are without an answer", f.location(e)))
	case len(left) == 0:
		f.add(e, nil, keyword, reasonType(got, want))
	case len(left) == 1:
		f.list = append(f.list, inner.list...)
	default:
		f.add(e, nil, keyword, reasonNoneFits(len(e.Causes)))
	}
}

// typeFailure returns how a branch fails for the type of the value at this depth,
// if it does: then whatever else it demands is not for this value.
func typeFailure(e *jsonschema.ValidationError, depth int) (found *kind.Type) {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		if len(e.InstanceLocation) == depth {
			return k
		}
	case *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			inner := typeFailure(cause, depth)
			if inner != nil && (found == nil || slices.Compare(inner.Want, found.Want) < 0) {
				found = inner
			}
		}
	}
	return found
}
