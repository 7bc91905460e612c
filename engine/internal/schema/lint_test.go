package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Words that JSON Schema would ignore, so that what they were meant to forbid
// passes.
func TestLintFaults(t *testing.T) {
	const (
		since2019 = "declare $schema as draft 2019-09 or later"
		since2020 = "declare $schema as draft 2020-12 or later"
		unknown7  = " is not known in draft 7 and would be ignored"
		gone      = " is not known in draft 2020-12 any more and would be ignored"
		beside    = " beside $ref is ignored in draft 7"
		both      = "put both into an allOf, or declare $schema as draft 2019-09 or later"
	)
	noKeyword := func(word string) string { return `"` + word + `" is no keyword and would be ignored` }
	for name, c := range map[string]struct{ document, at, problem, remedy string }{
		"near miss":                      {`{"properties": {"a": {"reqired": ["b"]}}}`, "/properties/a/reqired", noKeyword("reqired"), "did you mean required?"},
		"near miss in case and letters":  {`{"minlenght": 1}`, "/minlenght", noKeyword("minlenght"), "did you mean minLength?"},
		"near miss of a long word":       {`{"additionalproperty": false}`, "/additionalproperty", noKeyword("additionalproperty"), "did you mean additionalProperties?"},
		"near miss by case":              {`{"items": {"maxlength": 1}}`, "/items/maxlength", noKeyword("maxlength"), "did you mean maxLength?"},
		"near miss by case, short":       {`{"Type": "null"}`, "/Type", noKeyword("Type"), "did you mean type?"},
		"near miss of a short word":      {`{"enums": [1]}`, "/enums", noKeyword("enums"), "did you mean enum?"},
		"near miss in a dependency":      {`{` + in7 + `, "dependencies": {"a": {"propertes": {}}}}`, "/dependencies/a/propertes", noKeyword("propertes"), "did you mean properties?"},
		"near miss in a tuple":           {`{` + in7 + `, "items": [{}, {"patern": "x"}]}`, "/items/1/patern", noKeyword("patern"), "did you mean pattern?"},
		"near miss in a pattern":         {`{"patternProperties": {"x/y": {"formatt": "date"}}}`, "/patternProperties/x~1y/formatt", noKeyword("formatt"), "did you mean format?"},
		"near miss in a branch":          {`{"allOf": [{"if": {"minimun": 1}}]}`, "/allOf/0/if/minimun", noKeyword("minimun"), "did you mean minimum?"},
		"near miss in a definition":      {`{"definitions": {"d": {"maxItem": 1}}}`, "/definitions/d/maxItem", noKeyword("maxItem"), "did you mean maxItems?"},
		"near miss of our own":           {`{"timeoutSecond": 1}`, "/timeoutSecond", noKeyword("timeoutSecond"), "did you mean timeoutSeconds?"},
		"near miss where only a $ref is": {`{"x-shapes": {"s": {"reqired": ["a"]}}, "items": {"$ref": "#/x-shapes/s"}}`, "/x-shapes/s/reqired", noKeyword("reqired"), "did you mean required?"},
		"nullable":                       {`{"properties": {"a": {"type": "string", "nullable": true}}}`, "/properties/a/nullable", "nullable has no effect in JSON Schema, so null would be refused", `write type: [..., "null"] instead`},
		"prefixItems":                    {`{"prefixItems": [{}]}`, "/prefixItems", "prefixItems" + unknown7, since2020},
		"dependentRequired":              {`{"dependentRequired": {"a": ["b"]}}`, "/dependentRequired", "dependentRequired" + unknown7, since2019},
		"dependentSchemas":               {`{"dependentSchemas": {}}`, "/dependentSchemas", "dependentSchemas" + unknown7, since2019},
		"unevaluatedProperties":          {`{"unevaluatedProperties": false}`, "/unevaluatedProperties", "unevaluatedProperties" + unknown7, since2019},
		"unevaluatedItems":               {`{"unevaluatedItems": false}`, "/unevaluatedItems", "unevaluatedItems" + unknown7, since2019},
		"minContains":                    {`{"contains": {}, "minContains": 2}`, "/minContains", "minContains" + unknown7, since2019},
		"maxContains":                    {`{"contains": {}, "maxContains": 2}`, "/maxContains", "maxContains" + unknown7, since2019},
		"$anchor":                        {`{"$anchor": "a"}`, "/$anchor", "$anchor" + unknown7, since2019},
		"$recursiveRef":                  {`{"items": {"$recursiveRef": "#"}}`, "/items/$recursiveRef", "$recursiveRef" + unknown7, since2019},
		"$recursiveAnchor":               {`{"$recursiveAnchor": true}`, "/$recursiveAnchor", "$recursiveAnchor" + unknown7, since2019},
		"$dynamicRef":                    {`{"items": {"$dynamicRef": "#"}}`, "/items/$dynamicRef", "$dynamicRef" + unknown7, since2020},
		"$dynamicAnchor":                 {`{"$dynamicAnchor": "a"}`, "/$dynamicAnchor", "$dynamicAnchor" + unknown7, since2020},
		"prefixItems in 2019-09":         {`{` + in2019 + `, "prefixItems": [{}]}`, "/prefixItems", "prefixItems is not known in draft 2019-09 and would be ignored", since2020},
		"if in draft 6":                  {`{"$schema": "http://json-schema.org/draft-06/schema#", "if": {}}`, "/if", "if is not known in draft 6 and would be ignored", "declare $schema as draft 7 or later"},
		"const in draft 4":               {`{"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}`, "/const", "const is not known in draft 4 and would be ignored", "declare $schema as draft 6 or later"},
		"dependencies in 2020-12":        {`{` + in2020 + `, "dependencies": {"a": ["b"]}}`, "/dependencies", "dependencies" + gone, "use dependentRequired or dependentSchemas"},
		"additionalItems in 2020-12":     {`{` + in2020 + `, "additionalItems": false}`, "/additionalItems", "additionalItems" + gone, "use prefixItems with items"},
		"$recursiveAnchor in 2020-12":    {`{` + in2020 + `, "$recursiveAnchor": true}`, "/$recursiveAnchor", "$recursiveAnchor" + gone, "use $dynamicRef with $dynamicAnchor"},
		"maxLength beside $ref":          {`{"definitions": {"d": {}}, "items": {"$ref": "#/definitions/d", "maxLength": 5, "title": "fine"}}`, "/items/maxLength", "maxLength" + beside, both},
		"type beside $ref":               {`{"definitions": {"d": {}}, "items": {"$ref": "#/definitions/d", "type": "null"}}`, "/items/type", "type" + beside, both},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, err := Compile("t", decode(c.document), asFile)
			want := []CompileError{{Tool: "t", Location: c.at, Problem: c.problem, Remedy: c.remedy}}
			if diff := cmp.Diff(want, faultsIn(t, err)); diff != "" || s != nil {
				t.Errorf("%s (-want +got):\n%s", c.document, diff)
			}
		})
	}
}

// What is right, or harmless, is not refused; what has no effect is said.
func TestLintAccepts(t *testing.T) {
	for name, c := range map[string]struct {
		document string
		warnings []Warning
	}{
		"annotations beside $ref":      {`{"definitions": {"d": {}}, "items": {"$ref": "#/definitions/d", "title": "x", "description": "x", "default": 1, "examples": [1], "$comment": "x"}}`, nil},
		"assertions beside $ref, 2019": {`{` + in2019 + `, "$ref": "#/$defs/d", "maxLength": 5, "$defs": {"d": {}}}`, nil},
		"every annotation":             {`{"$id": "https://x/y", "$comment": "", "title": "", "description": "", "default": 1, "examples": [], "deprecated": true, "readOnly": true, "writeOnly": true}`, nil},
		"words in data":                {`{"enum": [{"reqired": 1, "$ref": "http://x"}], "default": {"reqired": 1, "$ref": "http://x"}, "const": {"reqired": 1, "$ref": "http://x"}, "examples": [{"typ": 1, "pattern": "(?="}]}`, nil},
		"words as names":               {`{"properties": {"reqired": {}, "nullable": {}, "prefixItems": {}, "$ref": {}}, "definitions": {"maxlength": {}}, "required": ["patern"], "dependencies": {"typ": ["nullable"]}}`, nil},
		"own extension":                {`{"x-anything": {"reqired": 1}, "timeoutSeconds": 30}`, nil},
		"metaschema":                   {`{"items": {"$ref": "http://json-schema.org/draft-07/schema#"}}`, nil},
		"anchor by $id":                {`{"definitions": {"d": {"$id": "#here"}}, "items": {"$ref": "#here"}}`, nil},
		"anchor":                       {`{` + in2020 + `, "$defs": {"d": {"$anchor": "here"}}, "items": {"$ref": "#here"}}`, nil},
		"reference by $id":             {`{"$id": "https://x/a", "definitions": {"d": {"$id": "b", "definitions": {"e": {}}}}, "items": [{"$ref": "b"}, {"$ref": "https://x/b#/definitions/e"}, {"$ref": "#/definitions/d"}]}`, nil},
		"escaped pointer":              {`{"definitions": {"a/b ~": {}}, "items": {"$ref": "#/definitions/a~1b%20~0"}}`, nil},
		"$id beside $ref":              {`{"items": {"$id": "https://x/y", "$ref": "#/definitions/d"}, "definitions": {"d": {}}}`, nil},
		"reference into a URN":         {`{"$id": "urn:tool:x", "definitions": {"d": {}}, "items": [{"$ref": "#/definitions/d"}, {"$ref": "urn:tool:x#/definitions/d"}]}`, nil},
		"dialect repeated":             {`{"$schema": "http://json-schema.org/draft-07/schema#", "items": {"$schema": "https://json-schema.org/draft-07/schema"}}`, nil},
		"greatest count":               {`{"maxLength": 2147483648, "minItems": 0.0, "maxProperties": 1e3}`, nil},
		"greatest exponent":            {`{"maximum": 1e308, "minimum": -1E+308, "multipleOf": 1e-308}`, nil},
		"boolean":                      {`true`, nil},
		"foreign word":                 {`{"example": 1}`, []Warning{{"/example", `"example" has no effect in JSON Schema`, "remove it, or name it x-example"}}},
		"unknown word":                 {`{"items": {"wholly-\u202e": 1}}`, []Warning{{"/items/wholly-\u202e", `"wholly-\u202e" is no keyword of JSON Schema and is ignored`, "remove it, or start its name with x-"}}},
		"unknown short word":           {`{"typ": 1}`, []Warning{{"/typ", `"typ" is no keyword of JSON Schema and is ignored`, "remove it, or start its name with x-"}}},
		"like a word that is gone":     {`{` + in2020 + `, "additionalItem": 1}`, []Warning{{"/additionalItem", `"additionalItem" is no keyword of JSON Schema and is ignored`, "remove it, or start its name with x-"}}},
		"unknown format":               {`{"items": {"format": "phone"}}`, []Warning{{"/items/format", `the format "phone" is not checked`, "use keywords that are checked, such as pattern or maximum"}}},
		"default that does not fit":    {`{"properties": {"a": {"type": "integer", "default": "1"}, "b": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}, "c": {"default": 7}}}`, []Warning{{"/properties/a/default", "the default does not fit its own schema", "correct one of them"}}},
		"default of a definition":      {`{"definitions": {"d": {"enum": [1, 2], "default": 3}}}`, []Warning{{"/definitions/d/default", "the default does not fit its own schema", "correct one of them"}}},
		"id of draft 4":                {`{"id": "x"}`, []Warning{{"/id", "id is not known in draft 7 any more and is ignored", "use $id"}}},
		"timeout below the root":       {`{"items": {"timeoutSeconds": 1}}`, []Warning{{"/items/timeoutSeconds", "timeoutSeconds has an effect at the root only", "move it there, or remove it"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s, warnings, err := Compile("t", decode(c.document), asDraft7)
			if err != nil || s == nil {
				t.Fatalf("%s: %v", c.document, err)
			}
			if diff := cmp.Diff(c.warnings, warnings); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.document, diff)
			}
		})
	}
}

// The list of formats that the validator checks is kept by hand.
func TestCheckedFormatsAreChecked(t *testing.T) {
	for name := range checkedFormats {
		if list := violations(t, `{"format": "`+name+`"}`, `"[{%<( \u0000~"`); len(list) != 1 {
			t.Errorf("%s takes anything", name)
		}
	}
	for _, name := range []string{"idn-email", "int32", "json", "password"} {
		if list := violations(t, `{"format": "`+name+`"}`, `"[{%<( \u0000~"`); checkedFormats[name] || len(list) != 0 {
			t.Errorf("%s: %v", name, list)
		}
	}
}

// A document without $schema is refused where the two drafts that it may be taken
// for differ.
func TestDoubtfulDialect(t *testing.T) {
	const (
		read7    = " is ignored by readers that take a document without $schema for draft 7"
		read2020 = " is ignored by readers that take a document without $schema for draft 2020-12"
		say7     = "declare $schema as draft 7"
		say2020  = "declare $schema as draft 2020-12"
	)
	for name, c := range map[string]struct {
		document            string
		options             Options
		at, problem, remedy string
	}{
		"prefixItems":           {`{"properties": {"a": {"prefixItems": [{}]}}}`, asListed, "/properties/a/prefixItems", "prefixItems" + read7, say2020},
		"dependentRequired":     {`{"dependentRequired": {"a": ["b"]}}`, asListed, "/dependentRequired", "dependentRequired" + read7, say2020},
		"dependentSchemas":      {`{"dependentSchemas": {}}`, asListed, "/dependentSchemas", "dependentSchemas" + read7, say2020},
		"unevaluatedProperties": {`{"unevaluatedProperties": false}`, asListed, "/unevaluatedProperties", "unevaluatedProperties" + read7, say2020},
		"unevaluatedItems":      {`{"unevaluatedItems": false}`, asListed, "/unevaluatedItems", "unevaluatedItems" + read7, say2020},
		"minContains":           {`{"contains": {}, "minContains": 2}`, asListed, "/minContains", "minContains" + read7, say2020},
		"maxContains":           {`{"contains": {}, "maxContains": 2}`, asListed, "/maxContains", "maxContains" + read7, say2020},
		"$anchor":               {`{"$defs": {"a": {"$anchor": "x"}}}`, asListed, "/$defs/a/$anchor", "$anchor" + read7, say2020},
		"$dynamicAnchor":        {`{"$dynamicAnchor": "x"}`, asListed, "/$dynamicAnchor", "$dynamicAnchor" + read7, say2020},
		"maxLength beside $ref": {`{"$defs": {"a": {}}, "properties": {"a": {"$ref": "#/$defs/a", "maxLength": 1, "description": "fine"}}}`, asListed, "/properties/a/maxLength", "maxLength beside $ref" + read7, say2020},
		"dependencies":          {`{"dependencies": {"a": ["b"]}}`, asFile, "/dependencies", "dependencies" + read2020, say7},
		"additionalItems":       {`{"items": {}, "additionalItems": false}`, asFile, "/additionalItems", "additionalItems" + read2020, say7},
		"items as a list":       {`{"items": [{}]}`, asFile, "/items", "a list of schemas" + read2020, say7},
		"$id as an anchor":      {`{"definitions": {"a": {"$id": "#x"}}}`, asFile, "/definitions/a/$id", "a name within the document" + read2020, say7},
		// These are refused in the draft that is taken, whatever the other one says.
		"items as a list, listed": {`{"items": [{}]}`, asListed, "/items", "is an array but must be a boolean or an object", specRemedy},
		"dependencies, listed":    {`{"dependencies": {"a": ["b"]}}`, asListed, "/dependencies", "dependencies is not known in draft 2020-12 any more and would be ignored", "use dependentRequired or dependentSchemas"},
		"$recursiveRef, listed":   {`{"items": {"$recursiveRef": "#"}}`, asListed, "/items/$recursiveRef", "$recursiveRef is not known in draft 2020-12 any more and would be ignored", "use $dynamicRef with $dynamicAnchor"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Compile("t", decode(c.document), c.options)
			want := []CompileError{{Tool: "t", Location: c.at, Problem: c.problem, Remedy: c.remedy}}
			if diff := cmp.Diff(want, faultsIn(t, err)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.document, diff)
			}
		})
	}
	for _, document := range []string{
		`{"definitions": {"a": {"type": "null"}}, "properties": {"a": {"$ref": "#/definitions/a", "title": "x", "default": null}}}`,
		`{"$defs": {"a": {"items": {"contains": true}}}, "if": true, "then": {"propertyNames": {"const": "a"}}, "else": false}`,
		`{"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}`,
	} {
		for _, o := range []Options{asFile, asListed} {
			if _, _, err := Compile("t", decode(document), o); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
	}
	for document, declared := range map[string]Dialect{`{"prefixItems": [{}]}`: Draft2020, `{"items": [{}], "dependencies": {}}`: Draft7} {
		for _, o := range []Options{asFile, asListed} {
			o.Declared = declared
			if _, _, err := Compile("t", decode(document), o); err != nil {
				t.Errorf("%s, declared as %s: %v", document, declared, err)
			}
		}
	}
}
