package schemadiff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			older, newer := decode(t, row.older), decode(t, row.newer)
			got := Diff(older, newer)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("Diff(%s, %s) (-want +got):\n%s", row.older, row.newer, diff)
			}
			for range 50 {
				if diff := cmp.Diff(got, Diff(older, newer)); diff != "" {
					t.Fatalf("Diff(%s, %s) is not the same again:\n%s", row.older, row.newer, diff)
				}
			}
			if !cmp.Equal(older, decode(t, row.older)) || !cmp.Equal(newer, decode(t, row.newer)) {
				t.Errorf("Diff(%s, %s) changed its input", row.older, row.newer)
			}
			for _, c := range got {
				if strings.ContainsFunc(c.What, func(r rune) bool { return r < ' ' || r > '~' }) {
					t.Errorf("not one line of ASCII: %q", c.What)
				}
			}
		})
	}
}

func TestDiffBackwards(t *testing.T) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			checkBackwards(t, decode(t, row.older), decode(t, row.newer))
		})
	}
}

// checkBackwards says that the way back has the changes of the way there, turned round.
func checkBackwards(t *testing.T, older, newer any) {
	t.Helper()
	want := severities(Diff(older, newer), flip)
	got := severities(Diff(newer, older), func(s Severity) Severity { return s })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("from %s to %s and back (-want +got):\n%s", canonical(older), canonical(newer), diff)
	}
}

func severities(changes []Change, turn func(Severity) Severity) map[Severity]int {
	count := map[Severity]int{}
	for _, c := range changes {
		count[turn(c.Severity)]++
	}
	return count
}

func TestDiffDepth(t *testing.T) {
	nest := func(depth int, inner string) any {
		return decode(t, strings.Repeat(`{"items":`, depth)+inner+strings.Repeat(`}`, depth))
	}
	tests := map[string]struct {
		depth int
		want  []Change
	}{
		"at the limit": {64, []Change{{strings.Repeat("/items", 64) + "/maxLength", Widened, "maxLength raised from 1 to 2"}}},
		"one beyond":   {65, []Change{{strings.Repeat("/items", 65), Changed, "changed, and nested too deep to be compared"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Diff(nest(test.depth, `{"maxLength":1}`), nest(test.depth, `{"maxLength":2}`))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("at depth %d (-want +got):\n%s", test.depth, diff)
			}
		})
	}
}

// Whatever value a keyword has, each other value is a difference and none panics.
func TestDiffAnyValue(t *testing.T) {
	keys := []string{"unknown", "x-a", "title", "type", "enum", "const", "required", "properties", "patternProperties",
		"additionalProperties", "additionalItems", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "items",
		"prefixItems", "contains", "not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentRequired",
		"dependentSchemas", "dependencies", "$defs", "definitions", "$ref", "$schema", "maxLength", "minLength", "maximum",
		"minContains", "multipleOf", "pattern", "format", "uniqueItems", "timeoutSeconds"}
	values := []any{nil, true, false, "", "string", json.Number("0"), json.Number("-1"), json.Number("1e999"), json.Number("text"),
		json.Number("1/2"), []any{}, []any{nil}, []any{"a"}, []any{true}, []any{map[string]any{}}, []any{json.Number("1")},
		map[string]any{}, map[string]any{"a": nil}, map[string]any{"a": true}, map[string]any{"a": []any{"b"}}, 1.5, 7, absent{}}
	wrap := func(key string, value any) any {
		if isAbsent(value) {
			return map[string]any{}
		}
		return map[string]any{key: value}
	}
	for _, key := range keys {
		for _, a := range values {
			for _, b := range values {
				older, newer := wrap(key, a), wrap(key, b)
				if got, equal := Diff(older, newer), Equal(older, newer); (len(got) == 0) != equal {
					t.Errorf("%v to %v: equal is %t, changes are %v", older, newer, equal, got)
				}
				checkBackwards(t, older, newer)
			}
		}
	}
}

func TestEqual(t *testing.T) {
	tests := map[string]struct {
		a, b string
		want bool
	}{
		"one by value":          {`1`, `1.0e0`, true},
		"zero with a sign":      {`-0`, `0`, true},
		"beyond 2^53":           {`9007199254740992`, `9007199254740993`, false},
		"exponents by text":     {`1e309`, `10e308`, false},
		"one exponent":          {`1e309`, `1e309`, true},
		"number and string":     {`1`, `"1"`, false},
		"order of members":      {`{"a":1,"b":[null,true]}`, `{"b":[null,true],"a":1}`, true},
		"order of items":        {`[1,2]`, `[2,1]`, false},
		"null is not no member": {`{"a":null}`, `{}`, false},
		"null by another name":  {`{"a":null}`, `{"b":null}`, false},
		"array and object":      {`[]`, `{}`, false},
		"false and null":        {`false`, `null`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := decode(t, test.a), decode(t, test.b)
			if got := Equal(a, b); got != test.want {
				t.Errorf("Equal(%s, %s) = %t", test.a, test.b, got)
			}
			if got := canonical(a) == canonical(b); got != test.want {
				t.Errorf("canonical texts of %s and %s: equal is %t", test.a, test.b, got)
			}
		})
	}
}

func TestShow(t *testing.T) {
	var many []any
	for i := range 8 {
		many = append(many, fmt.Sprint(i))
	}
	got := []string{show(strings.Repeat("a", 46)), show(strings.Repeat("a", 47)), show("\x1b[2J\u202e"), showAll(many)}
	want := []string{`"` + strings.Repeat("a", 46) + `"`, `"` + strings.Repeat("a", 44) + "...", `"\x1b[2J\u202e"`, `"0", "1", "2", "3", "4", "5", and 2 more`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func decode(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}
