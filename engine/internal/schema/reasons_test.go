package schema

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Each kind of violation has one text; with TestReasonsOfContent these are all.
func TestReasons(t *testing.T) {
	for name, c := range map[string]struct{ document, value, path, keyword, reason string }{
		"false schema":           {`{"properties": {"a": false}}`, `{"a": 1}`, "/a", "false schema", "is not allowed here"},
		"unevaluated property":   {`{` + in2020 + `, "unevaluatedProperties": false}`, `{"a": 1}`, "/a", "unevaluatedProperties", reasonUnexpected},
		"unevaluated item":       {`{` + in2020 + `, "prefixItems": [true], "unevaluatedItems": false}`, `[1, 2]`, "/1", "unevaluatedItems", reasonSurplus},
		"item after a tuple":     {`{` + in2020 + `, "prefixItems": [true], "items": false}`, `[1, 2]`, "/1", "items", reasonSurplus},
		"described not":          {`{"not": {"type": "string", "description": "a text, \u202e of any kind"}}`, `"x"`, "", "not", `has a form that the schema forbids: "a text, \u202e of any kind"`},
		"object in a string":     {`{"type": "object"}`, `" {\"a\": 1}"`, "", "type", "is a string that holds JSON; send the object itself"},
		"array in a string":      {`{"anyOf": [{"type": "array"}, {"type": "null"}]}`, `"[]"`, "", "anyOf", "is a string that holds JSON; send the array itself"},
		"wrong JSON in a string": {`{"type": "object"}`, `"[]"`, "", "type", "is a string but must be an object"},
		"no JSON in a string":    {`{"type": "object"}`, `"{a}"`, "", "type", "is a string but must be an object"},
		"not":                    {`{"not": {"type": "object"}}`, `{}`, "", "not", "has a form that the schema forbids"},
		"one type":               {`{"type": "string"}`, `1.5`, "", "type", "is a number but must be a string"},
		"a type or null":         {`{"type": ["null", "integer"]}`, `"x"`, "", "type", "is a string but must be an integer or null"},
		"three types":            {`{"type": ["array", "boolean", "object"]}`, `null`, "", "type", "is null but must be an array, a boolean or an object"},
		"number holds integer":   {`{"type": ["integer", "number"]}`, `[]`, "", "type", "is an array but must be a number"},
		"enum":                   {`{"enum": ["small", "medium", "large"]}`, `"huge"`, "", "enum", `must be one of "small", "medium", "large"`},
		"enum of mixed types":    {`{"enum": ["small", 3, null, true, ["x"]]}`, `"huge"`, "", "enum", `must be one of "small", 3, null, true, ["x"]`},
		"long enum":              {`{"enum": [1,2,3,4,5,6,7,8,9,10,11,12,13,14]}`, `0`, "", "enum", `must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, and 2 more`},
		"enum with an override":  {`{"enum": [{"a": "\u202e"}]}`, `0`, "", "enum", `must be one of {"a":"\u202e"}`},
		"enum of long text":      {`{"enum": ["` + strings.Repeat("é", 49) + `"]}`, `0`, "", "enum", `must be one of "` + strings.Repeat(`\u00e9`, 39) + `\u0` + "..."},
		"const":                  {`{"const": "on\u001b"}`, `"off"`, "", "const", `must be "on\x1b"`},
		"format":                 {`{"format": "date"}`, `"yesterday"`, "", "format", "is not a valid date"},
		"pattern":                {`{"pattern": "^[a-z\u00e4]+$"}`, `"A"`, "", "pattern", `does not match the pattern "^[a-z\u00e4]+$"`},
		"empty string":           {`{"minLength": 1}`, `""`, "", "minLength", "is empty but needs at least 1 character"},
		"short string":           {`{"minLength": 3}`, `"é"`, "", "minLength", "has 1 character but at least 3 are needed"},
		"long string":            {`{"maxLength": 8192}`, `"` + strings.Repeat("漢", 8193) + `"`, "", "maxLength", "has 8193 characters but at most 8192 are allowed"},
		"empty array":            {`{"minItems": 2}`, `[]`, "", "minItems", "is empty but needs at least 2 items"},
		"short array":            {`{"minItems": 2}`, `[1]`, "", "minItems", "has 1 item but at least 2 are needed"},
		"long array":             {`{"maxItems": 1}`, `[1, 2]`, "", "maxItems", "has 2 items but at most 1 is allowed"},
		"empty object":           {`{"minProperties": 1}`, `{}`, "", "minProperties", "is empty but needs at least 1 property"},
		"few properties":         {`{"minProperties": 2}`, `{"a": 1}`, "", "minProperties", "has 1 property but at least 2 are needed"},
		"many properties":        {`{"maxProperties": 1}`, `{"a": 1, "b": 2}`, "", "maxProperties", "has 2 properties but at most 1 is allowed"},
		"minimum":                {`{"minimum": 1}`, `0`, "", "minimum", "is 0 but must be at least 1"},
		"maximum":                {`{"maximum": 3}`, `9`, "", "maximum", "is 9 but must be at most 3"},
		"exclusiveMinimum":       {`{"exclusiveMinimum": 1}`, `1.0`, "", "exclusiveMinimum", "is 1 but must be greater than 1"},
		"exclusiveMaximum":       {`{"exclusiveMaximum": -1.25}`, `-1`, "", "exclusiveMaximum", "is -1 but must be less than -1.25"},
		"multipleOf":             {`{"multipleOf": 0.1}`, `0.25`, "", "multipleOf", "is 0.25 but must be a multiple of 0.1"},
		"beyond float64":         {`{"maximum": 9007199254740992}`, `9007199254740993`, "", "maximum", "is 9007199254740993 but must be at most 9007199254740992"},
		"required":               {`{"required": ["a/b"]}`, `{}`, "/a~1b", "required", "required property is missing"},
		"dependencies":           {`{"dependencies": {"a": ["b"]}}`, `{"a": 1}`, "/b", "dependencies", `property is missing; it is required because "a" is given`},
		"dependentRequired":      {`{` + in2020 + `, "dependentRequired": {"a": ["b"]}}`, `{"a": 1}`, "/b", "dependentRequired", `property is missing; it is required because "a" is given`},
		"additionalProperties":   {`{"additionalProperties": false}`, `{"m~n": 1}`, "/m~0n", "additionalProperties", "unexpected property; the schema allows no others"},
		"additionalItems":        {`{"items": [{}], "additionalItems": false}`, `[1, 2]`, "/1", "additionalItems", "surplus item; the schema allows no further ones"},
		"propertyNames":          {`{"propertyNames": {"maxLength": 2, "pattern": "^x"}}`, `{"abc": 1}`, "/abc", "propertyNames", `the property name has 3 characters but at most 2 are allowed and does not match the pattern "^x"`},
		"property name by union": {`{"propertyNames": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}`, `{"abc": 1}`, "/abc", "propertyNames", `the property name is a string but must be an integer or null`},
		"no property name":       {`{"propertyNames": false}`, `{"abc": 1}`, "/abc", "propertyNames", "the property name is not allowed here"},
		"uniqueItems":            {`{"uniqueItems": true}`, `[1, 2, 1.0]`, "/2", "uniqueItems", "is equal to item 0, but items must be unique"},
		"contains":               {`{"contains": {"type": "null"}}`, `[1]`, "", "contains", "has no item of the kind that the schema asks for"},
		"minContains":            {`{` + in2020 + `, "contains": {"type": "null"}, "minContains": 2}`, `[null]`, "", "minContains", "has 1 item of the kind that the schema asks for but at least 2 are needed"},
		"maxContains":            {`{` + in2020 + `, "contains": {"type": "null"}, "maxContains": 1}`, `[null, null]`, "", "maxContains", "has 2 items of the kind that the schema limits but at most 1 is allowed"},
		"oneOf, two fit":         {`{"oneOf": [{"type": "integer"}, {}, {"minimum": 2}]}`, `1`, "", "oneOf", "fits alternatives 1 and 2 of the schema but must fit exactly one"},
		"oneOf, none fits":       {`{"oneOf": [{"minimum": 5}, {"multipleOf": 2}]}`, `1`, "", "oneOf", "must fit exactly one of 2 alternatives; [1] is 1 but must be at least 5; [2] is 1 but must be a multiple of 2"},
		"anyOf of types":         {`{"anyOf": [{"type": "null"}, {"type": "string"}]}`, `1`, "", "anyOf", "is a number but must be a string or null"},
		"anyOf":                  {`{"anyOf": [{"required": ["a"]}, {"required": ["b"]}, {"minProperties": 3}]}`, `{}`, "", "anyOf", `must fit any of 3 alternatives; [1] "/a" required property is missing; [2] "/b" required property is missing; [3] is empty but needs at least 3 properties`},
		"anyOf below":            {`{"properties": {"x": {"anyOf": [{"$ref": "#/definitions/n"}, {"type": "null"}]}}, "definitions": {"n": {"type": "string"}}}`, `{"x": true}`, "/x", "anyOf", "is a boolean but must be a string or null"},
	} {
		t.Run(name, func(t *testing.T) {
			got := violations(t, c.document, c.value)
			want := []Violation{{Tokens: tokensOf(c.path), Keyword: c.keyword, Reason: c.reason}}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Violation{}, "Location", "Wanted")); diff != "" {
				t.Errorf("%.200s against %s (-want +got):\n%s", c.value, c.document, diff)
			}
		})
	}
}

// Content is not asserted, but a change of that must not lead to an unknown kind.
func TestReasonsOfContent(t *testing.T) {
	for _, c := range []struct {
		kind            jsonschema.ErrorKind
		keyword, reason string
	}{
		{&kind.ContentEncoding{Want: "base64"}, "contentEncoding", "is not valid base64 text"},
		{&kind.ContentMediaType{Got: []byte("secret"), Want: "application/json"}, "contentMediaType", "is not valid application/json content"},
		{&kind.ContentSchema{}, "contentSchema", "holds content that does not fit its schema"},
	} {
		keyword, reason, known := (&flattener{memo: &memo{numbers: map[*big.Rat]string{}}}).leaf(c.kind)
		if !known || keyword != c.keyword || reason != c.reason {
			t.Errorf("%T: %q, %q, %v", c.kind, keyword, reason, known)
		}
	}
}

func TestNumbersAreExact(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "1.50": "1.5", "-0.001": "-0.001", "1e3": "1000", "12e-1": "1.2",
		"0.50000000000000001":            "0.50000000000000001",
		"123456789012345678901234":       "123456789012345678901234",
		"1234567890123456789012340":      "1.23456789012345678901234e24",
		"1234567890123456789012345":      "about 1.23456789012345678901234e24",
		"-1.234567890123456789012345":    "about -1.23456789012345678901234e0",
		"1e308":                          "1e308",
		"-25e306":                        "-2.5e307",
		"1.5e-308":                       "1.5e-308",
		"1e23":                           "100000000000000000000000",
		"0.00000000000000000000001":      "0.00000000000000000000001",
		"0.000000000000000000000001":     "1e-24",
		"9007199254740993.0000000000000": "9007199254740993",
	} {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		if got := number(r); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if got, want := number(big.NewRat(1, 3)), "about 3.33333333333333333333333e-1"; got != want {
		t.Errorf("1/3: got %s, want %s", got, want)
	}
}

// No reason holds a string value or a key of the caller, whatever the keyword.
func TestReasonsEchoNothing(t *testing.T) {
	const secret = `"sk-live-4242\u001b\u202e\udb40\udc41"` // ESC, an override, a tag character
	for _, document := range []string{
		`{"type": "integer"}`, `{"const": 1}`, `{"enum": ["a"]}`, `{"format": "date"}`, `{"format": "ipv4"}`, `{"format": "uri"}`, `{"format": "email"}`,
		`{"format": "date-time"}`, `{"format": "json-pointer"}`, `{"format": "uuid"}`, `{"pattern": "^$"}`, `{"maxLength": 1}`, `{"minLength": 100}`,
		`{"not": {}}`, `false`, `{"additionalProperties": false}`, `{"propertyNames": false}`, `{"propertyNames": {"const": "a"}}`, `{"propertyNames": {"maxLength": 1, "pattern": "^$", "format": "date"}}`,
		`{"additionalProperties": {"required": ["x"], "type": "object"}}`, `{"patternProperties": {"": false}}`, `{"uniqueItems": true}`, `{"contains": false}`, `{"items": false}`, `{"items": [{}], "additionalItems": false}`,
		`{"anyOf": [{"const": 1}, {"const": 2}]}`, `{"anyOf": [{"type": "null"}, {"type": "boolean"}]}`, `{"oneOf": [{}, {}]}`, `{"oneOf": [false, false]}`, `{"maxProperties": 0}`, `{"maxItems": 0}`,
	} {
		s := mustCompile(t, document)
		reported := 0
		for _, value := range []string{secret, `{` + secret + `: ` + secret + `}`, `[` + secret + `, ` + secret + `]`} {
			list, err := s.Validate(context.Background(), decode(value))
			if err != nil {
				t.Fatal(err)
			}
			reported += len(list)
			for _, v := range list {
				if strings.Contains(v.Reason, "sk-live") || strings.ContainsAny(v.Reason, "\x1b\u202e\U000e0041") || strings.Contains(v.Location, "sk-live") {
					t.Errorf("%s against %s: %+v", value, document, v)
				}
			}
		}
		if reported == 0 {
			t.Errorf("%s refuses nothing, so it proves nothing", document)
		}
	}
}

func TestReasonsAreCutAtARune(t *testing.T) {
	long := strings.Repeat("漢", 1000)
	for _, document := range []string{
		`{"properties": {"a": {"const": "` + long + `"}}}`, `{"properties": {"b": {"pattern": "` + long + `"}}}`,
		`{"properties": {"a": {"enum": ["` + long + `1", "` + long + `2", "` + long + `3"]}}}`,
		`{"dependencies": {"` + long + `": ["c"]}}`, `{"propertyNames": {"enum": ["` + long + `1", "` + long + `2"]}}`,
	} {
		list := violations(t, document, `{"a": 1, "b": "x", "`+long+`": 1}`)
		if len(list) == 0 {
			t.Errorf("%.60s refuses nothing", document)
		}
		for _, v := range list {
			if len(v.Reason) > maxReason || strings.ContainsFunc(v.Reason, func(r rune) bool { return r > '~' }) {
				t.Errorf("%d bytes: %s", len(v.Reason), v.Reason)
			}
		}
	}
	for limit, want := range map[int]string{8: "a漢b漢", 7: "a漢...", 6: "a..."} {
		if got := cut("a漢b漢", limit); got != want {
			t.Errorf("%d: got %q, want %q", limit, got, want)
		}
	}
}
