package schema_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sallyport-mcp/sallyport/engine/internal/schema"
)

var options = schema.Options{Default: schema.Draft7, Limits: schema.Limits{
	Subschemas: 2000, EnumValues: 1000, Compile: time.Second, Steps: 10_000, StepsPerValue: 12, Validate: time.Second,
}}

func decode(text string) (value any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	return value
}

func ExampleSchema_Validate() {
	document := decode(`{"type": "object", "additionalProperties": false, "required": ["goal"],
		"properties": {"goal": {"type": "string"}, "priority": {"type": "integer", "maximum": 3}}}`)
	if _, err := schema.CheckRoot("run", document, options); err != nil {
		fmt.Println(err)
		return
	}
	s, _, err := schema.Compile("run", document, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	violations, err := s.Validate(context.Background(), decode(`{"priority": 9, "smuggle": true}`))
	if err != nil {
		fmt.Println("no answer:", err)
		return
	}
	for _, v := range violations {
		fmt.Println(v.Tokens, v.Reason)
	}
	// Output:
	// [goal] required property is missing
	// [priority] is 9 but must be at most 3
	// [smuggle] unexpected property; the schema allows no others
}

func ExampleCompile() {
	_, _, err := schema.Compile("run", decode(`{"properties": {"goal": {"maxlength": 9, "type": "text"}, "next": {"$ref": "https://example.com/next"}}}`), options)
	fmt.Println(err)
	// Output:
	// at /properties/goal/maxlength: "maxlength" is no keyword and would be ignored; did you mean maxLength?
	// at /properties/goal/type: must be one of "array", "boolean", "integer", "null", "number", "object", "string"; see the JSON Schema specification for this keyword
	// at /properties/next/$ref: refers to "https://example.com/next", and nothing is ever fetched; copy what it refers to into this document
}
