package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// propertyNames used to be reported at a neighbour's path in some runs.
func TestPropertyNamesAreReportedInPlace(t *testing.T) {
	s := mustCompile(t, `{"propertyNames": {"pattern": "^[b-z]$"}, "additionalProperties": {"items": {"type": "integer"}}}`)
	want := []string{"/a propertyNames", "/b/0 type", "/c/1 type"}
	for range 50 {
		list, err := s.Validate(context.Background(), decode(`{"a": [1], "b": ["x"], "c": [1, "y"]}`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, lines(list)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

// The keywords that became extensions still count where only yes or no is asked.
func TestMovedKeywordsCountEverywhere(t *testing.T) {
	for _, c := range []struct {
		document, value string
		want            []string
	}{
		{`{"not": {"format": "date"}}`, `"2026-01-02"`, []string{" not"}},
		{`{"not": {"format": "date"}}`, `"x"`, nil},
		{`{"not": {"propertyNames": {"maxLength": 1}}}`, `{"a": 1}`, []string{" not"}},
		{`{"not": {"propertyNames": {"maxLength": 1}}}`, `{"ab": 1}`, nil},
		{`{"if": {"propertyNames": {"maxLength": 1}}, "then": false}`, `{"ab": 1}`, nil},
		{`{"oneOf": [{"format": "date"}, {"format": "ipv4"}]}`, `"1.2.3.4"`, nil},
		{`{"contains": {"format": "date"}}`, `["x"]`, []string{" contains"}},
		{`{` + in2020 + `, "properties": {"a": {"$dynamicRef": "#d"}}, "$defs": {"d": {"$dynamicAnchor": "d", "propertyNames": {"maxLength": 1}}}}`, `{"a": {"bb": 1}}`, []string{"/a/bb propertyNames"}},
	} {
		if diff := cmp.Diff(c.want, lines(violations(t, c.document, c.value))); diff != "" {
			t.Errorf("%s against %s (-want +got):\n%s", c.value, c.document, diff)
		}
	}
}

const cycle = "this schema applies itself to the same value without end"

func TestCyclesAndDoublingAreRefused(t *testing.T) {
	doubling := `{"definitions": {"d0": {"type": "string"}`
	for i := range 22 {
		doubling += fmt.Sprintf(`, "d%d": {"allOf": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]}`, i+1, i, i)
	}
	doubling += `}, "properties": {"a": {"$ref": "#/definitions/d22"}}}`
	const many = "more than 1000 subschemas apply to one value here"
	for name, c := range map[string]struct {
		document string
		want     []string
	}{
		"itself":                 {`{"$ref": "#"}`, []string{" " + cycle}},
		"within not":             {`{"properties": {"a": {"not": {"$ref": "#/properties/a"}}}}`, []string{"/properties/a " + cycle}},
		"within if":              {`{"properties": {"a": {"if": {"$ref": "#/properties/a"}, "then": false}}}`, []string{"/properties/a " + cycle}},
		"within a dependency":    {`{"dependencies": {"a": {"$ref": "#"}}}`, []string{" " + cycle}},
		"of two":                 {`{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"anyOf": [{"$ref": "#/definitions/a"}]}}, "properties": {"x": {"$ref": "#/definitions/a"}}}`, []string{"/definitions/a " + cycle}},
		"two of them":            {`{"properties": {"b": {"oneOf": [{"$ref": "#/properties/b"}]}, "a": {"not": {"$ref": "#/properties/a"}}}}`, []string{"/properties/a " + cycle, "/properties/b " + cycle}},
		"in an unused place":     {`{"definitions": {"a": {"not": {"$ref": "#/definitions/a"}}}}`, []string{"/definitions/a " + cycle}},
		"by $recursiveRef":       {`{` + in2019 + `, "$recursiveAnchor": true, "not": {"$recursiveRef": "#"}}`, []string{" " + cycle}},
		"by $dynamicRef":         {`{` + in2020 + `, "$dynamicAnchor": "x", "not": {"$dynamicRef": "#x"}}`, []string{" " + cycle}},
		"doubling by allOf":      {doubling, []string{"/definitions/d16 " + many, "/definitions/d8 " + many}},
		"below items is no such": {`{"items": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}}, "additionalProperties": {"not": {"$ref": "#"}}}`, nil},
		// The reference in b names y, but a validation that comes through w goes back to w.
		"by the dynamic scope": {`{` + in2020 + `, "$id": "https://x/a", "properties": {"p": {"$ref": "w"}},
			"$defs": {"w": {"$id": "w", "$dynamicAnchor": "x", "not": {"$ref": "b"}}, "b": {"$id": "b", "$dynamicRef": "#x", "$defs": {"y": {"$dynamicAnchor": "x"}}}}}`,
			[]string{"/$defs/b " + cycle}},
		// Nothing but the anchor leads to the branch of an if that is not there.
		"by an anchor alone": {`{` + in2020 + `, "$id": "https://x/a", "properties": {"p": {"$ref": "b"}}, "then": {"$dynamicAnchor": "x", "not": {"$ref": "b"}},
			"$defs": {"b": {"$id": "b", "$dynamicRef": "#x", "$defs": {"y": {"$dynamicAnchor": "x"}}}}}`,
			[]string{"/$defs/b " + cycle}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Compile("t", decode(c.document), asDraft7)
			var got []string
			for _, fault := range faultsIn(t, err) {
				got = append(got, fault.Location+" "+fault.Problem)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%.300s (-want +got):\n%s", c.document, diff)
			}
		})
	}
}

// Patterns that need backtracking: bounded, timed, and exact also within "not".
func TestBacktrackingPatterns(t *testing.T) {
	o := asDraft7
	o.Backtracking = true
	for document, want := range map[string]string{
		`{"pattern": "(?=.*[0-9])", "maxLength": 1024}`:                           "",
		`{"pattern": "(?=.*[0-9])", "maxLength": 1025}`:                           "at /pattern: the pattern \"(?=.*[0-9])\" needs backtracking, and the text that it is put to has no bound; " + boundRemedy,
		`{"pattern": "(?=.*[0-9])"}`:                                              "at /pattern: the pattern \"(?=.*[0-9])\" needs backtracking, and the text that it is put to has no bound; " + boundRemedy,
		`{"patternProperties": {"(?!x)": {}}, "propertyNames": {"maxLength": 9}}`: "",
		`{"patternProperties": {"(?!x)": {}}}`:                                    "at /patternProperties/(?!x): the pattern \"(?!x)\" needs backtracking, and the text that it is put to has no bound; " + boundRemedy,
		`{"pattern": "(a)\\1[\\ud800]", "maxLength": 9}`:                          "at /pattern: the pattern \"(a)\\\\1[\\\\ud800]\" is not supported: escapes of surrogates need the engine of linear time; write the character itself",
		`{"pattern": "^.{1,2000}$", "maxLength": 9}`:                              "",
		`{"pattern": "(?i)a", "maxLength": 9}`:                                    "at /pattern: the pattern \"(?i)a\" is not valid ECMA-262: at offset 0: there is no group of this kind; remove the flags or comment after (?",
	} {
		got := ""
		if _, _, err := Compile("t", decode(document), o); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", document, diff)
		}
	}
	validate := func(document, value string) ([]Violation, error) {
		s, _, err := Compile("t", decode(document), o)
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(context.Background(), decode(value))
	}
	for _, c := range []struct {
		document, value string
		want            []string
	}{
		{`{"pattern": "(?=.*[0-9])", "maxLength": 5}`, `"ab1"`, nil},
		{`{"pattern": "(?=.*[0-9])", "maxLength": 5}`, `"abc"`, []string{" pattern"}},
		{`{"pattern": "(?=.*[0-9])", "maxLength": 5}`, `"` + strings.Repeat("x", 2000) + `"`, []string{" maxLength"}},
		{`{"not": {"pattern": "(?=.*[0-9])", "maxLength": 5}}`, `"` + strings.Repeat("x", 2000) + `"`, nil},
		{`{"patternProperties": {"^a*(?!x)b": false}, "propertyNames": {"maxLength": 9}}`, `{"xa": 1, "ab": 2}`, []string{"/ab false schema"}},
	} {
		list, err := validate(c.document, c.value)
		if diff := cmp.Diff(c.want, lines(list)); diff != "" || err != nil {
			t.Errorf("%.60s against %s: %v (-want +got):\n%s", c.value, c.document, err, diff)
		}
	}
	o.CapTexts = true
	for length, want := range map[int]error{1024: nil, 1025: ErrBudget} {
		for _, document := range []string{`{"pattern": "(?=.*[0-9])"}`, `{"not": {"pattern": "(?=[a-z])"}}`} {
			if _, err := validate(document, `"`+strings.Repeat("1", length)+`"`); !errors.Is(err, want) {
				t.Errorf("%s against %d characters: %v, want %v", document, length, err, want)
			}
		}
	}
	o.CapTexts = false
	const slow = `"pattern": "^(a+)+(?!x)$", "maxLength": 100`
	value := `"` + strings.Repeat("a", 60) + `!"`
	for _, document := range []string{
		`{` + slow + `}`, `{"not": {` + slow + `}}`, `{"if": {` + slow + `}, "then": false}`, `{"anyOf": [{` + slow + `}, true]}`, `{"oneOf": [true, {` + slow + `}]}`,
	} {
		if list, err := validate(document, value); !errors.Is(err, ErrBudget) || list != nil {
			t.Errorf("%s: %v, %v; want ErrBudget", document, list, err)
		}
	}
	names := `{"patternProperties": {"^(a+)+(?!x)$": false}, "propertyNames": {"maxLength": 100}}`
	if list, err := validate(names, `{`+value+`: 1}`); !errors.Is(err, ErrBudget) || list != nil {
		t.Errorf("%s: %v, %v; want ErrBudget", names, list, err)
	}
}
