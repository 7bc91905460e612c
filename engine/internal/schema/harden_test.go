package schema

import (
	"context"
	"fmt"
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
