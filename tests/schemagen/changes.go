package schemagen

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

func otherNumbers(kw map[string]any, old json.Number) []change {
	asked := maps.Clone(kw)
	delete(asked, "format")
	whole := !hasType(json.Number("0.5"), allowedTypes(kw))
	s := numbersOf(asked, whole)
	unit := s.step
	if unit == nil {
		unit = big.NewRat(1, 1000)
	}
	var out []change
	add := func(kind string, r *big.Rat) { out = append(out, change{kind, decimal(r), nil}) }
	if s.low != nil {
		r := floor(s.low, unit)
		if !s.below(r) {
			r.Sub(r, unit)
		}
		if !s.above(r) && s.onStep(r) {
			add(KindBelow, r)
		}
	}
	if s.high != nil {
		r := new(big.Rat).Add(floor(s.high, unit), unit)
		if s.openHigh && s.onStep(s.high) {
			r = s.high
		}
		if !s.below(r) && s.onStep(r) {
			add(KindAbove, r)
		}
	}
	if kw["multipleOf"] == nil {
		return out
	}
	for _, delta := range []*big.Rat{big.NewRat(1, 1), big.NewRat(-1, 1), new(big.Rat).Quo(unit, big.NewRat(2, 1)), new(big.Rat).Quo(unit, big.NewRat(-2, 1))} {
		r := new(big.Rat).Add(rat(old), delta)
		if !s.onStep(r) && (!whole || r.IsInt()) && !s.below(r) && !s.above(r) {
			add(KindMultiple, r)
			break
		}
	}
	return out
}

func otherTexts(kw map[string]any, old string) []change {
	least, most := count(kw, "minLength", 0), count(kw, "maxLength", -1)
	if pattern, ok := kw["pattern"].(string); ok {
		var out []change
		for _, miss := range patterns[pattern].miss {
			if n := utf8.RuneCountInString(miss); n >= least && (most < 0 || n <= most) {
				out = append(out, change{KindPattern, miss, nil})
			}
		}
		return out // a string of another length might break the pattern too
	}
	var out []change
	if least > 0 {
		runes := []rune(old)
		out = append(out, change{KindShort, string(runes[:least-1]), nil})
		if least > 1 { // long enough in UTF-16 and UTF-8
			out = append(out, change{KindShort, strings.Repeat("😀", least-1), nil})
		}
	}
	if most >= 0 && most <= maxLength*16 {
		out = append(out, change{KindLong, strings.Repeat("x", most+1), nil})
	}
	return out
}

func (b *builder) otherLists(p place, old []any) []change {
	least, most := count(p.kw, "minItems", 0), count(p.kw, "maxItems", -1)
	var out []change
	if least > 0 {
		out = append(out, change{KindFew, old[:least-1], nil})
	}
	list := slices.Clone(old)
	if most >= 0 && most <= maxLength {
		var err error
		extra := &builder{Generator: b.Generator, mode: mixed, nodes: maxNodes}
		for len(list) <= most && err == nil {
			var v any
			v, err = extra.item(p.kw, list, p.path, nil)
			list = append(list, v)
		}
		if err == nil {
			out = append(out, change{KindMany, list, nil})
		}
	}
	if prefix, _ := p.kw["prefixItems"].([]any); p.kw["items"] == false && len(old) == len(prefix) && (most < 0 || len(old) < most) {
		out = append(out, change{KindMany, append(slices.Clone(old), "text"), nil})
	} else if p.kw["uniqueItems"] == true && len(old) > 0 && len(prefix) == 0 {
		repeated := append(slices.Clone(old), old[0])
		if most >= 0 && len(repeated) > most {
			repeated = repeated[:most]
			repeated[most-1] = old[0]
		}
		if len(repeated) > 1 {
			out = append(out, change{KindRepeated, repeated, nil})
		}
	}
	return out
}

func (b *builder) otherObjects(p place, old map[string]any) []change {
	var out []change
	required, _ := p.kw["required"].([]any)
	for _, name := range required {
		object := maps.Clone(old)
		delete(object, name.(string))
		out = append(out, change{KindMissing, object, []string{name.(string)}})
	}
	with := func(kind, name string, v any) {
		if _, taken := old[name]; !taken && !hasKey(p.kw["properties"], name) {
			object := maps.Clone(old)
			object[name] = v
			out = append(out, change{kind, object, []string{name}})
		}
	}
	rest := restOf(p.kw)
	if rest == false {
		for _, name := range []string{"unexpected", "a/b~c", "__proto__"} {
			with(KindUnexpected, name, "text")
		}
		return out
	}
	names, _, err := b.doc.flat(nameSchema(p.kw), 0)
	extra := &builder{Generator: b.Generator, mode: mixed, nodes: maxNodes}
	v, cannot := extra.value(rest, child(p.path, "x"), nil)
	if err != nil || cannot != nil {
		return out
	}
	names["type"] = "string"
	if choice, listed := choices(names); listed {
		for _, c := range b.otherChoices(names, choice) { // strings all: the type is set
			with(KindName, c.value.(string), v)
		}
	} else if sample, err := b.text(names); err == nil {
		for _, c := range otherTexts(names, sample.(string)) {
			with(KindName, c.value.(string), v)
		}
	}
	return out
}

func nameSchema(kw map[string]any) any {
	if s, ok := kw["propertyNames"]; ok {
		return s
	}
	return true
}
