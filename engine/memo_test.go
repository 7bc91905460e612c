package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"testing/fstest"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/tests/shapes"
)

// Calls are answered byte for byte alike with the memo and without, the second time as
// well. The log has how many verdicts were known.
func TestMemoChangesNoAnswer(t *testing.T) {
	with, without := newEngine(t), newEngine(t, engine.WithVerdictMemo(0))
	type call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var calls []call
	for _, s := range shapes.All() {
		calls = append(calls, call{s.Tool, s.Payload})
	}
	file, err := os.Open("../tests/testdata/calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); decoder.More(); {
		var line struct {
			call
			Params call `json:"params"`
		}
		if err := decoder.Decode(&line); err != nil {
			break // what follows is broken on purpose
		}
		calls = append(calls, line.call, line.Params)
	}
	if len(calls) < 20 {
		t.Fatalf("only %d calls", len(calls))
	}
	for range 3 {
		for _, c := range calls {
			got, want := answer(with, c.Name, c.Arguments), answer(without, c.Name, c.Arguments)
			if got != want {
				t.Errorf("%s %.100s: %s with the memo, %s without", c.Name, c.Arguments, got, want)
			}
		}
	}
	stats := with.MemoStats()
	if stats.Known == 0 || stats.Limit != "" {
		t.Errorf("%+v", stats)
	}
	t.Logf("%d calls, three times each: %+v", len(calls), stats)
	if stats := without.MemoStats(); stats.Limit != "it is switched off" || stats.Looked != 0 {
		t.Errorf("switched off: %+v", stats)
	}
}

func answer(e *engine.Engine, tool string, arguments []byte) string {
	accepted, err := e.Validate(context.Background(), tool, arguments)
	var refusal *engine.ValidationError
	if errors.As(err, &refusal) {
		text, err := json.Marshal(refusal.JSONRPC())
		return string(text) + errorText(err)
	}
	return string(accepted.Raw)
}

func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// A rule that reads the payload as a whole is asked each time, and the log says so.
func TestRuleThatReadsAllIsAskedEachTime(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	e, err := engine.New(context.Background(), engine.WithMode(engine.Strict), engine.WithLogger(zap.New(core)), engine.WithPolicies(fstest.MapFS{"poets.rego": {Data: []byte(`# METADATA
# scope: package
# title: No poets
# description: None at all.
# custom: {severity: low}
package sallyport.rules.poets

import rego.v2

deny contains {"path": "/goal", "reason": "no poets"} if {
	some value in input.payload
	value == "poet"
}
`)}}))
	if err != nil {
		t.Fatal(err)
	}
	before := e.MemoStats() // of the self-test
	for range 3 {
		mustAccept(t, e, "bernstein_run", `{"goal": "prose"}`)
		refused(t, e, "bernstein_run", `{"goal": "poet"}`)
	}
	stats := e.MemoStats()
	if stats.Known != 0 || stats.Partly-before.Partly != 2 || stats.Looked-before.Looked != 6 {
		t.Errorf("%+v, before %+v", stats, before)
	}
	entries := logs.FilterMessageSnippet("are not remembered as a whole").All()
	if len(entries) != 1 || entries[0].ContextMap()["why"] != "poets.rego:11: a rule reads the payload as a whole" {
		t.Errorf("%v", entries)
	}
}
