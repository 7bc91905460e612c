package schemagen

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"unicode/utf8"
)

// The modes of a payload: optional members all present, left to chance, all absent.
const (
	full = iota
	mixed
	bare
	modes
)

const (
	maxDepth  = 40    // of a payload, in members and items; recursion that needs more has no payload
	calmDepth = 6     // below it, only what is required is made
	calmSize  = 100   // places after which only what is required is made
	maxNodes  = 20000 // tries of one payload
	maxLength = 4096  // code points of a string, and items of an array, that are still made
	attempts  = 20    // branches drawn for one union
)

// Valid returns a fresh payload that the schema accepts.
func (g *Generator) Valid() any {
	mode := mixed
	if n := g.rand.IntN(8); n < 2 {
		mode = []int{full, bare}[n]
	}
	return g.mustBuild(mode).payload
}

func (g *Generator) mustBuild(mode int) *builder {
	var err error
	for range attempts {
		var b *builder
		if b, err = g.build(mode); err == nil {
			return b
		}
	}
	panic("schemagen: New made payloads, and now: " + err.Error())
}

func (g *Generator) build(mode int) (*builder, error) {
	b := &builder{Generator: g, mode: mode, nodes: maxNodes}
	var err error
	b.payload, err = b.value(g.doc.root, nil, nil)
	return b, err
}

// builder makes one payload and keeps what was asked at each place of it.
type builder struct {
	*Generator
	mode    int
	nodes   int
	payload any
	places  []place
}

type place struct {
	path []string
	kw   map[string]any // all that is asked of this place, the picked branches included
	open []openUnion    // the unions of this place and of those around it
}

// openUnion remembers the branches that were not picked.
type openUnion struct {
	path   []string
	base   map[string]any
	one    bool
	others []any
}

func (b *builder) fail(path []string, err error) error {
	return fmt.Errorf("payload at %q: %w", pointer(path), err)
}

// calm says that nothing is added that could be left out.
func (b *builder) calm(path []string) bool {
	return b.mode == bare || len(path) > calmDepth || len(b.places) > calmSize
}

// value makes a value that fits a schema. Branches of unions are drawn until they go together.
func (b *builder) value(s any, path []string, open []openUnion) (any, error) {
	kw, unions, err := b.doc.flat(s, 0)
	if err != nil {
		return nil, b.fail(path, err)
	}
	known := len(b.places)
	for range attempts {
		if b.nodes--; b.nodes < 0 || len(path) > maxDepth {
			return nil, b.fail(path, errors.New("the schema goes on without end"))
		}
		var v any
		if v, err = b.pick(kw, unions, path, open); err == nil {
			return v, nil
		}
		b.places = b.places[:known]
		if len(unions) == 0 {
			break
		}
	}
	return nil, err
}

func (b *builder) pick(kw map[string]any, unions []union, path []string, open []openUnion) (any, error) {
	outer := len(open)
	for len(unions) > 0 {
		u := unions[0]
		i := b.rand.IntN(len(u.branches))
		others := slices.Delete(slices.Clone(u.branches), i, i+1)
		open = append(slices.Clone(open), openUnion{path, kw, u.one, others})
		more, inner, err := b.doc.flat(u.branches[i], 0)
		if err == nil {
			kw, err = meet(kw, more)
		}
		if err != nil {
			return nil, b.fail(path, err)
		}
		unions = append(slices.Clone(unions[1:]), inner...)
	}
	b.places = append(b.places, place{path, kw, open})
	v, err := b.fit(kw, path, open)
	if err != nil {
		return nil, err
	}
	for _, u := range open[outer:] {
		if u.one && !b.refusedBy(u, v) {
			return nil, b.fail(path, errors.New("cannot generate for oneOf: another branch may match"))
		}
	}
	return v, nil
}

// refusedBy says whether every branch that was not picked certainly refuses a value.
func (b *builder) refusedBy(u openUnion, v any) bool {
	return b.doc.refuses(u.base, v, 0) || !slices.ContainsFunc(u.others, func(s any) bool { return !b.doc.refuses(s, v, 0) })
}

// choices returns the values that enum and const leave.
func choices(kw map[string]any) ([]any, bool) {
	members, listed := kw["enum"].([]any)
	if c, ok := kw["const"]; ok {
		if listed && !contains(members, c) {
			return nil, true
		}
		return []any{c}, true
	}
	return members, listed
}

func allowedTypes(kw map[string]any) []any {
	if t, ok := kw["type"]; ok {
		return asList(t)
	}
	return types
}

func (b *builder) fit(kw map[string]any, path []string, open []openUnion) (any, error) {
	allowed := allowedTypes(kw)
	if members, ok := choices(kw); ok {
		for k := range kw {
			if k != "enum" && k != "const" && k != "type" && k != "format" {
				return nil, b.fail(path, fmt.Errorf("cannot generate for %s beside enum or const", k))
			}
		}
		members = slices.DeleteFunc(slices.Clone(members), func(v any) bool { return !hasType(v, allowed) })
		if len(members) == 0 {
			return nil, b.fail(path, errNever)
		}
		return members[b.rand.IntN(len(members))], nil
	}
	if len(kw) == 0 {
		return b.anything(2), nil
	}
	t := allowed[b.rand.IntN(len(allowed))]
	if _, ok := kw["type"]; !ok && kw["properties"] != nil && b.rand.IntN(4) > 0 {
		t = "object"
	}
	var v any
	var err error
	switch t {
	case "null":
	case "boolean":
		v = b.rand.IntN(2) == 0
	case "integer", "number":
		v, err = b.number(kw, t == "integer")
	case "string":
		v, err = b.text(kw)
	case "array":
		return b.array(kw, path, open)
	default:
		return b.object(kw, path, open)
	}
	if err != nil {
		return nil, b.fail(path, err)
	}
	return v, nil
}

// anything returns a value for a place of which nothing is asked.
func (b *builder) anything(depth int) any {
	switch n := b.rand.IntN(7); {
	case n == 0:
		return nil
	case n == 1:
		return true
	case n == 2:
		return json.Number([]string{"0", "-7", "1.5", "1e3", "9007199254740993"}[b.rand.IntN(5)])
	case n == 3 && depth > 0:
		return []any{b.anything(depth - 1), b.anything(depth - 1)}
	case n == 4 && depth > 0:
		return map[string]any{"a": b.anything(depth - 1), "type": b.anything(depth - 1)}
	}
	return texts[b.rand.IntN(len(texts))]
}

func (b *builder) number(kw map[string]any, whole bool) (any, error) {
	s := numbersOf(kw, whole)
	var fits []*big.Rat
	for _, r := range s.candidates(b.rand.IntN(1000)) {
		if s.holds(r) {
			fits = append(fits, r)
		}
	}
	if len(fits) == 0 {
		return nil, errors.New("cannot generate for these bounds")
	}
	n := decimal(fits[b.rand.IntN(len(fits))])
	if rat(n).IsInt() && b.rand.IntN(8) == 0 {
		n += ".0"
	}
	return n, nil
}

func (b *builder) text(kw map[string]any) (any, error) {
	least, most := count(kw, "minLength", 0), count(kw, "maxLength", -1)
	within := func(s string) bool {
		n := utf8.RuneCountInString(s)
		return n >= least && (most < 0 || n <= most)
	}
	if most >= 0 && most < least {
		return nil, errNever
	}
	pool := texts
	format, _ := kw["format"].(string)
	pattern, hasPattern := kw["pattern"].(string)
	switch {
	case hasPattern:
		pool = patterns[pattern].fit
	case len(formats[format]) > 0:
		pool = formats[format]
	case least > maxLength:
		return nil, errors.New("cannot generate for minLength: too long")
	case kw["minLength"] != nil || kw["maxLength"] != nil || b.rand.IntN(3) == 0:
		ends := []int{least, least + 1, least + b.rand.IntN(30)}
		if most >= 0 && most <= maxLength {
			ends = []int{least, most, min(least+1, most), least + b.rand.IntN(most-least+1)}
		}
		return b.letters(ends[b.rand.IntN(len(ends))]), nil
	}
	pool = slices.DeleteFunc(slices.Clone(pool), func(s string) bool { return !within(s) })
	if len(pool) == 0 {
		return nil, errors.New("no example has this length")
	}
	return pool[b.rand.IntN(len(pool))], nil
}

func (b *builder) letters(n int) string {
	text := make([]rune, n)
	for i := range text {
		text[i] = alphabet[b.rand.IntN(len(alphabet))]
	}
	return string(text)
}
