package schema

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the lists of testdata anew")

func mustCompile(t testing.TB, document string) *Schema {
	t.Helper()
	s, _, err := Compile("t", decode(document))
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return s
}

// sorted brings violations into one order; the engine has its own.
func sorted(list []Violation) []Violation {
	slices.SortFunc(list, func(a, b Violation) int {
		return strings.Compare(fmt.Sprint(a.Tokens, a.Keyword, a.Reason, a.Location), fmt.Sprint(b.Tokens, b.Keyword, b.Reason, b.Location))
	})
	return list
}

func violations(t testing.TB, document, value string) []Violation {
	t.Helper()
	list, err := mustCompile(t, document).Validate(decode(value))
	if err != nil {
		t.Fatalf("%s against %s: %v", value, document, err)
	}
	return sorted(list)
}

// Each kind of violation has one text; these are all.
func TestReasons(t *testing.T) {
	for _, c := range []struct{ document, value, path, keyword, reason string }{
		{`{"properties": {"a": false}}`, `{"a": 1}`, "/a", "false schema", "is not allowed here"},
		{`{"not": {"type": "object"}}`, `{}`, "", "not", "has a form that the schema forbids"},
		{`{"type": "string"}`, `1.5`, "", "type", "is a number but must be a string"},
		{`{"type": ["integer", "null"]}`, `"x"`, "", "type", "is a string but must be an integer or null"},
		{`{"type": ["array", "boolean", "object"]}`, `null`, "", "type", "is null but must be an array, a boolean or an object"},
		{`{"enum": ["small", "large", 3, null, true]}`, `"huge"`, "", "enum", `must be one of "small", "large", 3, null, true`},
		{`{"enum": [1,2,3,4,5,6,7,8,9,10,11,12,13,14]}`, `0`, "", "enum", `must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, and 2 more`},
		{`{"enum": [{"a": "\u202e"}]}`, `0`, "", "enum", `must be one of {\"a\":\"\u202e\"}`},
		{`{"const": "on\u001b"}`, `"off"`, "", "const", `must be "on\x1b"`},
		{`{"format": "date"}`, `"yesterday"`, "", "format", "is not a valid date"},
		{`{"pattern": "^[a-z\u00e4]+$"}`, `"A"`, "", "pattern", `does not match the pattern "^[a-z\u00e4]+$"`},
		{`{"minLength": 1}`, `""`, "", "minLength", "is empty but needs at least 1 character"},
		{`{"minLength": 3}`, `"é"`, "", "minLength", "has 1 character but needs at least 3"},
		{`{"maxLength": 2}`, `"漢字漢"`, "", "maxLength", "has 3 characters but may have at most 2"},
		{`{"minItems": 2}`, `[]`, "", "minItems", "is empty but needs at least 2 items"},
		{`{"minItems": 2}`, `[1]`, "", "minItems", "has 1 item but needs at least 2"},
		{`{"maxItems": 1}`, `[1, 2]`, "", "maxItems", "has 2 items but may have at most 1"},
		{`{"minProperties": 2}`, `{"a": 1}`, "", "minProperties", "has 1 property but needs at least 2"},
		{`{"maxProperties": 1}`, `{"a": 1, "b": 2}`, "", "maxProperties", "has 2 properties but may have at most 1"},
		{`{"minimum": 1}`, `0`, "", "minimum", "is 0 but must be at least 1"},
		{`{"maximum": 0.5}`, `0.50000000000000001`, "", "maximum", "is 0.50000000000000001 but must be at most 0.5"},
		{`{"maximum": 9007199254740992}`, `9007199254740993`, "", "maximum", "is 9007199254740993 but must be at most 9007199254740992"},
		{`{"maximum": 3}`, `1e300`, "", "maximum", "is about 1.000000e+300 but must be at most 3"},
		{`{"exclusiveMinimum": 1}`, `1.0`, "", "exclusiveMinimum", "is 1 but must be greater than 1"},
		{`{"exclusiveMaximum": -1.25}`, `-1`, "", "exclusiveMaximum", "is -1 but must be less than -1.25"},
		{`{"multipleOf": 0.1}`, `0.25`, "", "multipleOf", "is 0.25 but must be a multiple of 0.1"},
		{`{"required": ["a/b"]}`, `{}`, "/a~1b", "required", "required property is missing"},
		{`{"dependencies": {"a": ["b"]}}`, `{"a": 1}`, "/b", "dependencies", `property is missing; it is required because "a" is given`},
		{`{"$schema": "https://json-schema.org/draft/2020-12/schema", "dependentRequired": {"a": ["b"]}}`, `{"a": 1}`, "/b", "dependentRequired",
			`property is missing; it is required because "a" is given`},
		{`{"additionalProperties": false}`, `{"m~n": 1}`, "/m~0n", "additionalProperties", "unexpected property; the schema allows no others"},
		{`{"items": [{}], "additionalItems": false}`, `[1, 2]`, "/1", "additionalItems", "surplus item; the schema allows no further ones"},
		{`{"propertyNames": {"maxLength": 2}}`, `{"abc": 1}`, "/abc", "propertyNames", "the property name has 3 characters but may have at most 2"},
		{`{"uniqueItems": true}`, `[1, 2, 1.0]`, "/2", "uniqueItems", "is equal to item 0, but items must be unique"},
		{`{"contains": {"type": "null"}}`, `[1]`, "", "contains", "has no item of the kind that the schema asks for"},
		{`{"$schema": "https://json-schema.org/draft/2020-12/schema", "contains": {"type": "null"}, "minContains": 2}`, `[null]`, "", "minContains",
			"has 1 item of the kind that the schema asks for but needs at least 2"},
		{`{"$schema": "https://json-schema.org/draft/2020-12/schema", "contains": {"type": "null"}, "maxContains": 1}`, `[null, null]`, "", "maxContains",
			"has 2 items of the kind that the schema limits but may have at most 1"},
		{`{"oneOf": [{"type": "integer"}, {}, {"minimum": 2}]}`, `1`, "", "oneOf", "fits alternatives 1 and 2 of the schema but must fit exactly one"},
		{`{"anyOf": [{"type": "string"}, {"type": "null"}]}`, `1`, "", "anyOf", "is a number but must be null or a string"},
		{`{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}`, `{}`, "", "anyOf", "fits none of the 2 alternatives of the schema"},
		{`{"oneOf": [{"minimum": 5}, {"multipleOf": 2}]}`, `1`, "", "oneOf", "fits none of the 2 alternatives of the schema"},
	} {
		want := []Violation{{Keyword: c.keyword, Reason: c.reason}}
		got := violations(t, c.document, c.value)
		if len(got) == 1 && pointer(got[0].Tokens) != c.path {
			t.Errorf("%s against %s: at %q, want %q", c.value, c.document, pointer(got[0].Tokens), c.path)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Violation{}, "Tokens", "Location")); diff != "" {
			t.Errorf("%s against %s (-want +got):\n%s", c.value, c.document, diff)
		}
	}
}

// A union with one alternative of the right type speaks for that one.
func TestUnionOfOneRightType(t *testing.T) {
	document := `{"properties": {"x": {"anyOf": [{"type": "object", "required": ["id"], "additionalProperties": false}, {"type": "null"}]}}}`
	want := []Violation{
		{Tokens: []string{"x", "id"}, Keyword: "required", Reason: "required property is missing", Location: "#/properties/x/anyOf/0/required"},
		{Tokens: []string{"x", "no"}, Keyword: "additionalProperties", Reason: "unexpected property; the schema allows no others", Location: "#/properties/x/anyOf/0/additionalProperties"},
	}
	if diff := cmp.Diff(want, violations(t, document, `{"x": {"no": 1}}`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// All that is wrong is reported, also where one keyword used to hide another.
func TestEveryViolationIsReported(t *testing.T) {
	document := `{"type": "object", "additionalProperties": false, "required": ["r1", "r2"],
		"properties": {"s": {"type": "string", "minLength": 5, "pattern": "^x", "format": "date"}, "n": {"minimum": 5, "multipleOf": 2}, "l": {"items": {"type": "integer"}, "maxItems": 1}},
		"allOf": [{"if": {"required": ["s"]}, "then": {"required": ["t"]}}, {"properties": {"n": {"maximum": 0}}}]}`
	var got []string
	for _, v := range violations(t, document, `{"s": "abc", "n": 3, "l": ["a", 1, "b"], "u1": 1, "u2": 2}`) {
		got = append(got, pointer(v.Tokens)+" "+v.Keyword+" "+v.Location)
	}
	slices.Sort(got)
	want := []string{
		"/l maxItems #/properties/l/maxItems", "/l/0 type #/properties/l/items/type", "/l/2 type #/properties/l/items/type",
		"/n maximum #/allOf/1/properties/n/maximum", "/n minimum #/properties/n/minimum", "/n multipleOf #/properties/n/multipleOf",
		"/r1 required #/required", "/r2 required #/required",
		"/s format #/properties/s/format", "/s minLength #/properties/s/minLength", "/s pattern #/properties/s/pattern",
		"/t required #/allOf/0/then/required", "/u1 additionalProperties #/additionalProperties", "/u2 additionalProperties #/additionalProperties",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// propertyNames used to be reported at a neighbour's path in some runs.
func TestPropertyNamesAreReportedInPlace(t *testing.T) {
	s := mustCompile(t, `{"propertyNames": {"pattern": "^[b-z]$"}, "additionalProperties": {"items": {"type": "integer"}}}`)
	want := []string{"/a propertyNames", "/b/0 type", "/c/1 type"}
	for range 50 {
		list, err := s.Validate(decode(`{"a": [1], "b": ["x"], "c": [1, "y"]}`))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range list {
			got = append(got, pointer(v.Tokens)+" "+v.Keyword)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

func TestReasonsEchoNothing(t *testing.T) {
	const secret = "sk-live-4242\x1b\u202e\U000e0041"
	text, _ := json.Marshal(secret)
	for _, document := range []string{
		`{"type": "integer"}`, `{"const": 1}`, `{"enum": ["a"]}`, `{"format": "date"}`, `{"format": "ipv4"}`, `{"format": "uri"}`, `{"format": "email"}`, `{"pattern": "^$"}`,
		`{"maxLength": 1}`, `{"not": {}}`, `false`, `{"additionalProperties": false}`, `{"propertyNames": false}`, `{"propertyNames": {"const": "a"}}`,
		`{"uniqueItems": true}`, `{"contains": false}`, `{"items": false}`, `{"anyOf": [{"const": 1}, {"const": 2}]}`, `{"oneOf": [{}, {}]}`, `{"maxProperties": 0}`,
	} {
		s, faults := compile("t", decode(document), environment{assertFormat: true})
		if len(faults) > 0 {
			t.Fatal(faults[0])
		}
		for _, value := range []string{string(text), `{` + string(text) + `: ` + string(text) + `}`, `[` + string(text) + `, ` + string(text) + `]`} {
			list, err := s.Validate(decode(value))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range list {
				if strings.Contains(v.Reason, "sk-live") || strings.ContainsAny(v.Reason, "\x1b\u202e\U000e0041") || len(v.Reason) > maxReason {
					t.Errorf("%s against %s: %q", value, document, v.Reason)
				}
			}
		}
	}
}

func TestReasonsAreShort(t *testing.T) {
	long := strings.Repeat("漢", 1000)
	for _, document := range []string{`{"const": "` + long + `"}`, `{"pattern": "` + long + `"}`, `{"enum": ["` + long + `1", "` + long + `2", "` + long + `3"]}`, `{"required": ["` + long + `"], "dependencies": {"a": ["b"], "` + long + `": ["c"]}}`} {
		for _, v := range violations(t, document, `{"a": 1, "`+long+`": 1}`) {
			if len(v.Reason) > maxReason {
				t.Errorf("%d bytes: %s", len(v.Reason), v.Reason)
			}
		}
	}
}

func TestConcurrentValidation(t *testing.T) {
	s := mustCompile(t, `{"properties": {"a": {"$ref": "#/definitions/d"}}, "definitions": {"d": {"type": "string", "format": "date", "maxLength": 3}}, "propertyNames": {"maxLength": 1}}`)
	value := decode(`{"a": "xxxx", "bb": 1}`)
	first, err := s.Validate(value)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				got, err := s.Validate(value)
				if err != nil || cmp.Diff(sorted(slices.Clone(first)), sorted(got)) != "" {
					t.Errorf("%v, %v", got, err)
				}
			}
		})
	}
	group.Wait()
}

// The validator's own faults are errors, never an empty list.
func TestInternalFaultsAreErrors(t *testing.T) {
	s := mustCompile(t, `{"minimum": 1, "properties": {"a": {"type": "integer"}}}`)
	for name, value := range map[string]any{
		"a number the validator panics on": json.Number("1e9999999"),
		"a value that is no JSON":          map[string]any{"a": struct{}{}},
		"a channel":                        make(chan int),
	} {
		if list, err := s.Validate(value); err == nil {
			t.Errorf("%s: %v", name, list)
		}
	}
}

func TestCompileFaults(t *testing.T) {
	doubling := `{"definitions": {"d0": {"type": "string"}`
	for i := range 22 {
		doubling += fmt.Sprintf(`, "d%d": {"allOf": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]}`, i+1, i, i)
	}
	doubling += `}, "properties": {"a": {"$ref": "#/definitions/d22"}}}`
	for name, c := range map[string]struct{ document, at, problem string }{
		"type unknown":               {`{"properties": {"a": {"type": "strng"}}}`, "/properties/a/type", "must be one of"},
		"type of another system":     {`{"properties": {"a": {"type": "int"}}}`, "/properties/a/type", "must be one of"},
		"required is a boolean":      {`{"properties": {"a": {"required": true}}}`, "/properties/a/required", "is a boolean but must be an array"},
		"properties is a list":       {`{"properties": []}`, "/properties", "is an array but must be an object"},
		"draft 4 exclusiveMinimum":   {`{"properties": {"a": {"exclusiveMinimum": true}}}`, "/properties/a/exclusiveMinimum", "is a boolean but must be a number"},
		"empty enum of draft 4":      {`{"$schema": "http://json-schema.org/draft-04/schema#", "enum": []}`, "/enum", "is empty"},
		"pattern unsupported":        {`{"properties": {"a": {"pattern": "(?=x)"}}}`, "/properties/a/pattern", `the pattern "(?=x)" is not supported: invalid or unsupported Perl syntax "(?="; write it without look-around`},
		"negative length":            {`{"maxLength": -1}`, "/maxLength", "is -1 but must be at least 0"},
		"length beyond counting":     {`{"maxLength": 5000000000}`, "/maxLength", "beyond what can be counted"},
		"remote reference":           {`{"properties": {"a": {"$ref": "https://example.com/a.json"}}}`, "/properties/a/$ref", `"https://example.com/a.json", and nothing is ever fetched`},
		"file reference":             {`{"properties": {"a": {"$ref": "file:///etc/passwd"}}}`, "/properties/a/$ref", `"file:///etc/passwd", and nothing is ever fetched`},
		"relative reference":         {`{"properties": {"a": {"$ref": "other.json"}}}`, "/properties/a/$ref", "nothing is ever fetched"},
		"dangling reference":         {`{"properties": {"a": {"$ref": "#/definitions/x"}}}`, "/properties/a/$ref", `"#/definitions/x", which is not in this document`},
		"unknown dialect":            {`{"$schema": "https://example.com/mine"}`, "/$schema", `"https://example.com/mine"`},
		"reference to itself":        {`{"$ref": "#"}`, "", "applies itself"},
		"cycle within not":           {`{"properties": {"a": {"not": {"$ref": "#/properties/a"}}}}`, "/properties/a", "applies itself"},
		"cycle of two":               {`{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"anyOf": [{"$ref": "#/definitions/a"}]}}, "properties": {"x": {"$ref": "#/definitions/a"}}}`, "/definitions/a", "applies itself"},
		"doubling":                   {doubling, "/definitions/d8", "more than 1000 subschemas"},
		"near miss":                  {`{"properties": {"a": {"reqired": ["b"]}}}`, "/properties/a/reqired", "did you mean required?"},
		"near miss by case":          {`{"items": {"maxlength": 1}}`, "/items/maxlength", "did you mean maxLength?"},
		"near miss in a dependency":  {`{"dependencies": {"a": {"propertes": {}}}}`, "/dependencies/a/propertes", "did you mean properties?"},
		"near miss in a tuple":       {`{"items": [{}, {"patern": "x"}]}`, "/items/1/patern", "did you mean pattern?"},
		"nullable":                   {`{"properties": {"a": {"type": "string", "nullable": true}}}`, "/properties/a/nullable", `"null" to type`},
		"prefixItems in draft 7":     {`{"prefixItems": [{}]}`, "/prefixItems", "draft 2020-12 or later"},
		"dependentRequired":          {`{"dependentRequired": {"a": ["b"]}}`, "/dependentRequired", "draft 2019-09 or later"},
		"unevaluatedProperties":      {`{"unevaluatedProperties": false}`, "/unevaluatedProperties", "would be ignored"},
		"dependencies in 2020-12":    {`{"$schema": "https://json-schema.org/draft/2020-12/schema", "dependencies": {"a": ["b"]}}`, "/dependencies", "dependentRequired"},
		"additionalItems in 2020-12": {`{"$schema": "https://json-schema.org/draft/2020-12/schema#", "additionalItems": false}`, "/additionalItems", "prefixItems"},
		"assertion beside $ref":      {`{"definitions": {"d": {}}, "properties": {"a": {"$ref": "#/definitions/d", "maxLength": 5, "title": "fine"}}}`, "/properties/a/maxLength", "beside $ref is ignored"},
		"broken, unreferenced $defs": {`{"$defs": {"a/b": {"type": "strng"}}}`, "/$defs/a~1b/type", "must be one of"},
		"not a schema":               {`"x"`, "", "is a string but must be"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Compile("t", decode(c.document))
			if err == nil {
				t.Fatalf("%.200s compiles", c.document)
			}
			for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
				var fault *CompileError
				if errors.As(one, &fault) && fault.Location == c.at && strings.Contains(fault.Error(), c.problem) && fault.Tool == "t" {
					return
				}
			}
			t.Errorf("%.200s:\n%v\nwant at %s: ... %s", c.document, err, c.at, c.problem)
		})
	}
}

func TestCompileReportsEveryFault(t *testing.T) {
	_, _, err := Compile("t", decode(`{"reqired": [], "properties": {"a": {"type": "strng"}, "b": {"nullable": true}, "c": {"maxLength": -1}}}`))
	if err == nil {
		t.Fatal("compiles")
	}
	for _, at := range []string{"/reqired", "/properties/a/type", "/properties/b/nullable", "/properties/c/maxLength"} {
		if !strings.Contains(err.Error(), "at "+at+":") {
			t.Errorf("nothing at %s in:\n%v", at, err)
		}
	}
}

// What is right, or harmless, is not refused.
func TestCompileAccepts(t *testing.T) {
	for name, c := range map[string]struct {
		document string
		warnings int
	}{
		"every dialect, 4":          {`{"$schema": "http://json-schema.org/draft-04/schema#", "id": "x", "exclusiveMinimum": true, "minimum": 1}`, 0},
		"every dialect, 6":          {`{"$schema": "http://json-schema.org/draft-06/schema", "const": 1}`, 0},
		"every dialect, 7":          {`{"$schema": "https://json-schema.org/draft-07/schema#", "if": {}, "then": {}}`, 0},
		"every dialect, 2019-09":    {`{"$schema": "https://json-schema.org/draft/2019-09/schema", "dependentRequired": {"a": ["b"]}, "$ref": "#/$defs/d", "maxLength": 5, "$defs": {"d": {}}}`, 0},
		"every dialect, 2020-12":    {`{"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{}], "unevaluatedItems": false}`, 0},
		"annotations beside $ref":   {`{"definitions": {"d": {}}, "properties": {"a": {"$ref": "#/definitions/d", "description": "x", "default": 1}}}`, 0},
		"words in data":             {`{"enum": [{"reqired": 1}], "default": {"nullable": true}, "const": {"maxlength": 1}, "examples": [{"typ": 1}]}`, 0},
		"words as names":            {`{"properties": {"reqired": {}, "nullable": {}, "typ": {}}, "definitions": {"maxlength": {}}}`, 0},
		"own extension":             {`{"x-anything": 1, "timeoutSeconds": 30}`, 0},
		"reference to a metaschema": {`{"properties": {"a": {"$ref": "http://json-schema.org/draft-07/schema#"}}}`, 0},
		"recursion through items":   {`{"properties": {"a": {"type": "array", "items": {"$ref": "#"}}}}`, 0},
		"foreign words":             {`{"example": 1, "properties": {"a": {"discriminator": {}}}}`, 2},
		"unknown word":              {`{"wholly-different": 1}`, 1},
		"timeout below the root":    {`{"properties": {"a": {"timeoutSeconds": 1}}}`, 1},
		"boolean":                   {`true`, 0},
	} {
		s, warnings, err := Compile("t", decode(c.document))
		if err != nil || s == nil || len(warnings) != c.warnings {
			t.Errorf("%s: %v, warnings %v", name, err, warnings)
		}
	}
}

func TestCheckRoot(t *testing.T) {
	for document, faults := range map[string]int{
		`{"type": "object", "additionalProperties": false}`:            0,
		`{"type": "object", "additionalProperties": true}`:             0,
		`{"type": "object", "additionalProperties": {"type": "null"}}`: 0,
		`{"type": "object", "unevaluatedProperties": false}`:           0,
		`{"type": "object"}`:                                          1,
		`{"additionalProperties": false}`:                             1,
		`{"type": ["object", "null"], "additionalProperties": false}`: 1,
		`{}`:   2,
		`true`: 1,
		`[]`:   1,
	} {
		err := CheckRoot("t", decode(document))
		got := 0
		if err != nil {
			got = strings.Count(err.Error(), "\n") + 1
		}
		if got != faults {
			t.Errorf("%s: %v", document, err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	s := mustCompile(b, `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}`)
	for _, n := range []int{0, 1, 10, 100} {
		value := decode(`{"a": [` + strings.Repeat(`"x",`, n) + strings.Repeat(`1,`, 100-n) + `1]}`)
		b.Run(fmt.Sprintf("%d_violations", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list, err := s.Validate(value); err != nil || len(list) != n {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}

// FuzzValidate holds that no schema and no payload makes the package panic, and
// that every violation is fit to show.
func FuzzValidate(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type": "object", "required": ["a"], "properties": {"a": {"minLength": 2}}}`, `{"a": "x", "b": 1}`},
		{`{"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}}]}`, `[1, [2, ["x"]]]`},
		{`{"propertyNames": {"pattern": "^a"}, "additionalProperties": {"format": "ipv4"}}`, `{"b": "1.2.3.4"}`},
		{`{"not": {"$ref": "#"}}`, `1`}, {`{"$ref": "http://example.com"}`, `1`}, {`{"multipleOf": 1e-300, "enum": [1, {}]}`, `1e300`},
		{`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$dynamicRef": "#x", "$defs": {"y": {"$dynamicAnchor": "x"}}, "unevaluatedItems": false}`, `[1]`},
		{`{"if": {"minimum": 1}, "then": false, "else": {"uniqueItems": true, "contains": {"const": null}}}`, `[null, null]`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, document, value string) {
		var d, v any
		if json.Unmarshal([]byte(document), &d) != nil || json.Unmarshal([]byte(value), &v) != nil || len(document) > 2000 || strings.ContainsAny(document+value, "eE") && strings.ContainsAny(document+value, "0123456789") {
			return // huge numbers are kept out by the decoder in front
		}
		d, v = decode(document), decode(value)
		s, _, err := Compile("t", d)
		if err != nil {
			if strings.Contains(err.Error(), "cannot compile") {
				t.Fatalf("%s: %v", document, err)
			}
			return
		}
		list, err := s.Validate(v)
		if err != nil {
			t.Fatalf("%s against %s: %v", value, document, err)
		}
		for _, violation := range list {
			if violation.Keyword == "" || violation.Reason == "" || len(violation.Reason) > maxReason || !strings.Contains(violation.Location, "#") {
				t.Fatalf("%s against %s: %+v", value, document, violation)
			}
		}
	})
}
