package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// grower makes schemas and payloads out of few names and values, so that they meet.
type grower struct{ *rand.Rand }

func (g grower) pick(list ...any) any { return list[g.IntN(len(list))] }

func (g grower) key() string { return string(rune('a' + g.IntN(3))) }

func (g grower) small() json.Number { return json.Number(fmt.Sprint(g.IntN(4))) }

func (g grower) scalar() any {
	return g.pick(nil, true, false, "", "a", "ab", "x1", json.Number("0"), json.Number("1.0"), json.Number("10e-1"), json.Number("2.5"), json.Number("-3"))
}

func (g grower) value(depth int) any {
	if depth == 0 || g.IntN(3) == 0 {
		return g.scalar()
	}
	if g.IntN(2) == 0 {
		list := []any{}
		for range g.IntN(4) {
			list = append(list, g.value(depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range g.IntN(4) {
		object[g.key()] = g.value(depth - 1)
	}
	return object
}

func (g grower) list(depth int) []any {
	list := []any{g.schema(depth)}
	for range g.IntN(3) {
		list = append(list, g.schema(depth))
	}
	return list
}

func (g grower) names() []any {
	names := []any{}
	for _, name := range []string{"a", "b", "c"} {
		if g.IntN(2) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// schema makes a schema of draft 2020-12.
func (g grower) schema(depth int) any {
	if g.IntN(8) == 0 {
		return g.IntN(4) > 0
	}
	s := map[string]any{}
	for range 1 + g.IntN(3) {
		g.keyword(s, depth)
	}
	return s
}

func (g grower) keyword(s map[string]any, depth int) {
	deeper := depth - 1
	if depth == 0 {
		switch g.IntN(3) {
		case 0:
			s["$ref"] = "#/$defs/" + g.key()
		default:
			g.assertion(s)
		}
		return
	}
	switch g.IntN(16) {
	case 0:
		s["properties"] = map[string]any{g.key(): g.schema(deeper), g.key(): g.schema(deeper)}
	case 1:
		s["patternProperties"] = map[string]any{g.pick("a", "^[ab]$", "c|b").(string): g.schema(deeper)}
	case 2:
		s["additionalProperties"] = g.schema(deeper)
	case 3:
		s["items"] = g.schema(deeper)
	case 4:
		s["prefixItems"] = g.list(deeper)
	case 5:
		s["contains"] = g.schema(deeper)
		s["minContains"] = g.small()
	case 6:
		s["propertyNames"] = g.schema(deeper)
	case 7:
		s["anyOf"] = g.list(deeper)
	case 8:
		s["oneOf"] = g.list(deeper)
	case 9:
		s["allOf"] = g.list(deeper)
	case 10:
		s["not"] = g.schema(deeper)
	case 11:
		s["if"], s["then"], s["else"] = g.schema(deeper), g.schema(deeper), g.schema(deeper)
	case 12:
		s["dependentSchemas"] = map[string]any{g.key(): g.schema(deeper)}
	case 13:
		s["unevaluatedProperties"] = g.schema(0)
	case 14:
		s["unevaluatedItems"] = g.schema(0)
	default:
		g.assertion(s)
	}
}

func (g grower) assertion(s map[string]any) {
	switch g.IntN(11) {
	case 0:
		s["type"] = g.pick("null", "boolean", "integer", "number", "string", "array", "object")
	case 1:
		s["type"] = []any{"object", g.pick("null", "array", "string")}
	case 2:
		s["enum"] = []any{g.value(1), g.value(2), g.scalar()}
	case 3:
		s["const"] = g.value(1)
	case 4:
		s["required"] = g.names()
	case 5:
		s["uniqueItems"] = true
	case 6:
		s["pattern"] = g.pick("^a", "b$", "x[0-9]")
	case 7:
		s[g.pick("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties").(string)] = g.small()
	case 8:
		s[g.pick("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum").(string)] = g.small()
	case 9:
		s["multipleOf"] = g.pick(json.Number("1"), json.Number("0.5"), json.Number("2"))
	default:
		s["dependentRequired"] = map[string]any{g.key(): g.names()}
	}
}

func (g grower) document() map[string]any {
	defs := map[string]any{}
	for _, name := range []string{"a", "b", "c"} {
		defs[name] = g.schema(3)
	}
	root := map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs}
	for range 1 + g.IntN(4) {
		g.keyword(root, 3)
	}
	return root
}

// tally counts what came of random payloads.
type tally struct{ compiled, valid, invalid, spent int }

// sameVerdicts puts random payloads to a random schema: our verdict is that of the
// validator alone, or the budget is spent, and then by no more than twice.
func (n *tally) sameVerdicts(t *testing.T, seed uint64) {
	t.Helper()
	g := grower{rand.New(rand.NewPCG(seed, 0))}
	text, _ := json.Marshal(g.document())
	o := asListed
	o.Limits.Steps = 1000
	s, _, err := Compile("t", decode(string(text)), o)
	if err != nil {
		return
	}
	n.compiled++
	bare := jsonschema.NewCompiler()
	if err := bare.AddResource("fw://t.json", decode(string(text))); err != nil {
		t.Fatal(err)
	}
	validator := bare.MustCompile("fw://t.json")
	for range 8 {
		value := g.value(4)
		shown, _ := json.Marshal(value)
		list, err := s.Validate(context.Background(), value)
		if spent, limit := s.pool.first.budget.used, o.Limits.Steps+o.Limits.StepsPerValue*valuesIn(value); spent > 2*limit {
			t.Fatalf("%s against %s: %d steps of %d", shown, text, spent, limit)
		}
		want := validator.Validate(value)
		switch {
		case errors.Is(err, ErrBudget):
			n.spent++
		case err != nil:
			t.Fatalf("%s against %s: %v", shown, text, err)
		case (want == nil) != (len(list) == 0):
			t.Fatalf("%s against %s:\nthe validator alone says %v,\nwe say %v", shown, text, want, list)
		case len(list) == 0:
			n.valid++
		default:
			n.invalid++
		}
	}
}

// FuzzRandomSchema holds that rebuilding a schema, and the budget, change no verdict.
func FuzzRandomSchema(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64) { new(tally).sameVerdicts(t, seed) })
}

// A part of what the fuzz target does at length.
func TestRandomSchemas(t *testing.T) {
	var n tally
	for seed := range uint64(250) {
		n.sameVerdicts(t, seed)
	}
	t.Logf("%d schemas compile; %d payloads valid, %d not, %d beyond the budget", n.compiled, n.valid, n.invalid, n.spent)
	if n.compiled < 100 || n.valid < 200 || n.invalid < 200 {
		t.Error("the generator has lost its aim")
	}
}
