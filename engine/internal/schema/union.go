package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// branch is one alternative of a union, and why it does not fit.
type branch struct {
	number   int // in the schema, from 1
	failure  *jsonschema.ValidationError
	list     []Violation         // the failure, flattened
	schema   *jsonschema.Schema  // nil where it is not known
	mismatch map[string]mismatch // by token below the union; "" is the union itself
}

// mismatch is what a const or an enum wants, which stands at this place in the schema.
type mismatch struct {
	allowed  *valueSet
	location string
}

// union reports a value that fits none of several alternatives. Those of another
// type are left out where one has the right type, and those that a const or an enum
// tells apart from the right one. A single one that is left speaks for itself;
// several are summed up in one entry, since their demands contradict each other.
func (f *flattener) union(e *jsonschema.ValidationError, keyword string) {
	depth := len(e.InstanceLocation)
	var ofOtherType []*kind.Type
	var left []branch
	for i, failure := range e.Causes {
		if k := typeFailure(failure, depth); k != nil {
			ofOtherType = append(ofOtherType, k)
			continue
		}
		inner := f.inner()
		inner.node(failure) // also where it is not shown: it may hold a fault
		f.err = errors.Join(f.err, inner.err)
		left = append(left, branch{number: i + 1, failure: failure, list: ordered(inner.list)})
	}
	if len(e.Causes) == 0 {
		f.err = fmt.Errorf("the alternatives at %s are without an answer", f.location(e))
	}
	if f.err != nil {
		return
	}
	if len(left) == 0 {
		f.wrongType(e, keyword, ofOtherType)
		return
	}
	left, at, allowed := f.tellApart(e, keyword, left)
	switch {
	case len(allowed) > 0:
		f.report(e, at, "enum", eitherOf(allowed), f.location(e)+"/"+keyword)
	case len(left) == 1:
		f.list = append(f.list, left[0].list...)
	default:
		f.add(e, nil, keyword, reasonNoneFits(keyword, len(e.Causes), left, depth))
	}
}

// wrongType reports a value whose type no alternative has.
func (f *flattener) wrongType(e *jsonschema.ValidationError, keyword string, failures []*kind.Type) {
	var want []string
	for _, k := range failures {
		want = append(want, k.Want...)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	f.add(e, nil, keyword, f.reasonType(e, failures[0].Got, want))
	f.list[len(f.list)-1].Wanted = want
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
	case *kind.AnyOf, *kind.OneOf: // a union within the union
		for _, cause := range e.Causes {
			inner := typeFailure(cause, depth)
			if inner == nil {
				return nil
			}
			if found == nil {
				found = &kind.Type{Got: inner.Got}
			}
			found.Want = append(found.Want, inner.Want...)
		}
	}
	return found
}

// mismatches collects what const and enum want at the value of this depth, and one
// level below it; of several at one place, the first in the schema.
func mismatches(e *jsonschema.ValidationError, depth int, found map[string]mismatch) {
	var other *otherValue
	switch k := e.ErrorKind.(type) {
	case *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			mismatches(cause, depth, found)
		}
	case *kind.Format:
		if !errors.As(k.Err, &other) {
			return
		}
		place := ""
		switch len(e.InstanceLocation) {
		case depth:
		case depth + 1:
			place = "/" + e.InstanceLocation[depth]
		default:
			return
		}
		if known, ok := found[place]; !ok || e.SchemaURL < known.location {
			found[place] = mismatch{other.allowed, e.SchemaURL}
		}
	}
}

// tellApart drops branches that a const or an enum rules out where the same member
// is right for another branch. If it is wrong for all of them it returns the place
// below the union, and all that they allow there.
func (f *flattener) tellApart(e *jsonschema.ValidationError, keyword string, left []branch) (kept []branch, at []string, allowed []*valueSet) {
	if len(left) == 1 {
		return left, nil, nil
	}
	depth := len(e.InstanceLocation)
	schemas := f.alternatives(e, keyword)
	places := map[string]bool{}
	for i := range left {
		left[i].mismatch = map[string]mismatch{}
		mismatches(left[i].failure, depth, left[i].mismatch)
		for place := range left[i].mismatch {
			places[place] = true
		}
		if len(schemas) == len(e.Causes) { // the validator lists failures in order
			left[i].schema = schemas[left[i].number-1]
		}
	}
	for _, place := range sortedKeys(places) {
		failing, holding := 0, 0
		for _, b := range left {
			switch {
			case b.mismatch[place].allowed != nil:
				failing++
			case !b.failsAt(place, depth) && f.hints.constrains(b.schema, place, 0):
				holding++
			}
		}
		if holding > 0 && failing > 0 {
			left = slices.DeleteFunc(left, func(b branch) bool { return b.mismatch[place].allowed != nil })
			continue
		}
		if len(left) > 1 && failing == len(left) {
			for _, b := range left {
				allowed = append(allowed, b.mismatch[place].allowed)
			}
			if place != "" {
				at = []string{strings.TrimPrefix(place, "/")}
			}
			return left, at, allowed
		}
	}
	return left, nil, nil
}

// alternatives returns the branches of the union that failed.
func (f *flattener) alternatives(e *jsonschema.ValidationError, keyword string) []*jsonschema.Schema {
	s := f.hints.schemas[e.SchemaURL]
	switch {
	case s == nil:
		return nil
	case keyword == "anyOf":
		return s.AnyOf
	}
	return f.hints.oneOf[s]
}

// failsAt says whether the branch finds anything wrong at the place itself.
func (b branch) failsAt(place string, depth int) bool {
	return slices.ContainsFunc(b.list, func(v Violation) bool {
		return place == "" && len(v.Tokens) == depth || len(v.Tokens) == depth+1 && "/"+v.Tokens[depth] == place
	})
}

// maxIndirections bounds the references and allOfs that are followed to find a
// const or an enum.
const maxIndirections = 16

// constrains says whether a schema has a const or an enum at the place.
func (h hints) constrains(s *jsonschema.Schema, place string, indirections int) bool {
	if s == nil || indirections > maxIndirections {
		return false
	}
	if place == "" && h.values[s] {
		return true
	}
	if name, below := strings.CutPrefix(place, "/"); below {
		if member := s.Properties[name]; member != nil && h.constrains(member, "", indirections+1) {
			return true
		}
	}
	for _, same := range append(present([]*jsonschema.Schema{s.Ref}), s.AllOf...) {
		if h.constrains(same, place, indirections+1) {
			return true
		}
	}
	return false
}

const (
	shownBranches = 3
	shownLeaves   = 2
	longestLeaf   = 64 // bytes
)

// reasonNoneFits names what some of the alternatives ask for. depth is how many
// tokens lead to the union.
func reasonNoneFits(keyword string, alternatives int, left []branch, depth int) string {
	var b strings.Builder
	if keyword == "oneOf" {
		fmt.Fprintf(&b, "must fit exactly one of %d alternatives", alternatives)
	} else {
		fmt.Fprintf(&b, "must fit any of %d alternatives", alternatives)
	}
	for i, alternative := range left {
		if i == shownBranches {
			break
		}
		fmt.Fprintf(&b, "; [%d] ", alternative.number)
		for j, v := range alternative.list {
			if j == shownLeaves {
				b.WriteString(", ...")
				break
			}
			if j > 0 {
				b.WriteString(", ")
			}
			if len(v.Tokens) > depth {
				b.WriteString(quote(pointer(v.Tokens[depth:]), 32) + " ")
			}
			b.WriteString(cut(v.Reason, longestLeaf))
		}
	}
	return b.String()
}
