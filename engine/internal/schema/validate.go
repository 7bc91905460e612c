package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Violation is one thing that is wrong with a value.
type Violation struct {
	Tokens   []string // of the pointer to the member concerned, also where it is missing
	Keyword  string   // JSON Schema keyword; "false schema" for the boolean
	Reason   string   // in at most 256 bytes, without any string of the caller
	Location string   // of the keyword in the schema, as a URI fragment pointer
}

// Validate returns everything that is wrong with value, in no particular order;
// nothing means that it is valid. An error means that there is no answer, and the
// value has to be refused.
func (s *Schema) Validate(value any) (violations []Violation, err error) {
	defer func() {
		if r := recover(); r != nil {
			violations, err = nil, fmt.Errorf("panic in the validator: %v", r)
		}
	}()
	found := s.compiled.Validate(value)
	if found == nil {
		return nil, nil
	}
	var broken *jsonschema.ValidationError
	if !errors.As(found, &broken) {
		return nil, errors.New("the validator failed without a violation")
	}
	violations, err = flatten(broken, value, s.base)
	if err == nil && len(violations) == 0 {
		err = errors.New("the validator failed without a violation")
	}
	return violations, err
}

// flatten turns the validator's tree into leaves at the member concerned.
func flatten(root *jsonschema.ValidationError, value any, base string) ([]Violation, error) {
	f := flattener{value: value, base: base}
	f.node(root)
	return f.list, f.err
}

type flattener struct {
	value any
	base  string
	list  []Violation
	err   error
}

func (f *flattener) node(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			f.node(cause)
		}
		if len(e.Causes) == 0 {
			f.err = fmt.Errorf("a violation at %s has no cause", e.SchemaURL)
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
		f.err = fmt.Errorf("the validator met %T at %s", k, e.SchemaURL)
	default:
		keyword, reason, known := leaf(k)
		if !known {
			f.err = fmt.Errorf("the validator reports %T at %s, which is unknown here", k, e.SchemaURL)
			return
		}
		f.add(e, nil, keyword, reason)
	}
}

// add reports one violation at the location of e, or below it.
func (f *flattener) add(e *jsonschema.ValidationError, below []string, keyword, reason string) {
	tokens := make([]string, 0, len(e.InstanceLocation)+len(below))
	tokens = append(append(tokens, e.InstanceLocation...), below...)
	location := strings.TrimPrefix(e.SchemaURL, f.base)
	if keyword != falseSchema {
		location += "/" + keyword
	}
	f.list = append(f.list, Violation{Tokens: tokens, Keyword: keyword, Reason: cut(reason, maxReason), Location: location})
}

func (f *flattener) each(e *jsonschema.ValidationError, names []string, keyword, reason string) {
	for _, name := range names {
		f.add(e, []string{name}, keyword, reason)
	}
}

// surplus reports the last count items of the array at e.
func (f *flattener) surplus(e *jsonschema.ValidationError, count int) {
	items, _ := at(f.value, e.InstanceLocation).([]any)
	if count > len(items) {
		f.add(e, nil, "additionalItems", reasonSurplus)
		return
	}
	for i := len(items) - count; i < len(items); i++ {
		f.add(e, []string{strconv.Itoa(i)}, "additionalItems", reasonSurplus)
	}
}

// at returns the part of value that tokens point to.
func at(value any, tokens []string) any {
	for _, token := range tokens {
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// name reports a property name, with the reasons that its own schema has.
func (f *flattener) name(e *jsonschema.ValidationError, property string) {
	inner := flattener{base: f.base}
	for _, cause := range e.Causes {
		inner.node(cause)
	}
	if inner.err != nil || len(inner.list) == 0 {
		f.err = errors.Join(inner.err, fmt.Errorf("a property name at %s is refused without a cause", e.SchemaURL))
		return
	}
	for _, v := range inner.list {
		f.add(e, []string{property}, "propertyNames", "the property name "+v.Reason)
	}
}

// union reports a value that fits none of several alternatives. Those of another
// type are left out where one has the right type; a single one that is left
// speaks for itself; several are summed up in one entry, since their demands
// contradict each other.
func (f *flattener) union(e *jsonschema.ValidationError, keyword string) {
	var branches [][]Violation
	var types []string
	for _, cause := range e.Causes {
		inner := flattener{value: f.value, base: f.base}
		inner.node(cause)
		if inner.err != nil {
			f.err = inner.err
			return
		}
		if wanted, ok := typeFailure(cause, len(e.InstanceLocation)); ok {
			types = append(types, wanted...)
			continue
		}
		branches = append(branches, inner.list)
	}
	switch {
	case len(branches) == 1:
		f.list = append(f.list, branches[0]...)
	case len(branches) == 0 && len(types) > 0:
		f.add(e, nil, keyword, reasonType(typeName(at(f.value, e.InstanceLocation)), types))
	default:
		f.add(e, nil, keyword, reasonNoneFits(len(e.Causes)))
	}
}

// typeFailure returns the types that a branch wants, if it fails for nothing but
// the type of the value at this depth.
func typeFailure(e *jsonschema.ValidationError, depth int) ([]string, bool) {
	for {
		switch k := e.ErrorKind.(type) {
		case *kind.Type:
			return k.Want, len(e.InstanceLocation) == depth
		case *kind.Group, *kind.Reference, *kind.AllOf:
			if len(e.Causes) != 1 {
				return nil, false
			}
			e = e.Causes[0]
		default:
			return nil, false
		}
	}
}
