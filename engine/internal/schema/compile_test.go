package schema

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	typeNames   = `must be one of "array", "boolean", "integer", "null", "number", "object", "string"`
	specRemedy  = "see the JSON Schema specification for this keyword"
	fetchRemedy = "copy what it refers to into this document"
	addRemedy   = "correct it, or add what it refers to"
	regexRemedy = "write it without, or allow backtracking patterns for this tool"
	urlRemedy   = "use the URL of draft 4, 6, 7, 2019-09 or 2020-12"
	countRemedy = "use at most 2147483648"
	limitRemedy = "leave the limit out if there is none"
)

// What the metaschema, the references, the patterns or the numbers of a document
// make impossible.
func TestCompileFaults(t *testing.T) {
	for name, c := range map[string]struct {
		document              string
		at, problem, remedyIs string
	}{
		"unknown type":                 {`{"properties": {"a": {"type": "strng"}}}`, "/properties/a/type", typeNames, specRemedy},
		"type of another system":       {`{"properties": {"a": {"type": "int"}}}`, "/properties/a/type", typeNames, specRemedy},
		"required is a boolean":        {`{"properties": {"a": {"required": true}}}`, "/properties/a/required", "is a boolean but must be an array", specRemedy},
		"properties is a list":         {`{"properties": []}`, "/properties", "is an array but must be an object", specRemedy},
		"draft 4 exclusiveMinimum":     {`{"properties": {"a": {"exclusiveMinimum": true}}}`, "/properties/a/exclusiveMinimum", "is a boolean but must be a number", specRemedy},
		"empty enum in draft 4":        {`{"$schema": "http://json-schema.org/draft-04/schema#", "enum": []}`, "/enum", "is empty but needs at least 1 item", specRemedy},
		"negative length":              {`{"maxLength": -1}`, "/maxLength", "is -1 but must be at least 0", specRemedy},
		"not a schema":                 {`"x"`, "", "is a string but must be a boolean or an object", specRemedy},
		"items under 2020-12":          {`{` + in2020 + `, "items": [{}]}`, "/items", "is an array but must be a boolean or an object", specRemedy},
		"broken definition":            {`{"definitions": {"a b": {"type": "strng"}}}`, "/definitions/a b/type", typeNames, specRemedy},
		"broken $defs":                 {`{"$defs": {"a/b": {"type": "strng"}}}`, "/$defs/a~1b/type", typeNames, specRemedy},
		"broken $defs deep down":       {`{"properties": {"a": {"$defs": {"b": {"required": true}}}}}`, "/properties/a/$defs/b/required", "is a boolean but must be an array", specRemedy},
		"pattern with look-ahead":      {`{"properties": {"a": {"pattern": "(?=x)"}}}`, "/properties/a/pattern", `the pattern "(?=x)" is not supported: lookahead`, regexRemedy},
		"pattern in 2020-12":           {`{` + in2020 + `, "pattern": "(a)\\1"}`, "/pattern", `the pattern "(a)\\1" is not supported: a backreference`, regexRemedy},
		"pattern that is none":         {`{"pattern": "a(b"}`, "/pattern", `the pattern "a(b" is not valid ECMA-262: at offset 1: the parenthesis is not closed`, ""},
		"pattern of another language":  {`{"pattern": "(?i)a"}`, "/pattern", `the pattern "(?i)a" is not valid ECMA-262: at offset 0: there is no group of this kind`, "remove the flags or comment after (?"},
		"pattern with an anchor of Go": {`{"items": {"pattern": "\\Aa\\z"}}`, "/items/pattern", `the pattern "\\Aa\\z" is not valid ECMA-262: at offset 0: the escape "\\A" has no meaning`, "remove the backslash, if the character itself is meant"},
		"pattern that repeats":         {`{"pattern": "^.{1,2000}$"}`, "/pattern", `the pattern "^.{1,2000}$" is not supported: a repeat of more than 1000`, "repeat without bounds, and bound the length with maxLength"},
		"pattern of names":             {`{"patternProperties": {"(?=a)": {}, "b": {}}, "properties": {"c": {}}}`, "/patternProperties/(?=a)", `the pattern "(?=a)" is not supported: lookahead`, regexRemedy},
		"remote reference":             {`{"properties": {"a": {"$ref": "https://example.com/a.json#/b"}}}`, "/properties/a/$ref", `refers to "https://example.com/a.json", and nothing is ever fetched`, fetchRemedy},
		"file reference":               {`{"properties": {"a": {"$ref": "file:///etc/passwd"}}}`, "/properties/a/$ref", `refers to "file:///etc/passwd", and nothing is ever fetched`, fetchRemedy},
		"relative reference":           {`{"properties": {"a": {"$ref": "other.json"}}}`, "/properties/a/$ref", `refers to "other.json", and nothing is ever fetched`, fetchRemedy},
		"relative to an $id":           {`{"$id": "https://example.com/x/a.json", "items": {"$ref": "b.json"}}`, "/items/$ref", `refers to "https://example.com/x/b.json", and nothing is ever fetched`, fetchRemedy},
		"relative to a URN":            {`{"$id": "urn:tool:x", "items": {"$ref": "other.json"}}`, "/items/$ref", `refers to "other.json", and nothing is ever fetched`, fetchRemedy},
		"remote in a definition":       {`{"definitions": {"a": {"$ref": "https://example.com/a.json"}}}`, "/definitions/a/$ref", `refers to "https://example.com/a.json", and nothing is ever fetched`, fetchRemedy},
		"remote, also in a text":       {`{"description": "https://example.com/a", "items": {"$ref": "https://example.com/a"}, "const": {"$ref": "https://example.com/a"}}`, "/items/$ref", `refers to "https://example.com/a", and nothing is ever fetched`, fetchRemedy},
		"remote dynamic reference":     {`{` + in2020 + `, "items": {"$dynamicRef": "https://example.com/a#b"}}`, "/items/$dynamicRef", `refers to "https://example.com/a", and nothing is ever fetched`, fetchRemedy},
		"unknown metaschema":           {`{"items": {"$ref": "http://json-schema.org/draft-03/schema"}}`, "/items/$ref", `refers to "http://json-schema.org/draft-03/schema", and nothing is ever fetched`, fetchRemedy},
		"dangling in a metaschema":     {`{"items": {"$ref": "http://json-schema.org/draft-07/schema#/definitions/no"}}`, "/items/$ref", `refers to "http://json-schema.org/draft-07/schema#/definitions/no", which is not in this document`, addRemedy},
		"dangling pointer":             {`{"properties": {"a": {"$ref": "#/definitions/x"}}, "$defs": {"x": {}}}`, "/properties/a/$ref", `refers to "#/definitions/x", which is not in this document`, addRemedy},
		"dangling anchor":              {`{"items": {"$ref": "#here"}}`, "/items/$ref", `refers to "#here", which is not in this document`, addRemedy},
		"reference that is no URL":     {`{"items": {"$ref": "#/%zz"}}`, "/items/$ref", "is not a URL reference", ""},
		"reference that is no pointer": {`{` + in2020 + `, "items": {"$ref": "#/~2"}}`, "/items/$ref", `refers to "#/~2", which is not in this document`, addRemedy},
		"no URL in 2020-12":            {`{` + in2020 + `, "items": {"$ref": "http://[::1"}}`, "/items/$ref", "is not a URL reference", ""},
		"$id that is no URL":           {`{"items": {"$id": "http://[::1"}}`, "/items/$id", "is not a URL reference", ""},
		"anchor that is no URL":        {`{` + in7 + `, "items": {"$id": "#%zz"}}`, "/items/$id", "is not a URL reference", ""},
		"id that is no URL":            {`{"$schema": "http://json-schema.org/draft-04/schema#", "items": {"id": "http://[::1"}}`, "/items/id", "is not a URL reference", ""},
		"schema within data":           {`{"enum": [{"type": "strng"}], "items": {"$ref": "#/enum/0"}}`, "/enum/0/type", typeNames, specRemedy},
		"relative to a URN in 2020-12": {`{` + in2020 + `, "$id": "urn:tool:x", "items": {"$ref": "other.json"}}`, "/items/$ref", `refers to "other.json", and nothing is ever fetched`, fetchRemedy},
		"two of the same $id":          {`{"definitions": {"a": {"$id": "x"}, "b": {"$id": "x"}}}`, "/definitions/b", `has the same $id as "/definitions/a"`, "give each its own"},
		"two of the same anchor":       {`{` + in2020 + `, "$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}`, "/$defs/b", `has the same anchor as "/$defs/a"`, "give each its own"},
		"unknown dialect":              {`{"$schema": "https://example.com/mine"}`, "/$schema", "is not the URL of a draft that is known here", urlRemedy},
		"dialect draft 3":              {`{"$schema": "http://json-schema.org/draft-03/schema#"}`, "/$schema", "is not the URL of a draft that is known here", urlRemedy},
		"dialect is a file":            {`{"$schema": "file:///etc/passwd"}`, "/$schema", "is not the URL of a draft that is known here", urlRemedy},
		"dialect without a scheme":     {`{"$schema": "json-schema.org/draft-07/schema"}`, "/$schema", "is not the URL of a draft that is known here", urlRemedy},
		"dialect of another scheme":    {`{"$schema": "ftp://json-schema.org/draft-07/schema"}`, "/$schema", "is not the URL of a draft that is known here", urlRemedy},
		"dialect is a number":          {`{"$schema": 7}`, "/$schema", "is not the URL of a draft that is known here", urlRemedy},
		"dialect is the latest":        {`{"$schema": "https://json-schema.org/schema"}`, "/$schema", "is not the URL of a draft that is known here", urlRemedy},
		"dialect asserts nothing":      {`{"$schema": "https://json-schema.org/draft/2020-12/meta/core", "type": "object", "additionalProperties": false}`, "/$schema", "is not the URL of a draft that is known here", urlRemedy},
		"dialect with a fragment":      {`{"$schema": "http://json-schema.org/draft-07/schema#x"}`, "/$schema", "is not the URL of a draft that is known here", urlRemedy},
		"second dialect":               {`{` + in2020 + `, "$defs": {"a": {"$id": "a", "$schema": "https://json-schema.org/draft/2020-12/meta/core"}}}`, "/$defs/a/$schema", "switches to another dialect within the document", "declare one $schema, at the root"},
		"length just too great":        {`{"maxLength": 2147483649}`, "/maxLength", "is more than can be counted", countRemedy},
		"length that wraps":            {`{"items": {"minItems": 1e30}}`, "/items/minItems", "is more than can be counted", countRemedy},
		"limit that would be dropped":  {`{"properties": {"a": {"maximum": 1e9999999}}}`, "/properties/a/maximum", "the number 1e9999999 has an exponent beyond 308", limitRemedy},
		"tiny number":                  {`{"multipleOf": 1E-309}`, "/multipleOf", "the number 1E-309 has an exponent beyond 308", limitRemedy},
		"huge exponent in data":        {`{"enum": [[1, {"a": 2e99999999999999999999}]]}`, "/enum/0/1/a", "the number 2e99999999999999999999 has an exponent beyond 308", limitRemedy},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, err := Compile("t", decode(c.document), asFile)
			if s != nil {
				t.Error("a schema beside the fault")
			}
			want := []CompileError{{Tool: "t", Location: c.at, Problem: c.problem, Remedy: c.remedyIs}}
			if diff := cmp.Diff(want, faultsIn(t, err)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.document, diff)
			}
		})
	}
}

// One start shows all there is to repair.
func TestCompileReportsEveryFault(t *testing.T) {
	const document = `{"reqired": [], "properties": {"a": {"type": "strng"}, "b": {"nullable": true}, "c": {"maxLength": -1, "pattern": "(?=x)"}, "d": {"minimum": 1e999},
			"e": {"$ref": "https://example.com/1"}, "f": {"$ref": "https://example.com/2"}, "g": {"$ref": "#/definitions/no"}, "h": {"maxItems": 9e20}},
		"patternProperties": {"(?=a)": {}, "(?!b)": {}}, "$defs": {"x": {"type": "strng"}}, "dependentRequired": {}}`
	var got []string
	_, _, err := Compile("t", decode(document), asFile)
	for _, fault := range faultsIn(t, err) {
		got = append(got, fault.Location)
	}
	want := []string{
		"/$defs/x/type", "/dependentRequired", "/patternProperties/(?!b)", "/patternProperties/(?=a)", "/properties/a/type", "/properties/b/nullable",
		"/properties/c/maxLength", "/properties/c/pattern", "/properties/d/minimum", "/properties/e/$ref", "/properties/f/$ref", "/properties/g/$ref",
		"/properties/h/maxItems", "/reqired",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range 20 {
		if _, _, again := Compile("t", decode(document), asFile); again.Error() != err.Error() {
			t.Fatalf("first:\n%v\nnow:\n%v", err, again)
		}
	}
}

// The validator does not come to patterns where two schemas have one $id.
func TestCompileReportsEveryPattern(t *testing.T) {
	_, _, err := Compile("t", decode(`{`+in2020+`, "properties": {"a": {"pattern": "(?=x)"}, "b": {"pattern": "(?!x)"}}, "patternProperties": {"(": {}},
		"$defs": {"c": {"$id": "x"}, "d": {"$id": "x"}}}`), asFile)
	var got []string
	for _, fault := range faultsIn(t, err) {
		got = append(got, fault.Location)
	}
	if diff := cmp.Diff([]string{"/$defs/d", "/patternProperties/(", "/properties/a/pattern", "/properties/b/pattern"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompileErrorReadsFromOutsideToInside(t *testing.T) {
	for want, fault := range map[string]CompileError{
		"at /properties/a: is wrong; mend it": {Tool: "t", Location: "/properties/a", Problem: "is wrong", Remedy: "mend it"},
		`at /\u202e: is wrong`:                {Location: "/\u202e", Problem: "is wrong"},
		"is wrong":                            {Problem: "is wrong"},
	} {
		if got := fault.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A tool name becomes part of a URL, whatever it holds.
func TestCompileTakesAnyToolName(t *testing.T) {
	for _, tool := range []string{"", "a/b", "../x", "a?b#c", "%zz", "é\u202e", "a b", strings.Repeat("x", 1000)} {
		s, _, err := Compile(tool, decode(`{"properties": {"a": {"$ref": "#/definitions/n"}}, "definitions": {"n": {"type": "null"}}}`), asFile)
		if err != nil {
			t.Errorf("%q: %v", tool, err)
			continue
		}
		list, err := s.Validate(context.Background(), decode(`{"a": 1}`))
		want := []Violation{{Tokens: []string{"a"}, Keyword: "type", Reason: "is a number but must be null", Location: "#/definitions/n/type", Wanted: []string{"null"}}}
		if diff := cmp.Diff(want, list); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", tool, err, diff)
		}
	}
}

func TestEveryDialectIsHonoured(t *testing.T) {
	for name, c := range map[string]struct {
		document, value string
		want            []string
	}{
		"none is draft 7": {`{"if": {"type": "null"}, "then": false}`, `null`, []string{" false schema"}},
		"draft 4":         {`{"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": true, "minimum": 1}`, `1`, []string{" exclusiveMinimum"}},
		"draft 6":         {`{"$schema": "http://json-schema.org/draft-06/schema", "const": 1}`, `2`, []string{" const"}},
		"draft 7, https":  {`{"$schema": "https://json-schema.org/draft-07/schema#", "format": "date"}`, `"x"`, []string{" format"}},
		"draft 2019-09":   {`{` + in2019 + `, "$ref": "#/$defs/d", "maxLength": 1, "$defs": {"d": {"format": "date"}}}`, `"xx"`, []string{" format", " maxLength"}},
		"draft 2020-12":   {`{` + in2020 + `, "prefixItems": [{"format": "date"}], "items": false}`, `["x", 1]`, []string{"/0 format", "/1 items"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lines(violations(t, c.document, c.value))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckRoot(t *testing.T) {
	const silent = "/additionalProperties the root does not say whether other members are allowed; set additionalProperties to false"
	const untyped = `/type the root does not have "type": "object"; set type to "object", which arguments always are`
	const noObject = ` the root is not an object; start with {"type": "object", "additionalProperties": false, ...}`
	for document, want := range map[string][]string{
		`{"type": "object", "additionalProperties": false}`:                  nil,
		`{"type": "object", "additionalProperties": true}`:                   nil,
		`{"type": "object", "additionalProperties": {"type": "null"}}`:       nil,
		`{` + in2020 + `, "type": "object", "unevaluatedProperties": false}`: nil,
		`{` + in2019 + `, "type": "object", "unevaluatedProperties": false}`: nil,
		`{"type": "object", "unevaluatedProperties": false}`:                 {silent},
		`{"$schema": "x", "type": "object", "unevaluatedProperties": false}`: {silent},
		`{"type": "object"}`:                                             {silent},
		`{"additionalProperties": false}`:                                {untyped},
		`{"type": ["object", "null"], "additionalProperties": false}`:    {untyped},
		`{"type": "object", "properties": {"additionalProperties": {}}}`: {silent},
		`{"allOf": [{"type": "object", "additionalProperties": false}]}`: {silent, untyped},
		`{}`:   {` the schema is empty, so it allows everything; say at least {"type": "object"}`},
		`true`: {noObject},
		`[]`:   {noObject},
	} {
		var got []string
		_, err := CheckRoot("t", decode(document), asFile)
		for _, fault := range faultsIn(t, err) {
			got = append(got, fault.Location+" "+fault.Problem+"; "+fault.Remedy)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", document, diff)
		}
	}
}

// What a server lists is often open, and says so by saying nothing.
func TestCheckRootOfAServersSchema(t *testing.T) {
	for document, want := range map[string]struct{ warnings, faults []string }{
		`{"type": "object"}`:                              {[]string{"/additionalProperties"}, nil},
		`{"properties": {}, "unevaluatedProperties": {}}`: {[]string{"/type"}, nil},
		`{"type": "string"}`:                              {nil, []string{"/type"}},
		`{}`:                                              {nil, []string{""}},
		`true`:                                            {nil, []string{""}},
	} {
		warnings, err := CheckRoot("t", decode(document), asListed)
		var warned, refused []string
		for _, w := range warnings {
			warned = append(warned, w.Location)
		}
		for _, fault := range faultsIn(t, err) {
			refused = append(refused, fault.Location)
		}
		if diff := cmp.Diff(want.warnings, warned) + cmp.Diff(want.faults, refused); diff != "" {
			t.Errorf("%s (-want +got):\n%s", document, diff)
		}
	}
}
