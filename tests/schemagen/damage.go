package schemagen

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// The kinds of damage.
const (
	KindWrongType  = "wrong type"
	KindNull       = "null not allowed"
	KindJSONString = "string that holds JSON"
	KindMissing    = "missing required"
	KindUnexpected = "unexpected property"
	KindName       = "bad property name"
	KindBelow      = "below minimum"
	KindAbove      = "above maximum"
	KindMultiple   = "not a multiple"
	KindShort      = "too short"
	KindLong       = "too long"
	KindPattern    = "bad pattern"
	KindFew        = "too few items"
	KindMany       = "too many items"
	KindRepeated   = "repeated items"
	KindEnum       = "not in enum"
	KindConst      = "other const"
)

const (
	payloadsToDamage = 12 // two with every optional member, one bare, the others mixed
	perPlace         = 2  // damages of one kind at one path that are kept
)

// Damaged returns payloads with one damage each, made from fresh valid payloads: every
// kind of damage that fits somewhere, at every place that the payloads have. A damage
// inside a union is left out unless the other branches refuse it for certain.
func (g *Generator) Damaged() []Damaged {
	var out []Damaged
	kept := map[[2]string]int{}
	for i := range payloadsToDamage {
		mode := mixed
		if i < 2 {
			mode = full
		} else if i == 2 {
			mode = bare
		}
		b := g.mustBuild(mode)
		for _, p := range b.places {
			old, _ := lookup(b.payload, p.path)
			for _, c := range b.changes(p, old) {
				path := pointer(slices.Concat(p.path, c.below))
				payload := replace(b.payload, p.path, c.value)
				key := [2]string{c.kind, path}
				if kept[key] < perPlace && b.certain(p, payload) {
					kept[key]++
					out = append(out, Damaged{payload, path, c.kind})
				}
			}
		}
	}
	return out
}

// certain says whether no branch that was not picked could accept the damaged payload.
func (b *builder) certain(p place, payload any) bool {
	for _, u := range p.open {
		v, _ := lookup(payload, u.path)
		if !b.refusedBy(u, v) {
			return false
		}
	}
	return true
}

// change is another value for a place. The damage is there, or at the member named in below.
type change struct {
	kind  string
	value any
	below []string
}

// changes returns the values that break exactly one of the keywords of a place.
func (b *builder) changes(p place, old any) []change {
	out := b.otherTypes(p.kw, old)
	if members, listed := choices(p.kw); listed {
		return append(out, b.otherChoices(p.kw, members)...)
	}
	switch v := old.(type) {
	case json.Number:
		out = append(out, otherNumbers(p.kw, v)...)
	case string:
		out = append(out, otherTexts(p.kw, v)...)
	case []any:
		out = append(out, b.otherLists(p, v)...)
	case map[string]any:
		out = append(out, b.otherObjects(p, v)...)
	}
	return out
}

func (b *builder) otherTypes(kw map[string]any, old any) []change {
	if _, ok := kw["type"]; !ok {
		return nil
	}
	allowed := allowedTypes(kw)
	var out []change
	if !hasType(nil, allowed) {
		out = append(out, change{KindNull, nil, nil})
	}
	if !hasType("", allowed) && (hasType([]any{}, allowed) || hasType(map[string]any{}, allowed)) {
		if text, ok := encoded(old); ok {
			out = append(out, change{KindJSONString, text, nil})
		}
	}
	others := []any{"text", json.Number("7"), json.Number("1.5"), true, []any{}, map[string]any{}}
	switch v := old.(type) { // the values that a lenient reader would take for the right ones
	case json.Number:
		others = append(others, string(v), nearInteger(kw, v))
	case bool:
		others = append(others, strconv.FormatBool(v), json.Number("1"))
	case string:
		others = append(others, []any{v})
	}
	others = slices.DeleteFunc(others, func(v any) bool { return hasType(v, allowed) })
	b.rand.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	for _, v := range others[:min(perPlace, len(others))] {
		out = append(out, change{KindWrongType, v, nil})
	}
	return out
}

// nearInteger returns a number half a step away that is within the same bounds, if one is.
func nearInteger(kw map[string]any, v json.Number) any {
	s, half := numbersOf(kw, false), big.NewRat(1, 2)
	for _, r := range []*big.Rat{new(big.Rat).Add(rat(v), half), new(big.Rat).Sub(rat(v), half)} {
		if !s.below(r) && !s.above(r) {
			return decimal(r)
		}
	}
	return json.Number("0.5")
}

func encoded(v any) (string, bool) {
	switch v.(type) {
	case []any, map[string]any:
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(v)
		return strings.TrimSuffix(text.String(), "\n"), err == nil
	}
	return "", false
}

func (b *builder) otherChoices(kw map[string]any, members []any) []change {
	kind, allowed := KindEnum, allowedTypes(kw)
	if _, ok := kw["const"]; ok {
		kind = KindConst
	}
	near := []any{"", "no such choice"}
	for _, m := range members {
		switch m := m.(type) {
		case string:
			near = append(near, m+"x", m+" ", strings.ToUpper(m), strings.ToLower(m))
		case json.Number:
			near = append(near, decimal(new(big.Rat).Add(rat(m), big.NewRat(1, 1))))
		case bool:
			near = append(near, !m)
		}
	}
	near = slices.DeleteFunc(near, func(v any) bool { return contains(members, v) || !hasType(v, allowed) })
	b.rand.Shuffle(len(near), func(i, j int) { near[i], near[j] = near[j], near[i] })
	var out []change
	if _, ok := kw["type"]; !ok && !contains(members, nil) {
		out = append(out, change{KindNull, nil, nil})
	}
	for _, v := range near[:min(perPlace, len(near))] {
		out = append(out, change{kind, v, nil})
	}
	return out
}
