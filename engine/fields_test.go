package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sallyport-mcp/sallyport/engine"
)

// A rule that can never fire, since what it reads does not exist, stops the start.
func TestRulesThatReadWhatIsNotThere(t *testing.T) {
	const closed = `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "object", "additionalProperties": false, "properties": {"b": {}}},
		"s": {"type": "string"}, "more": {"$ref": "#/definitions/x"}, "free": {"type": "object"}}, "definitions": {"x": {}}}`
	tools := schemas(map[string]string{"t": closed, "u": `{"type": "object", "additionalProperties": false, "properties": {"only": {}}}`})
	for condition, want := range map[string]string{
		`input.payload.a.b == 1`:                       "",
		`input.payload.a["b"][0].c == 1`:               "",
		`input.payload.more.x.y == 1`:                  "",
		`input.payload.free.x == 1`:                    "",
		`input.payload[input.tool] == 1`:               "",
		`some x in input.payload.only; x == 1`:         "",
		`input.tool == "u"; input.payload.only == 1`:   "",
		`"t" == input.tool; input.payload.a.b == 1`:    "",
		`input.payload.c == 1`:                         "own.rego:10: reads input.payload.c, which no tool has",
		`not input.payload.c`:                          "own.rego:10: reads input.payload.c, which no tool has",
		`input.payload.a.c == 1`:                       "own.rego:10: reads input.payload.a.c, which no tool has",
		`input.payload.s.c == 1`:                       "own.rego:10: reads input.payload.s.c, which no tool has",
		`input.tool == "u"; input.payload.a.b == 1`:    "own.rego:10: reads input.payload.a.b, which the tool u does not have",
		`input.tool == "tt"`:                           `own.rego:10: is for the tool "tt", which is not registered`,
		`input.tool == "t"`:                            "",
		`input.tool == "tt"; input.payload.a.b == 1`:   `own.rego:10: is for the tool "tt", which is not registered`,
		`input.payload.a.b in data.allowed.hosts`:      "",
		`data.allowed.by_tool[input.tool] == 1`:        "",
		`input.payload.a.b in data.allowed.host`:       "own.rego:10: reads data.allowed.host, which does not exist",
		`data.alowed.by_tool[input.tool] == 1`:         "own.rego:10: reads data.alowed.by_tool, which does not exist",
		`count(input.payload.a.b) > data.sallyport.x`:  "own.rego:10: reads data.sallyport.x, which does not exist",
		`input.payload.a.b == input.facts.deeepest`:    "undefined ref: input.facts.deeepest",
		`every x in input.payload.list { x == 1 }`:     "own.rego:10: reads input.payload.list, which no tool has",
		`count([x | x := input.payload.c; x > 1]) > 0`: "own.rego:10: reads input.payload.c, which no tool has",
	} {
		own := fstest.MapFS{
			"own.rego":  {Data: []byte(ownHeader + `deny contains {"path": "", "reason": "own"} if { ` + condition + ` }`)},
			"data.json": {Data: []byte(`{"allowed": {"hosts": ["x"], "by_tool": {}}}`)},
		}
		_, err := engine.New(context.Background(), tools, engine.WithPolicies(own))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", condition, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", condition, err, want)
		}
	}
}

// The tools of a server may change, so there it is told and no more.
func TestRulesForToolsOfAServer(t *testing.T) {
	log, logs := observed()
	newEngine(t, listed("t", `{"type": "object", "additionalProperties": false, "properties": {"a": {}}}`), log, ownRule(`deny contains {"path": "", "reason": "own"} if input.payload.b == 1`))
	if n := logs.FilterMessage("a rule reads what no tool has").Len(); n != 1 {
		t.Errorf("told %d times", n)
	}
}
