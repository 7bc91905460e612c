package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/engine"
)

// listed are tools as a server lists them, as name and schema by turns.
func listed(pairs ...string) engine.Option {
	var tools []engine.ServerTool
	for i := 0; i < len(pairs); i += 2 {
		tools = append(tools, engine.ServerTool{Name: pairs[i], InputSchema: json.RawMessage(pairs[i+1])})
	}
	return engine.WithServerTools(tools)
}

const object = `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}}`

// A faulty tool takes neither the others down nor any call to it through.
func TestFaultyToolsAreQuarantined(t *testing.T) {
	for name, c := range map[string]struct {
		tools  engine.Option
		tool   string
		reason string
	}{
		"schema of a wrong type":   {listed("good", object, "bad", `{"type": "object", "properties": {"a": {"type": "strng"}}}`), "bad", `at /properties/a/type: must be one of "array", "boolean",`},
		"schema that is no JSON":   {listed("good", object, "bad", `{"type": `), "bad", "line 1, column 9 at /type: not valid JSON: unexpected end"},
		"duplicate keys":           {listed("good", object, "bad", `{"type": "object", "type": "object"}`), "bad", "line 1, column 20 at /type: not valid JSON: duplicate key"},
		"empty schema":             {listed("good", object, "bad", `{}`), "bad", "the schema is empty, so it allows everything"},
		"true":                     {listed("good", object, "bad", `true`), "bad", "the root is not an object"},
		"remote reference":         {listed("good", object, "bad", `{"type": "object", "properties": {"a": {"$ref": "https://x.example/a"}}}`), "bad", `at /properties/a/$ref: refers to "https://x.example/a", and nothing is ever fetched`},
		"two of one name":          {listed("good", object, "bad", object, "bad", `{"type": "object"}`), "bad", "the server lists 2 tools of this name"},
		"no schema":                {engine.WithServerTools([]engine.ServerTool{{Name: "good", InputSchema: json.RawMessage(object)}, {Name: "bad"}}), "bad", "the server lists the tool without an inputSchema"},
		"unusable entry":           {engine.WithServerTools([]engine.ServerTool{{Name: "good", InputSchema: json.RawMessage(object)}, {Name: "bad", Fault: errors.New("told so")}}), "bad", "told so"},
		"the name of a canary":     {listed("good", object, "canary", `{}`), "canary", "the schema is empty, so it allows everything"},
		"the name of a bound tool": {listed("good", object, "bernstein_create_subtask", object), "bernstein_create_subtask", "at /properties/role: there is no such property"},
		"several faults":           {listed("good", object, "bad", `{"type": "object", "reqired": [], "properties": {"a": {"nullable": true}}}`), "bad", "at /properties/a/nullable: nullable has no effect"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []engine.Mode{engine.Strict, engine.Permissive} {
				e := newEngine(t, c.tools, engine.WithMode(mode))
				if diff := cmp.Diff([]string{"good"}, e.Tools()); diff != "" {
					t.Errorf("tools (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{c.tool}, e.Quarantined()); diff != "" {
					t.Errorf("quarantined (-want +got):\n%s", diff)
				}
				if document, ok := e.AdvertisedSchema(c.tool); ok {
					t.Errorf("advertised: %s", document)
				}
				mustAccept(t, e, "good", `{"a": "x"}`)
				refusal := refused(t, e, c.tool, `{"a": "x"}`)
				if len(refusal.Violations) != 1 || refusal.Code != engine.CodeMethodNotFound || refusal.Violations[0].Rule != "quarantined_tool" {
					t.Fatalf("%s: refused by %+v", mode, refusal)
				}
				want := "the tool is in quarantine, since its schema cannot be enforced: " + c.reason
				if got := refusal.Violations[0].Reason; !strings.HasPrefix(got, want) {
					t.Errorf("the reason is %q, want %q...", got, want)
				}
				if mode == engine.Strict && refused(t, e, "neither", `{}`).Violations[0].Rule != "unknown_tool" {
					t.Error("a tool that nobody lists is not unknown")
				}
			}
		})
	}
}

func TestSchemaFindings(t *testing.T) {
	e := newEngine(t, listed(
		"b", `{"type": "object", "title": 7, "reqired": []}`,
		"a", `{"type": "object", "properties": {"x": {"type": "string", "example": 1}}}`,
	))
	want := []engine.SchemaFinding{
		{Tool: "a", Location: "/additionalProperties", Problem: "the root does not say whether other members are allowed", Remedy: "set additionalProperties to false"},
		{Tool: "a", Location: "/properties/x/example", Problem: `"example" has no effect in JSON Schema`, Remedy: "remove it, or name it x-example"},
		{Tool: "b", Location: "/reqired", Problem: `"reqired" is no keyword and would be ignored`, Remedy: "did you mean required?", Fault: true},
		{Tool: "b", Location: "/title", Problem: "is a number but must be a string", Remedy: "see the JSON Schema specification for this keyword", Fault: true},
	}
	if diff := cmp.Diff(want, e.SchemaFindings()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := want[2].String(); got != `at /reqired: "reqired" is no keyword and would be ignored; did you mean required?` {
		t.Errorf("shown as %q", got)
	}
}

// The source decides about defaults, and an option beats it.
func TestLoadOptions(t *testing.T) {
	const bad = `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "strng"}}}`
	const tuple = `{"type": "object", "additionalProperties": false, "properties": {"a": {"prefixItems": [{"type": "null"}]}}}`
	const list = `{"type": "object", "additionalProperties": false, "properties": {"a": {"items": [{"type": "null"}]}}}`
	const date = `{"type": "object", "additionalProperties": false, "properties": {"a": {"format": "date"}}}`
	file := func(document string) engine.Option { return schemas(map[string]string{"t": document}) }
	for name, c := range map[string]struct {
		options []engine.Option
		start   string // a part of the error at start; "" where there is none
		refuses string // a payload, "" for none
		accepts string
	}{
		"bad file":                        {options: []engine.Option{file(bad)}, start: "load schemas: t.json: at /properties/a/type: must be one of"},
		"bad file, per tool":              {options: []engine.Option{file(bad), engine.WithLoadPolicy(engine.PerTool)}, refuses: `{}`},
		"bad tool":                        {options: []engine.Option{listed("t", bad)}, refuses: `{}`},
		"bad tool, all or nothing":        {options: []engine.Option{listed("t", bad), engine.WithLoadPolicy(engine.AllOrNothing)}, start: "load schemas: t: at /properties/a/type: must be one of"},
		"no tool":                         {options: []engine.Option{listed()}, refuses: `{}`},
		"draft of 2020-12 in a file":      {options: []engine.Option{file(tuple)}, start: "prefixItems is not known in draft 7 and would be ignored; declare $schema as draft 2020-12 or later"},
		"the same, declared":              {options: []engine.Option{file(tuple), engine.WithDialect(engine.Draft202012)}, refuses: `{"a": [1]}`, accepts: `{"a": [null, 1]}`},
		"draft of 2020-12 from a server":  {options: []engine.Option{listed("t", tuple)}, refuses: `{}`},
		"draft 7 in a file":               {options: []engine.Option{file(list)}, start: "at /properties/a/items: a list of schemas is ignored by readers that take a document without $schema for draft 2020-12; declare $schema as draft 7"},
		"the same, also declared":         {options: []engine.Option{file(list), engine.WithDialect(engine.Draft7)}, refuses: `{"a": [1]}`, accepts: `{"a": [null, 1]}`},
		"format in a file":                {options: []engine.Option{file(date)}, refuses: `{"a": "x"}`, accepts: `{"a": "2026-01-02"}`},
		"format in a file, as a remark":   {options: []engine.Option{file(date), engine.WithFormats(engine.AnnotateFormats)}, accepts: `{"a": "x"}`},
		"format from a server":            {options: []engine.Option{listed("t", date)}, accepts: `{"a": "x"}`},
		"format from a server, asserted":  {options: []engine.Option{listed("t", date), engine.WithFormats(engine.AssertFormats)}, refuses: `{"a": "x"}`, accepts: `{"a": "2026-01-02"}`},
		"open root in a file":             {options: []engine.Option{file(`{"type": "object"}`)}, start: "at /additionalProperties: the root does not say whether other members are allowed"},
		"open root from a server":         {options: []engine.Option{listed("t", `{"type": "object"}`)}, accepts: `{"a": 1}`},
		"unknown dialect":                 {options: []engine.Option{engine.WithDialect("draft-03")}, start: `dialect "draft-03" is neither "draft-07" nor "2020-12"`},
		"unknown formats":                 {options: []engine.Option{engine.WithFormats("maybe")}, start: `formats "maybe" is neither "assert" nor "annotate"`},
		"unknown load policy":             {options: []engine.Option{engine.WithLoadPolicy("some")}, start: `load policy "some" is neither "all-or-nothing" nor "per-tool"`},
		"files and a server":              {options: []engine.Option{file(object), listed("t", object)}, start: "both files and the tools of a server are given"},
		"look-ahead":                      {options: []engine.Option{file(lookahead(`, "maxLength": 20`))}, start: "at /properties/a/pattern: the pattern"},
		"look-ahead, allowed":             {options: []engine.Option{file(lookahead(`, "maxLength": 20`)), engine.WithBacktrackingPatterns("t")}, refuses: `{"a": "abc"}`, accepts: `{"a": "abc1"}`},
		"look-ahead, allowed, unbounded":  {options: []engine.Option{file(lookahead(``)), engine.WithBacktrackingPatterns("t")}, start: "and the text that it is put to has no bound; put a maxLength of at most 1024"},
		"look-ahead, allowed elsewhere":   {options: []engine.Option{file(lookahead(`, "maxLength": 20`)), engine.WithBacktrackingPatterns("u")}, start: "at /properties/a/pattern: the pattern"},
		"too many subschemas by own data": {options: []engine.Option{file(object), ownData(`{"sallyport": {"schemas": {"max_subschemas": 1}}}`)}, start: "has more than 1 subschemas"},
		"wrong limit in own data":         {options: []engine.Option{file(object), ownData(`{"sallyport": {"schemas": {"max_steps": 0}}}`)}, start: "max_steps is 0 but must be at least 1"},
		"leniency that is not true":       {options: []engine.Option{file(object), ownData(`{"sallyport": {"leniency": {"drop_nulls": {"t": false}}}}`)}, start: "has at t a value that is not true"},
		"misspelt leniency":               {options: []engine.Option{file(object), ownData(`{"sallyport": {"leniency": {"drop_null": {"t": true}}}}`)}, start: "data: /sallyport/leniency/drop_null: there is no such member"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.start != "" {
				e, err := engine.New(context.Background(), c.options...)
				if err == nil || e != nil || !strings.Contains(err.Error(), c.start) {
					t.Fatalf("the start ends with %v, want %q", err, c.start)
				}
				return
			}
			e := newEngine(t, c.options...)
			if c.accepts != "" {
				mustAccept(t, e, "t", c.accepts)
			}
			if c.refuses != "" {
				refused(t, e, "t", c.refuses)
			}
		})
	}
}

// lookahead is a schema that asks for a digit somewhere in a.
func lookahead(more string) string {
	return `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string", "pattern": "(?=.*[0-9])^[a-z0-9]+$"` + more + `}}}`
}
