package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/sallyport-mcp/sallyport/engine"
)

func observed() (engine.Option, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.DebugLevel)
	return engine.WithLogger(zap.New(core)), logs
}

func TestModeComesFromEnvironmentOrOption(t *testing.T) {
	for name, c := range map[string]struct {
		variable string
		options  []engine.Option
		want     engine.Mode
	}{
		"default":                       {"", nil, engine.Strict},
		"permissive":                    {"permissive", nil, engine.Permissive},
		"permissive, spaces and case":   {" \tPERMissive\n", nil, engine.Permissive},
		"strict":                        {"strict", nil, engine.Strict},
		"anything else":                 {"true", nil, engine.Strict},
		"nearly":                        {"permissive!", nil, engine.Strict},
		"option beats it to permissive": {"strict", []engine.Option{engine.WithMode(engine.Permissive)}, engine.Permissive},
		"option beats it to strict":     {"permissive", []engine.Option{engine.WithMode(engine.Strict)}, engine.Strict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(engine.ModeVariable, c.variable)
			e, err := engine.New(context.Background(), append(c.options, engine.WithLogger(zap.NewNop()))...)
			if err != nil {
				t.Fatal(err)
			}
			if e.Mode() != c.want {
				t.Errorf("mode %s, want %s", e.Mode(), c.want)
			}
		})
	}
}

func TestModeIsReadOnce(t *testing.T) {
	t.Setenv(engine.ModeVariable, "strict")
	e, err := engine.New(context.Background(), engine.WithLogger(zap.NewNop()))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(engine.ModeVariable, "permissive")
	if _, err := e.Validate(context.Background(), "bernstein_run", []byte(`{}`)); err == nil {
		t.Error("the variable changed a running engine")
	}
}

func TestPermissivePassesWhatStrictRefuses(t *testing.T) {
	logger, logs := observed()
	e := newEngine(t, engine.WithMode(engine.Permissive), logger)
	if n := logs.FilterMessageSnippet("permissive mode").Len(); n != 1 {
		t.Errorf("the start says so %d times", n)
	}
	for name, c := range map[string]struct {
		tool, arguments string
		payload         map[string]any
		checks          []string
	}{
		"schema":          {"bernstein_run", `{"priority": "high"}`, map[string]any{"priority": "high"}, []string{"/goal required", "/priority type"}},
		"unknown tool":    {"nobody", `{"a": "b"}`, map[string]any{"a": "b"}, []string{" unknown_tool"}},
		"not an object":   {"bernstein_run", `42`, map[string]any{}, []string{" payload_shape"}},
		"malformed":       {"bernstein_run", `{"goal": "a", "goal": "b"}`, map[string]any{}, []string{"/goal payload_shape"}},
		"control":         {"bernstein_run", `{"goal": "\u001b"}`, map[string]any{"goal": "\x1b"}, []string{"/goal control_characters"}},
		"over the limit":  {"bernstein_status", `{"status": "` + strings.Repeat("x", 70_000) + `"}`, map[string]any{"status": strings.Repeat("x", 70_000)}, []string{" payload_size"}},
		"nested too deep": {"bernstein_status", nested(3, `{"a":`, `}`, nested(8, `[`, `]`, `0`)), nil, []string{"/a/a/a/0/0/0/0/0/0/0/0 payload_depth"}},
	} {
		t.Run(name, func(t *testing.T) {
			logs.TakeAll()
			got := mustAccept(t, e, c.tool, c.arguments)
			if got.Bypassed == nil {
				t.Fatal("the payload does not say that it was bypassed")
			}
			if diff := cmp.Diff(c.checks, checksOf(got.Bypassed)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.payload != nil {
				if diff := cmp.Diff(c.payload, got.Payload); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			if string(got.Raw) != c.arguments {
				t.Errorf("raw %.80s, want the bytes as received", got.Raw)
			}
			entries := logs.All()
			if len(entries) != 1 || entries[0].Level != zapcore.WarnLevel {
				t.Fatalf("log entries: %v", entries)
			}
			fields := entries[0].ContextMap()
			violations, _ := fields["violations"].([]engine.Violation)
			if fields["tool"] != c.tool || fields["code"] != int64(got.Bypassed.Code) || len(violations) != len(c.checks) {
				t.Errorf("logged %v", fields)
			}
		})
	}
	t.Run("clean calls are not marked", func(t *testing.T) {
		logs.TakeAll()
		if got := mustAccept(t, e, "bernstein_run", `{"goal": "x"}`); got.Bypassed != nil || logs.Len() != 0 {
			t.Errorf("bypassed %v, %d log entries", got.Bypassed, logs.Len())
		}
	})
}

func TestPermissiveNeverLiftsTheCeilings(t *testing.T) {
	e := newEngine(t, engine.WithMode(engine.Permissive))
	for name, arguments := range map[string]string{
		"size":           payloadOf(4<<20 + 1),
		"depth":          nested(65, `{"a":`, `}`, `0`),
		"100k brackets":  `{"a":` + strings.Repeat("[", 100_000),
		"depth, unknown": nested(65, `{"a":`, `}`, `0`),
	} {
		tool := "bernstein_status"
		if strings.HasSuffix(name, "unknown") {
			tool = "nobody"
		}
		refused(t, e, tool, arguments)
	}
	mustAccept(t, e, "bernstein_status", payloadOf(4<<20))
	mustAccept(t, e, "bernstein_status", nested(64, `{"a":`, `}`, `0`))
}

// A call that cannot be judged is refused in permissive mode, too.
func TestPermissiveNeverPassesAFault(t *testing.T) {
	logger, logs := observed()
	e := newEngine(t, engine.WithMode(engine.Permissive), logger, ownRule(`deny contains {"path": "", "reason": "x"} if {
	input.tool == "bernstein_run"
	1 / (input.facts.depth - 1) > 5
}`))
	logs.TakeAll()
	_, err := e.Validate(context.Background(), "bernstein_run", []byte(`{"goal": "x"}`))
	if !errors.Is(err, engine.ErrFault) {
		t.Errorf("%v, want a fault", err)
	}
	if logs.FilterLevelExact(zapcore.ErrorLevel).Len() != 1 {
		t.Errorf("log entries: %v", logs.All())
	}
}

const ownHeader = `# METADATA
# scope: package
# title: Own rule
# description: A rule of the user's own.
# custom: {severity: low}
package sallyport.rules.own

import rego.v2

`

func ownRule(rule string) engine.Option {
	return engine.WithPolicies(fstest.MapFS{"own.rego": {Data: []byte(ownHeader + rule)}})
}

func ownData(data string) engine.Option {
	return engine.WithPolicies(fstest.MapFS{"data.json": {Data: []byte(data)}})
}

func TestExemptToolsSkipThreeRulesOnly(t *testing.T) {
	documents := map[string]string{"open": open, "closed": `{"type": "object", "additionalProperties": false}`}
	for name, exempt := range map[string]engine.Option{
		"by option": engine.WithAllowUnsafeArgs("open", "closed"),
		"by data":   ownData(`{"sallyport": {"exemptions": {"allow_unsafe_args": {"open": true, "closed": true}}}}`),
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, schemas(documents), exempt)
			for _, arguments := range []string{
				payloadOf(65537), payloadOf(4 << 20), nested(64, `{"a":`, `}`, `0`), `{"a": "\u001b"}`, `{"\u0000": 1}`,
			} {
				if got := mustAccept(t, e, "open", arguments); got.Bypassed != nil {
					t.Error("an exemption is not a bypass")
				}
			}
			for arguments, want := range map[string]string{
				payloadOf(4<<20 + 1):                    " hard_ceiling",
				nested(65, `{"a":`, `}`, `0`):           strings.Repeat("/a", 65) + " hard_ceiling",
				`{"a": ` + strings.Repeat("[", 200_000): "/a" + strings.Repeat("/0", 64) + " hard_ceiling",
				`{"a": 1, "a": 2}`:                      "/a payload_shape",
				`[]`:                                    " payload_shape",
			} {
				if diff := cmp.Diff([]string{want}, checksOf(refused(t, e, "open", arguments))); diff != "" {
					t.Errorf("%.40s (-want +got):\n%s", arguments, diff)
				}
			}
			if diff := cmp.Diff([]string{"/a additionalProperties"}, checksOf(refused(t, e, "closed", payloadOf(70_000)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := e.ValidateReader(context.Background(), "open", strings.NewReader(payloadOf(1<<20))); err != nil {
				t.Errorf("reader: %v", err)
			}
		})
	}
}

func TestAMisspeltExemptionIsReported(t *testing.T) {
	logger, logs := observed()
	newEngine(t, logger, engine.WithAllowUnsafeArgs("bernstein_rum"))
	if logs.FilterMessageSnippet("not registered").Len() != 1 {
		t.Errorf("log entries: %v", logs.All())
	}
}

func TestOwnRulesAndData(t *testing.T) {
	logger, logs := observed()
	e := newEngine(t, logger, engine.WithPolicies(fstest.MapFS{
		"shouting.rego":      {Data: []byte(ownHeader + `deny contains {"path": "/goal", "reason": "do not shout"} if input.payload.goal == upper(input.payload.goal)`)},
		"shouting_test.rego": {Data: []byte("this is no Rego and is not loaded")},
		"data.json":          {Data: []byte(`{"sallyport": {"limits": {"max_depth": 2}, "known_roles": ["poet"], "disabled_rules": {"control_characters": "not here"}}}`)},
	}))
	if diff := cmp.Diff([]string{"/goal own"}, checksOf(refused(t, e, "bernstein_run", `{"goal": "NOW"}`))); diff != "" {
		t.Errorf("own rule (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/completed_ids/0/0 payload_depth"}, checksOf(refused(t, e, "bernstein_claim", `{"claimer_id": "a", "completed_ids": [["x"]]}`))); diff != "" {
		t.Errorf("own limit (-want +got):\n%s", diff)
	}
	mustAccept(t, e, "bernstein_create_subtask", `{"parent_task_id": "t", "goal": "x", "role": "poet"}`)
	mustAccept(t, e, "bernstein_run", `{"goal": "a\u001b"}`)
	if logs.FilterMessageSnippet("switched off").Len() != 1 {
		t.Errorf("log entries: %v", logs.All())
	}
	schema, _ := e.AdvertisedSchema("bernstein_create_subtask")
	if !strings.Contains(string(schema), `"enum": ["poet"]`) {
		t.Errorf("the advertised schema does not have the roles of the data: %s", schema)
	}
}

// An own rule that halts for every tool but its own does not stop the start.
func TestOwnAllowListStarts(t *testing.T) {
	e := newEngine(t, ownRule(`deny contains {"path": "", "reason": "this tool is not allowed here", "halt": true} if input.tool != "bernstein_health"`))
	mustAccept(t, e, "bernstein_health", `{}`)
	if diff := cmp.Diff([]string{" own"}, checksOf(refused(t, e, "bernstein_run", `{}`))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
