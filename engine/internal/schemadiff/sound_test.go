package schemadiff

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestDiffSound asks a validator: where all changes narrow, no instance is valid now
// that was not before, and so on.
func TestDiffSound(t *testing.T) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			checkSound(t, decode(t, row.older), decode(t, row.newer))
		})
	}
}

// TestDiffSoundRandom does the same with pairs of random schemas, where keywords meet
// that no row brings together.
func TestDiffSoundRandom(t *testing.T) {
	pairs, judged := 4000, 0
	if testing.Short() {
		pairs = 400
	}
	for seed := range pairs {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 1))}
		older := g.document()
		newer := g.mutate(older, 3)
		if checkSound(t, older, newer) {
			judged++
		}
		checkBackwards(t, older, newer)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d of %d pairs compile and have a severity to be checked", judged, pairs)
	if judged < pairs/5 {
		t.Errorf("only %d of %d pairs have been checked", judged, pairs)
	}
}

// checkSound says whether there was anything to check.
func checkSound(t *testing.T, older, newer any) bool {
	t.Helper()
	total := Text
	changes := Diff(older, newer)
	for _, c := range changes {
		total = both(total, c.Severity)
	}
	if total == Changed {
		return false
	}
	before, after := compile(older), compile(newer)
	if before == nil || after == nil {
		return false // no valid schema: it accepts nothing that a severity could be about
	}
	for _, instance := range instances(older, newer) {
		was, is := before.Validate(instance) == nil, after.Validate(instance) == nil
		if is && !was && total != Widened || was && !is && total != Narrowed {
			t.Errorf("%s was valid: %t, is valid: %t, but from\n%s to\n%s all is %s: %v",
				canonical(instance), was, is, canonical(older), canonical(newer), total, changes)
			return true
		}
	}
	return true
}

// compile returns nil for a schema that is not valid. Formats are asserted.
func compile(document any) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:schema", document); err != nil {
		return nil
	}
	compiled, err := c.Compile("mem:schema")
	if err != nil {
		return nil
	}
	return compiled
}

// instances returns small values out of what two schemas mention.
func instances(documents ...any) []any {
	names := []string{"zz"}
	scalars := []any{nil, true, false, "", "a", "ab", "ABC", "2020-01-31", json.Number("0"), json.Number("1"), json.Number("1.5"), json.Number("-1"), json.Number("6")}
	var mentioned []any
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			if len(v) < 8 {
				names = append(names, v)
			}
		case json.Number:
			if n, err := v.Int64(); err == nil && n >= 0 && n < 40 {
				for _, length := range []int64{n - 1, n, n + 1} {
					scalars = append(scalars, json.Number(fmt.Sprint(length)), strings.Repeat("b", int(max(length, 0))))
				}
			}
			if rational(v) != nil {
				scalars = append(scalars, v)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, key := range union(v, nil) {
				switch key {
				case "enum", "const", "default":
					mentioned = append(mentioned, v[key])
				case "properties", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies":
					members, _ := v[key].(map[string]any)
					names = append(names, union(members, nil)...)
				}
				walk(v[key])
			}
		}
	}
	for _, document := range documents {
		walk(document)
	}
	for _, value := range mentioned {
		list, _ := value.([]any)
		scalars = append(append(scalars, list...), value)
	}
	names = distinct(names)
	all := slices.Concat(scalars, []any{map[string]any{}, []any{}, []any{nil, nil, nil, nil}})
	few := []any{nil, "a", "ab", json.Number("1"), map[string]any{}, map[string]any{"a": nil}, []any{}}
	for _, value := range scalars {
		all = append(all, []any{value}, []any{"a", value}, []any{value, nil}, []any{"ab", "a", value})
	}
	for i, name := range names {
		for _, value := range slices.Concat(scalars, few) {
			all = append(all, map[string]any{name: value}, map[string]any{name: map[string]any{name: value}}, map[string]any{name: []any{value}})
		}
		for _, other := range names[i+1:] {
			for _, value := range few {
				all = append(all, map[string]any{name: value, other: "a"}, map[string]any{name: "ab", other: value},
					map[string]any{name: value, other: value, "zz": value})
			}
		}
	}
	return all
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// generator makes schemas of few words, so that two of them speak of the same values.
type generator struct{ *rand.Rand }

func (g generator) document() any {
	document, _ := g.schema(3).(map[string]any)
	if document == nil {
		document = map[string]any{}
	}
	if g.IntN(3) == 0 {
		document["$schema"] = "http://json-schema.org/draft-07/schema#"
	}
	if g.IntN(3) == 0 {
		document["$defs"] = map[string]any{"d": g.schema(2), "e": g.schema(1)}
	}
	return document
}

func (g generator) schema(depth int) any {
	switch g.IntN(8) {
	case 0:
		return g.IntN(3) > 0
	case 1:
		return map[string]any{}
	}
	schema := map[string]any{}
	for range 1 + g.IntN(3) {
		key := g.keyword(depth)
		schema[key] = g.value(key, depth-1)
	}
	return schema
}

var (
	simpleKeywords = []string{"type", "enum", "const", "required", "maxLength", "minLength", "maximum", "minItems", "maxItems",
		"minProperties", "maxProperties", "multipleOf", "uniqueItems", "pattern", "title"}
	schemaKeywords = []string{"properties", "properties", "properties", "patternProperties", "additionalProperties", "additionalProperties",
		"propertyNames", "items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "not", "if", "then", "else", "allOf", "anyOf", "oneOf",
		"dependentSchemas", "dependentRequired", "dependencies", "unevaluatedProperties", "unevaluatedItems", "$ref"}
)

func (g generator) keyword(depth int) string {
	if depth <= 0 || g.IntN(4) == 0 {
		return pick(g, simpleKeywords)
	}
	return pick(g, schemaKeywords)
}

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

func (g generator) value(key string, depth int) any {
	switch key {
	case "type":
		return pick(g, []any{"object", "string", "number", "integer", []any{"object", "array"}, []any{"string", "null"}})
	case "enum":
		return pick(g, []any{[]any{"a"}, []any{"ab", "a"}, []any{nil, json.Number("1")}})
	case "const":
		return pick(g, []any{"a", nil, json.Number("1")})
	case "required":
		return pick(g, []any{[]any{"a"}, []any{"a", "b"}, []any{"b", "a"}, []any{"c"}, []any{}})
	case "multipleOf":
		return pick(g, []any{json.Number("1"), json.Number("2"), json.Number("3"), json.Number("0.5")})
	case "uniqueItems":
		return g.IntN(2) == 0
	case "pattern":
		return pick(g, []any{"^a", "b$"})
	case "title":
		return pick(g, []any{"a", "b"})
	case "properties", "patternProperties", "dependentSchemas":
		members := map[string]any{}
		for range g.IntN(3) {
			members[pick(g, []string{"a", "b", "c"})] = g.schema(depth)
		}
		return members
	case "dependentRequired":
		return map[string]any{pick(g, []string{"a", "b"}): g.value("required", 0)}
	case "dependencies":
		return map[string]any{pick(g, []string{"a", "b"}): pick(g, []any{g.value("required", 0), g.schema(depth)})}
	case "allOf", "anyOf", "oneOf", "prefixItems":
		list := []any{g.schema(depth)}
		for range g.IntN(2) {
			list = append(list, g.schema(depth))
		}
		return list
	case "items":
		return pick(g, []any{g.schema(depth), g.schema(depth), g.value("prefixItems", depth)})
	case "$ref":
		return pick(g, []any{"#/$defs/d", "#/$defs/e", "#", "#/properties/a", "#/anyOf/0"})
	case "additionalProperties", "additionalItems", "propertyNames", "contains", "not", "if", "then", "else",
		"unevaluatedProperties", "unevaluatedItems":
		return pick(g, []any{g.schema(depth), true, false})
	}
	return json.Number(fmt.Sprint(g.IntN(4))) // a bound
}

// mutate returns a copy of a schema with one or a few changes in it.
func (g generator) mutate(schema any, depth int) any {
	keywords, ok := schema.(map[string]any)
	if !ok || len(keywords) == 0 && g.IntN(2) == 0 {
		return g.schema(depth)
	}
	fresh := map[string]any{}
	for _, key := range union(keywords, nil) {
		fresh[key] = keywords[key]
	}
	for range 1 + g.IntN(2) {
		key := g.keyword(depth)
		if present := union(fresh, nil); len(present) > 0 && g.IntN(3) > 0 {
			key = pick(g, present)
		}
		if key == "$schema" {
			continue
		}
		switch choice := g.IntN(6); {
		case choice == 0:
			delete(fresh, key)
		case choice == 1 || fresh[key] == nil:
			if key != "$defs" {
				fresh[key] = g.value(key, depth-1)
			}
		default:
			fresh[key] = g.within(key, fresh[key], depth-1)
		}
	}
	return fresh
}

// within changes something inside the value of a keyword.
func (g generator) within(key string, value any, depth int) any {
	switch v := value.(type) {
	case []any:
		if key != "allOf" && key != "anyOf" && key != "oneOf" && key != "prefixItems" && key != "items" {
			return g.value(key, depth)
		}
		list := slices.Clone(v)
		switch i := g.IntN(len(list)); g.IntN(4) {
		case 0:
			return append(list, g.schema(depth))
		case 1:
			if len(list) > 1 {
				return slices.Delete(list, i, i+1)
			}
			return list
		case 2:
			slices.Reverse(list)
			return list
		default:
			list[i] = g.mutate(list[i], depth)
			return list
		}
	case map[string]any:
		if !namedSchemas[key] {
			return g.mutate(v, depth)
		}
		members := map[string]any{}
		for name, member := range v {
			members[name] = member
		}
		name := pick(g, []string{"a", "b", "c", "d"})
		member, has := members[name]
		switch {
		case has && isSchema(member) && g.IntN(2) == 0:
			members[name] = g.mutate(member, depth)
		case has && key != "$defs":
			delete(members, name)
		case key == "dependentRequired":
			members[name] = g.value("required", 0)
		default:
			members[name] = g.schema(depth)
		}
		return members
	case bool:
		return g.value(key, depth)
	}
	return g.value(key, depth)
}
