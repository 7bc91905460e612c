package schema

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All that is wrong is reported, also where one keyword used to hide another.
const everything = `{"type": "object", "additionalProperties": false, "required": ["r1", "r2"],
	"properties": {"s": {"type": "string", "minLength": 5, "pattern": "^x", "format": "date"}, "n": {"minimum": 5, "multipleOf": 2},
		"l": {"items": {"type": "integer"}, "maxItems": 1, "contains": {"const": 7}}, "u": {"uniqueItems": true}, "p": {"propertyNames": {"maxLength": 1}}},
	"allOf": [{"if": {"required": ["s"]}, "then": {"required": ["t"]}}, {"properties": {"n": {"maximum": 0}}, "minProperties": 9}],
	"dependencies": {"n": ["d2", "d1"], "l": {"required": ["d3"]}}}`

func TestEveryViolationIsReported(t *testing.T) {
	var got []string
	for _, v := range violations(t, everything, `{"s": "abc", "n": 3, "l": ["a", 1, "b"], "u": [1, 1], "p": {"long": 1}, "u1": 1, "u2": 2}`) {
		got = append(got, pointer(v.Tokens)+" "+v.Keyword+" "+v.Location)
	}
	want := []string{
		" minProperties #/allOf/1/minProperties",
		"/d1 dependencies #/dependencies", "/d2 dependencies #/dependencies", "/d3 required #/dependencies/l/required",
		"/l contains #/properties/l/contains", "/l maxItems #/properties/l/maxItems", "/l/0 type #/properties/l/items/type", "/l/2 type #/properties/l/items/type",
		"/n maximum #/allOf/1/properties/n/maximum", "/n minimum #/properties/n/minimum", "/n multipleOf #/properties/n/multipleOf",
		"/p/long propertyNames #/properties/p/propertyNames",
		"/r1 required #/required", "/r2 required #/required",
		"/s format #/properties/s/format", "/s minLength #/properties/s/minLength", "/s pattern #/properties/s/pattern",
		"/t required #/allOf/0/then/required", "/u/1 uniqueItems #/properties/u/uniqueItems",
		"/u1 additionalProperties #/additionalProperties", "/u2 additionalProperties #/additionalProperties",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A missing property is reported where it would be, an unexpected one where it is.
func TestPropertiesAreReportedAtTheirOwnPath(t *testing.T) {
	document := `{"properties": {"x": {"items": {"required": ["b", "a/c", "a~d"], "properties": {"a": {}}, "additionalProperties": false}}}}`
	want := []Violation{
		{Tokens: []string{"x", "0", "a/c"}, Keyword: "required", Reason: reasonMissing, Location: "#/properties/x/items/required"},
		{Tokens: []string{"x", "0", "a~d"}, Keyword: "required", Reason: reasonMissing, Location: "#/properties/x/items/required"},
		{Tokens: []string{"x", "0", "b"}, Keyword: "required", Reason: reasonMissing, Location: "#/properties/x/items/required"},
		{Tokens: []string{"x", "0", "no/1"}, Keyword: "additionalProperties", Reason: reasonUnexpected, Location: "#/properties/x/items/additionalProperties"},
		{Tokens: []string{"x", "0", "no/2"}, Keyword: "additionalProperties", Reason: reasonUnexpected, Location: "#/properties/x/items/additionalProperties"},
	}
	if diff := cmp.Diff(want, violations(t, document, `{"x": [{"a": 1, "no/2": 1, "no/1": 1}]}`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOrder(t *testing.T) {
	for name, c := range map[string]struct {
		document, value string
		want            []string
	}{
		"indexes are numbers": {
			`{"items": {"type": "null"}}`, `[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]`,
			[]string{"/0 type", "/1 type", "/2 type", "/3 type", "/4 type", "/5 type", "/6 type", "/7 type", "/8 type", "/9 type", "/10 type", "/11 type"},
		},
		"indexes before names": {
			`{"additionalProperties": false}`, `{"b": 1, "2": 1, "11": 1, "01": 1, "a": 1, "-1": 1, "": 1, "99999999999999999999": 1}`,
			[]string{"/2 additionalProperties", "/11 additionalProperties", "/99999999999999999999 additionalProperties", "/ additionalProperties", "/-1 additionalProperties", "/01 additionalProperties", "/a additionalProperties", "/b additionalProperties"},
		},
		"shorter path first": {
			`{"properties": {"a": {"maxItems": 0, "items": {"items": {"type": "null"}, "maxItems": 0}}}, "maxProperties": 0}`, `{"a": [[1], [1]]}`,
			[]string{" maxProperties", "/a maxItems", "/a/0 maxItems", "/a/0/0 type", "/a/1 maxItems", "/a/1/0 type"},
		},
		"keywords by name": {
			`{"pattern": "^x", "minLength": 2, "format": "date", "not": {}}`, `"a"`,
			[]string{" format", " minLength", " not", " pattern"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lines(violations(t, c.document, c.value))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What two branches say alike is said once, from the first place that says it.
func TestRepeatedViolationsCollapse(t *testing.T) {
	document := `{"allOf": [{"$ref": "#/definitions/z"}, {"$ref": "#/definitions/a"}], "minimum": 5, "definitions": {"a": {"minimum": 5}, "z": {"minimum": 5, "maximum": 2}}}`
	want := []Violation{
		{Tokens: []string{}, Keyword: "maximum", Reason: "is 3 but must be at most 2", Location: "#/definitions/z/maximum"},
		{Tokens: []string{}, Keyword: "minimum", Reason: "is 3 but must be at least 5", Location: "#/definitions/a/minimum"},
	}
	if diff := cmp.Diff(want, violations(t, document, `3`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Two reasons at one place are two violations, also under one keyword.
func TestSeveralReasonsAtOnePlace(t *testing.T) {
	document := `{"dependencies": {"b": ["x"], "c": ["x"], "a": ["x"]}}`
	want := []Violation{
		{Tokens: []string{"x"}, Keyword: "dependencies", Reason: reasonNeeded("a"), Location: "#/dependencies"},
		{Tokens: []string{"x"}, Keyword: "dependencies", Reason: reasonNeeded("b"), Location: "#/dependencies"},
		{Tokens: []string{"x"}, Keyword: "dependencies", Reason: reasonNeeded("c"), Location: "#/dependencies"},
	}
	if diff := cmp.Diff(want, violations(t, document, `{"a": 1, "b": 1, "c": 1}`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A union never lists duties that contradict each other.
func TestUnions(t *testing.T) {
	for name, c := range map[string]struct {
		document, value string
		want            []string
	}{
		"one alternative of the right type speaks for itself": {
			`{"properties": {"x": {"anyOf": [{"type": "object", "required": ["id"], "additionalProperties": false}, {"type": "null"}]}}}`, `{"x": {"no": 1}}`,
			[]string{"/x/id required " + reasonMissing, "/x/no additionalProperties " + reasonUnexpected},
		},
		"several of the right type are one entry": {
			`{"oneOf": [{"required": ["a"], "additionalProperties": false}, {"required": ["b"], "additionalProperties": false}]}`, `{"c": 1}`,
			[]string{` oneOf must fit exactly one of 2 alternatives; [1] "/a" required property is missing, "/c" unexpected property; the schema allows no others; [2] "/b" required property is missing, "/c" unexpected property; the schema allows no others`},
		},
		"none of the right type is one entry": {
			`{"items": {"oneOf": [{"type": "string"}, {"type": ["null", "object"]}, {"type": "string"}]}}`, `[[], "x"]`,
			[]string{"/0 oneOf is an array but must be an object, a string or null", "/1 oneOf fits alternatives 1 and 3 of the schema but must fit exactly one"},
		},
		"three of many are named": {
			`{"anyOf": [{"required": ["a", "aa", "aaa"]}, {"type": "null"}, {"required": ["b"]}, {"required": ["c"]}, {"required": ["d"]}]}`, `{}`,
			[]string{` anyOf must fit any of 5 alternatives; [1] "/a" required property is missing, "/aa" required property is missing, ...; [3] "/b" required property is missing; [4] "/c" required property is missing`},
		},
		"a discriminator picks": {
			`{"oneOf": [{"properties": {"t": {"const": "a"}, "x": {"type": "string"}}, "required": ["x"]}, {"properties": {"t": {"const": "b"}, "y": {"type": "integer"}}, "required": ["y"]}]}`, `{"t": "b", "y": "1"}`,
			[]string{"/y type is a string but must be an integer"},
		},
		"a discriminator picks through references": {
			`{"items": {"anyOf": [{"$ref": "#/definitions/a"}, {"allOf": [{"$ref": "#/definitions/b"}, {"required": ["z"]}]}, {"type": "null"}]}, "definitions": {
				"a": {"properties": {"t": {"enum": ["a", "A"]}}, "required": ["x"]}, "b": {"properties": {"t": {"$ref": "#/definitions/tb"}}, "required": ["y"]}, "tb": {"const": "b"}}}`, `[{"t": "A"}, {"t": "b"}]`,
			[]string{"/0/x required " + reasonMissing, "/1/y required " + reasonMissing, "/1/z required " + reasonMissing},
		},
		"a wrong discriminator is one entry": {
			`{"properties": {"u": {"anyOf": [{"properties": {"t": {"const": "a"}}, "required": ["x"]}, {"properties": {"t": {"enum": ["b", "a"]}}, "required": ["y"]}]}}}`, `{"u": {"t": "c"}}`,
			[]string{`/u/t enum must be one of "a", "b"`},
		},
		"alternatives that are values are one entry": {
			`{"anyOf": [{"const": 1}, {"const": "a"}, {"enum": [1.0, null]}]}`, `2`,
			[]string{` enum must be one of 1, "a", null`},
		},
		"a value of the wrong type where the discriminator is": {
			`{"anyOf": [{"properties": {"t": {"const": "a"}}}, {"properties": {"t": {"type": "string", "const": "b"}}}]}`, `{"t": 1}`,
			[]string{` anyOf must fit any of 2 alternatives; [1] "/t" must be "a"; [2] "/t" is a number but must be a string`},
		},
		"a missing discriminator tells nothing": {
			`{"anyOf": [{"properties": {"t": {"const": "a"}}, "required": ["t"]}, {"properties": {"t": {"const": "b"}}, "required": ["t"]}]}`, `{}`,
			[]string{` anyOf must fit any of 2 alternatives; [1] "/t" required property is missing; [2] "/t" required property is missing`},
		},
		"a const that others know nothing of is no discriminator": {
			`{"anyOf": [{"properties": {"t": {"const": "a"}}}, {"required": ["x"]}]}`, `{"t": "b"}`,
			[]string{` anyOf must fit any of 2 alternatives; [1] "/t" must be "a"; [2] "/x" required property is missing`},
		},
		"a union within a union": {
			`{"anyOf": [{"anyOf": [{"type": "string"}, {"type": "array"}]}, {"type": "object", "required": ["a"]}]}`, `{}`,
			[]string{"/a required " + reasonMissing},
		},
		"keys of the caller are shown safely": {
			`{"additionalProperties": {"anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "null"}}, "required": ["b"]}]}}`, "{\"\u202e\": {\"b\": 1}}",
			[]string{"/\u202e anyOf must fit any of 2 alternatives; [1] \"/a\" required property is missing; [2] \"/b\" is a number but must be null"},
		},
		"a wrong type counts before what else is wrong": {
			`{"anyOf": [{"allOf": [{"minimum": 5}, {"type": "string"}, {"type": "array"}]}, {"type": "null"}]}`, `1`,
			[]string{" anyOf is a number but must be an array or null"},
		},
		"a wrong type further down is no such": {
			`{"anyOf": [{"properties": {"t": {"type": "string"}}}, {"type": "null"}]}`, `{"t": 1}`,
			[]string{"/t type is a number but must be a string"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range violations(t, c.document, c.value) {
				got = append(got, pointer(v.Tokens)+" "+v.Keyword+" "+v.Reason)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSameBytesInEveryRun(t *testing.T) {
	const value = `{"s": "abc", "n": 3, "l": ["a", 1, "b"], "u": [1, 1], "p": {"long": 1, "longer": 2}, "u1": 1, "u2": 2, "u3": 3, "u4": 4}`
	s := mustCompile(t, everything)
	var first string
	for i := range 50 {
		if i%10 == 0 {
			s = mustCompile(t, everything)
		}
		list, err := s.Validate(context.Background(), decode(value))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		if diff := cmp.Diff(first, string(text)); diff != "" {
			t.Fatalf("run %d (-first +now):\n%s", i, diff)
		}
	}
}

func TestConcurrentValidation(t *testing.T) {
	s := mustCompile(t, `{"properties": {"a": {"$ref": "#/definitions/d"}}, "definitions": {"d": {"type": "string", "format": "date", "maxLength": 3}}, "propertyNames": {"maxLength": 1}}`)
	value := decode(`{"a": "xxxx", "bb": 1}`)
	want := []string{"/a format", "/a maxLength", "/bb propertyNames"}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				got, err := s.Validate(context.Background(), value)
				if err != nil || cmp.Diff(want, lines(got)) != "" {
					t.Errorf("%v, %v", got, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// The validator's own faults are errors, never an empty list.
func TestInternalFaultsAreErrors(t *testing.T) {
	s := mustCompile(t, `{"minimum": 1, "properties": {"a": {"type": "integer"}, "b": {"anyOf": [{"additionalProperties": {"type": "null"}}, {"required": ["x"]}]}}}`)
	for name, value := range map[string]any{
		"a number the validator panics on": json.Number("1e9999999"),
		"a value that is no JSON":          make(chan int),
		"one beside a violation":           map[string]any{"a": "x", "b": struct{}{}},
		"one within a union":               map[string]any{"b": map[string]any{"c": struct{}{}}},
	} {
		if list, err := s.Validate(context.Background(), value); err == nil || list != nil {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

// A number without a fraction is an integer, however it is written (draft 6 and later,
// Validation, section on type).
func TestIntegralFloatsAreIntegers(t *testing.T) {
	for value, valid := range map[string]bool{`1.0`: true, `10e-1`: true, `1e3`: true, `-0.0`: true, `1.5`: false, `1e-1`: false} {
		for _, draft := range []string{in7, in2020} {
			if got := len(violations(t, `{`+draft+`, "type": "integer"}`, value)) == 0; got != valid {
				t.Errorf("%s in %s: %v, want %v", value, draft, got, valid)
			}
		}
	}
}
