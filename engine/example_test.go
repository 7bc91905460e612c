package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing/fstest"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
)

func Example() {
	ctx := context.Background()
	eng, err := engine.New(ctx)
	if err != nil {
		panic(err) // no engine, no service
	}
	arguments := []byte(`{"goal": "clear \u001b[2J the screen", "priority": 9}`)
	payload, err := eng.Validate(ctx, "bernstein_run", arguments)
	var refusal *engine.ValidationError
	if errors.As(err, &refusal) {
		for _, v := range refusal.Violations {
			fmt.Println(v.Path, "-", v.Reason)
		}
		return
	}
	fmt.Println("forward", string(payload.Raw))
	// Output:
	// /goal - the string has 1 forbidden control character: U+001B
	// /priority - is 9 but must be at most 3
}

func ExampleEngine_Validate() {
	eng, err := engine.New(context.Background())
	if err != nil {
		panic(err)
	}
	payload, err := eng.Validate(context.Background(), "bernstein_run", []byte(`{"goal": "write the notes", "priority": 2}`))
	fmt.Println(payload.Payload["priority"], err)
	// Output: 2 <nil>
}

func ExampleEngine_ValidateReader() {
	eng, err := engine.New(context.Background())
	if err != nil {
		panic(err)
	}
	endless := strings.NewReader(`{"goal": "` + strings.Repeat("x", 1<<20) + `"}`)
	_, err = eng.ValidateReader(context.Background(), "bernstein_run", endless)
	fmt.Println(err)
	// Output: invalid arguments for "bernstein_run": arguments have at least 65537 bytes but at most 65536 are allowed
}

func ExampleValidationError_JSONRPC() {
	eng, err := engine.New(context.Background())
	if err != nil {
		panic(err)
	}
	_, err = eng.Validate(context.Background(), "bernstein_run", []byte(`{"gaol": "x"}`))
	var refusal *engine.ValidationError
	if errors.As(err, &refusal) {
		object, _ := json.MarshalIndent(refusal.JSONRPC().Data, "", "  ")
		fmt.Println(refusal.JSONRPC().Code, string(object))
	}
	// Output:
	// -32602 {
	//   "tool": "bernstein_run",
	//   "errors": [
	//     {
	//       "path": "/gaol",
	//       "reason": "unexpected property; the schema allows no others"
	//     },
	//     {
	//       "path": "/goal",
	//       "reason": "required property is missing"
	//     }
	//   ]
	// }
}

func ExampleNew() {
	// Tools and rules of one's own: any fs.FS will do, os.DirFS for a folder.
	schemas := fstest.MapFS{"greet.json": {Data: []byte(`{
		"$schema": "http://json-schema.org/draft-07/schema#",
		"type": "object",
		"additionalProperties": false,
		"properties": {"name": {"type": "string", "maxLength": 20}}
	}`)}}
	rules := fstest.MapFS{"polite.rego": {Data: []byte(`# METADATA
# scope: package
# title: Impolite name
# description: A name that is written in capitals only.
# custom: {severity: low}
package sallyport.rules.polite

import rego.v2

deny contains {"path": "/name", "reason": "do not shout"} if {
	input.tool == "greet"
	input.payload.name == upper(input.payload.name)
}
`)}}
	eng, err := engine.New(context.Background(), engine.WithSchemas(schemas), engine.WithPolicies(rules))
	if err != nil {
		panic(err)
	}
	_, err = eng.Validate(context.Background(), "greet", []byte(`{"name": "ANNA"}`))
	fmt.Println(err)
	// Output: invalid arguments for "greet": /name do not shout
}

func ExampleWithMode() {
	eng, err := engine.New(context.Background(), engine.WithMode(engine.Permissive))
	if err != nil {
		panic(err)
	}
	payload, err := eng.Validate(context.Background(), "bernstein_run", []byte(`{"priority": 2}`))
	fmt.Println(err, payload.Bypassed)
	// Output: <nil> invalid arguments for "bernstein_run": /goal required property is missing
}

func ExampleWithAllowUnsafeArgs() {
	eng, err := engine.New(context.Background(), engine.WithAllowUnsafeArgs("bernstein_run"))
	if err != nil {
		panic(err)
	}
	_, err = eng.Validate(context.Background(), "bernstein_run", []byte(`{"goal": "\u001b", "priority": 9}`))
	fmt.Println(err)
	// Output: invalid arguments for "bernstein_run": /priority is 9 but must be at most 3
}

func ExampleEngine_AdvertisedSchema() {
	eng, err := engine.New(context.Background())
	if err != nil {
		panic(err)
	}
	document, ok := eng.AdvertisedSchema("bernstein_health")
	fmt.Println(ok, json.Valid(document))
	// Output: true true
}

func ExampleEngine_Tools() {
	eng, err := engine.New(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println(len(eng.Tools()), eng.Tools()[0])
	// Output: 25 bernstein_approve
}

func ExampleEngine_Timeout() {
	eng, err := engine.New(context.Background())
	if err != nil {
		panic(err)
	}
	limit, _ := eng.Timeout("load_skill")
	_, declared := eng.Timeout("bernstein_run")
	fmt.Println(limit, declared)
	// Output: 30s false
}

func ExampleEngine_Rules() {
	eng, err := engine.New(context.Background())
	if err != nil {
		panic(err)
	}
	for _, rule := range eng.Rules() {
		if rule.Off == "" { // rule packs are off
			fmt.Println(rule.Severity, rule.Name)
		}
	}
	// Output:
	// high control_characters
	// critical hard_ceiling
	// critical inspection
	// high payload_depth
	// high payload_shape
	// high payload_size
	// high quarantined_tool
	// medium role_enum
	// high unknown_tool
}

func ExampleDiffSchemas() {
	changes, err := engine.DiffSchemas(
		json.RawMessage(`{"type": "object", "properties": {"title": {"type": "string", "maxLength": 80}}, "required": ["title"]}`),
		json.RawMessage(`{"type": "object", "properties": {"title": {"type": "string", "maxLength": 8000}}}`),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range changes {
		fmt.Println(c.Severity, c.Location, c.Change)
	}
	// Output:
	// widened /properties/title/maxLength maxLength raised from 80 to 8000
	// widened /required required no longer lists "title"
}

// A server's schemas are not ours to mend: a faulty one takes its tool out, and no
// other.
func ExampleWithServerTools() {
	eng, err := engine.New(context.Background(), engine.WithLogger(zap.NewNop()), engine.WithServerTools([]engine.ServerTool{
		{Name: "read", InputSchema: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}`)},
		{Name: "write", InputSchema: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "text"}}}`)},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(eng.Tools(), eng.Quarantined())
	_, err = eng.Validate(context.Background(), "read", []byte(`{"path": 1}`))
	fmt.Println(err)
	// Output:
	// [read] [write]
	// invalid arguments for "read": /path is a number but must be a string
}
