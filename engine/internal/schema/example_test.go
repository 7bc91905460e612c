package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine/internal/schema"
)

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
	if err := schema.CheckRoot("run", document); err != nil {
		fmt.Println(err)
		return
	}
	s, _, err := schema.Compile("run", document)
	if err != nil {
		fmt.Println(err)
		return
	}
	violations, err := s.Validate(decode(`{"priority": 9, "smuggle": true}`))
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
	_, _, err := schema.Compile("run", decode(`{"properties": {"goal": {"maxlength": 9, "type": "text"}, "next": {"$ref": "https://example.com/next"}}}`))
	fmt.Println(err)
	// Output:
	// at /properties/goal/maxlength: "maxlength" is no keyword and would be ignored; did you mean maxLength?
	// at /properties/goal/type: must be one of "array", "boolean", "integer", "null", "number", "object", "string"; see the JSON Schema specification for this keyword
	// at /properties/next/$ref: refers to "https://example.com/next", and nothing is ever fetched; copy what it refers to into this document
}
