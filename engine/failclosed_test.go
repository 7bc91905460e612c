package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
)

// Whatever keeps a call from being judged refuses it, says so in one fixed reason
// and logs the cause.
func TestFaultsRefuse(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		options []engine.Option
		cause   string
	}{
		"cancelled context": {cancelled, nil, "context canceled"},
		"rule divides by zero": {context.Background(), []engine.Option{ownRule(
			`deny contains {"path": "", "reason": sprintf("%d", [1 / (input.facts.bytes - 13)])} if input.tool == "bernstein_run"`,
		)}, "divide by zero"},
		"rule returns no pointer": {context.Background(), []engine.Option{ownRule(
			`deny contains {"path": "goal", "reason": "x"} if input.tool == "bernstein_run"`,
		)}, "not an RFC 6901 pointer"},
		"rule returns a bad escape": {context.Background(), []engine.Option{ownRule(
			`deny contains {"path": "/a~2", "reason": "x"} if input.tool == "bernstein_run"`,
		)}, "not an RFC 6901 pointer"},
		"rule returns text": {context.Background(), []engine.Option{ownRule(
			`deny contains "no" if input.tool == "bernstein_run"`,
		)}, "object.union"},
		"rule runs too long": {context.Background(), []engine.Option{engine.WithTimeout(50 * time.Millisecond), ownRule(
			`deny contains {"path": "", "reason": "x"} if {
	input.tool == "bernstein_run"
	some a in numbers.range(1, 2000)
	some b in numbers.range(1, 2000)
	some c in numbers.range(1, 2000)
	a + b + c == 0
}`)}, "cancel"},
	} {
		t.Run(name, func(t *testing.T) {
			logger, logs := observed()
			e := newEngine(t, append(c.options, logger)...)
			logs.TakeAll()
			accepted, err := e.Validate(c.ctx, "bernstein_run", []byte(`{"goal": "x"}`))
			if !errors.Is(err, engine.ErrFault) || accepted != nil {
				t.Fatalf("payload %v, error %v; want a fault", accepted, err)
			}
			var refusal *engine.ValidationError
			if !errors.As(err, &refusal) {
				t.Fatalf("the error is a %T", err)
			}
			want := []found{{"", "inspection", "the call could not be judged because of an internal fault, so it is refused"}}
			if diff := cmp.Diff(want, listOf(refusal)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if refusal.Code != -32602 {
				t.Errorf("code %d", refusal.Code)
			}
			entries := logs.All()
			if len(entries) != 1 || !strings.Contains(fmt.Sprint(entries[0].ContextMap()["cause"]), c.cause) {
				t.Errorf("logged %v, want a cause with %q", entries, c.cause)
			}
			// The engine survives.
			if name != "cancelled context" {
				mustAccept(t, e, "bernstein_health", `{}`)
			}
		})
	}
}

// A start that cannot be trusted fails, and says what to mend.
func TestStartFails(t *testing.T) {
	for name, c := range map[string]struct {
		option engine.Option
		want   []string
	}{
		"schema folder missing": {engine.WithSchemas(os.DirFS("testdata/no-such-folder")), []string{"load schemas", "no such file"}},
		"schema folder empty":   {engine.WithSchemas(fstest.MapFS{"notes.txt": {}}), []string{"there is no .json file"}},
		"schema folder nil":     {engine.WithSchemas(nil), []string{"no folder is given"}},
		"two bad schemas, both named": {
			schemas(map[string]string{"one": `{`, "two": `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "strng"}}}`}),
			[]string{"one.json: line 1, column 2", "two.json", "/properties/a/type"},
		},
		"duplicate key in a schema": {
			schemas(map[string]string{"one": "{\n \"type\": \"object\",\n \"type\": \"array\"}"}),
			[]string{"one.json: line 3, column 2 at /type: not valid JSON: duplicate key"},
		},
		"schema is an array":          {schemas(map[string]string{"one": `[]`}), []string{"one.json"}},
		"root says nothing of others": {schemas(map[string]string{"one": `{"type": "object"}`}), []string{"one.json", "additionalProperties"}},
		"timeout zero":                {schemas(map[string]string{"one": `{"type": "object", "additionalProperties": false, "timeoutSeconds": 0}`}), []string{"one.json: at /timeoutSeconds: 0"}},
		"timeout negative":            {schemas(map[string]string{"one": `{"type": "object", "additionalProperties": false, "timeoutSeconds": -1.5}`}), []string{"one.json: at /timeoutSeconds: -1.5"}},
		"timeout endless":             {schemas(map[string]string{"one": `{"type": "object", "additionalProperties": false, "timeoutSeconds": 1e300}`}), []string{"one.json: at /timeoutSeconds: 1e300"}},
		"timeout text":                {schemas(map[string]string{"one": `{"type": "object", "additionalProperties": false, "timeoutSeconds": "30"}`}), []string{"one.json: at /timeoutSeconds"}},
		"timeout boolean":             {schemas(map[string]string{"one": `{"type": "object", "additionalProperties": false, "timeoutSeconds": true}`}), []string{"one.json: at /timeoutSeconds"}},
		"remote reference": {
			schemas(map[string]string{"one": `{"type": "object", "additionalProperties": false, "properties": {"a": {"$ref": "https://example.com/x.json"}}}`}),
			[]string{"one.json", "/properties/a", "https://example.com/x.json"},
		},
		"file reference": {
			schemas(map[string]string{"one": `{"type": "object", "additionalProperties": false, "properties": {"a": {"$ref": "file:///etc/passwd"}}}`}),
			[]string{"one.json", "/properties/a", "file:///etc/passwd"},
		},
		"role property lost": {
			schemas(map[string]string{"bernstein_create_subtask": `{"type": "object", "additionalProperties": false, "properties": {"goal": {"type": "string"}}}`}),
			[]string{"bernstein_create_subtask.json: at /properties/role: there is no such property"},
		},
		"no roles":                {ownData(`{"sallyport": {"known_roles": []}}`), []string{"bernstein_create_subtask.json: at /properties/role", "empty list"}},
		"policy folder empty":     {engine.WithPolicies(fstest.MapFS{}), []string{"neither .rego files nor a data.json"}},
		"policy folder missing":   {engine.WithPolicies(os.DirFS("testdata/no-such-folder")), []string{"load policies", "no such file"}},
		"policy does not compile": {ownRule(`deny contains {`), []string{"own.rego:10"}},
		"policy without the import": {
			engine.WithPolicies(fstest.MapFS{"own.rego": {Data: []byte("package sallyport.rules.own\n\ndeny contains 1 if true")}}),
			[]string{"own.rego: `import rego.v2` is missing"},
		},
		"policy that sends":     {ownRule(`deny contains {"path": "", "reason": "x"} if http.send({"url": "http://127.0.0.1"}).status_code == 200`), []string{"undefined function http.send"}},
		"data malformed":        {ownData(`{"sallyport": {}`), []string{"data.json: line 1"}},
		"limit not a number":    {ownData(`{"sallyport": {"limits": {"max_bytes": "64k"}}}`), []string{"max_bytes is not a number"}},
		"limit fractional":      {ownData(`{"sallyport": {"limits": {"max_bytes": 1.5}}}`), []string{"max_bytes is not an integer"}},
		"disabled rule unknown": {ownData(`{"sallyport": {"disabled_rules": {"payload_sise": "x"}}}`), []string{"payload_sise"}},
		"nothing is forbidden": {
			ownData(`{"sallyport": {"limits": {"allowed_control_characters": ` + allCodePoints() + `}}}`),
			[]string{"self-test", "control_characters", "disable"},
		},
		"unknown mode":          {engine.WithMode("lenient"), []string{`mode "lenient"`}},
		"timeout of the engine": {engine.WithTimeout(-time.Second), []string{"timeout"}},
		"violations below one":  {engine.WithMaxViolations(-1), []string{"number of violations"}},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := engine.New(context.Background(), engine.WithLogger(zap.NewNop()), c.option)
			if err == nil || e != nil {
				t.Fatalf("engine %v, error %v; want no engine", e, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error:\n%v\ndoes not contain %q", err, want)
				}
			}
		})
	}
}

func allCodePoints() string {
	var all []int
	for r := range 0xA0 {
		all = append(all, r)
	}
	text, _ := json.Marshal(all)
	return string(text)
}

// An own rule may not weaken the built-in ones; where data does, the canaries of
// the rules stop the start.
func TestSelfTestNoticesADeadRule(t *testing.T) {
	_, err := engine.New(context.Background(), engine.WithLogger(zap.NewNop()), engine.WithAllowUnsafeArgs("canary"))
	if err == nil || !strings.Contains(err.Error(), "self-test: canary of payload_size: was not refused by it") {
		t.Errorf("error %v", err)
	}
}

func TestNothingPanics(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}))
	for _, arguments := range []string{
		"", "\x00", "{", `{"a"`, `{"a":`, "\xff", `"\ud800"`, `{"a":1e999999999}`, `{"a":` + strings.Repeat("9", 100) + `}`,
		strings.Repeat(`{"a":`, 100_000), strings.Repeat("[", 1_000_000), `{"a":"` + strings.Repeat(`\u0000`, 10_000) + `"}`,
		`{"` + strings.Repeat("k", 60_000) + `\u001b":{"` + strings.Repeat("~/", 2000) + `\u001b":1}}`, "NaN", "{\"a\":NaN}", "\xEF\xBB\xBF{}",
	} {
		if _, err := e.Validate(context.Background(), "open", []byte(arguments)); err == nil || errors.Is(err, engine.ErrFault) {
			t.Errorf("%.40q: error %v, want a plain refusal", arguments, err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	e := newEngine(t)
	var group sync.WaitGroup
	want, _ := json.Marshal(refused(t, e, "bernstein_run", `{"goal": "\u001b", "priority": 9, "x": 1}`).JSONRPC())
	for range 8 {
		group.Go(func() {
			for range 50 {
				mustAccept(t, e, "bernstein_run", `{"goal": "x"}`)
				got, _ := json.Marshal(refused(t, e, "bernstein_run", `{"goal": "\u001b", "priority": 9, "x": 1}`).JSONRPC())
				if string(got) != string(want) {
					t.Errorf("got %s\nwant %s", got, want)
				}
				if document, ok := e.AdvertisedSchema("bernstein_run"); ok {
					clear(document)
				}
			}
		})
	}
	group.Wait()
}
