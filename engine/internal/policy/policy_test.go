package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
	"github.com/sallyport-mcp/sallyport/policies"
)

// builtIn reads the shipped rules as the engine does.
func builtIn(t testing.TB) (policy.Source, policy.Config) {
	t.Helper()
	source := policy.Source{Modules: map[string]string{}, BuiltIn: true}
	err := fs.WalkDir(policies.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".rego") || strings.HasSuffix(path, "_test.rego") {
			return err
		}
		text, err := fs.ReadFile(policies.FS, path)
		source.Modules[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	decode := func(name string, into any) []byte {
		text, err := fs.ReadFile(policies.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		if into != nil {
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.UseNumber()
			if err := decoder.Decode(into); err != nil {
				t.Fatal(err)
			}
		}
		return text
	}
	config := policy.Config{Timeout: 10 * time.Second}
	decode("data.json", &source.Data)
	decode("input.schema.json", &config.InputSchema)
	config.Capabilities = decode("capabilities.json", nil)
	return source, config
}

func cleanInput() policy.Input {
	return policy.Input{
		Tool:    "bernstein_run",
		Mode:    "strict",
		Payload: map[string]any{"goal": "write the release notes"},
		Facts: policy.Facts{
			Registered: true, Type: "object", Bytes: 34, BytesCounted: true, Complete: true, Depth: 1, Deepest: "/goal",
		},
	}
}

// compile adds one module of the user's own, and data, to the shipped rules.
func compile(t testing.TB, module string, data map[string]any) (*policy.Policy, error) {
	t.Helper()
	source, config := builtIn(t)
	own := policy.Source{Modules: map[string]string{}, Data: data}
	if module != "" {
		own.Modules["own.rego"] = module
	}
	return policy.New(context.Background(), []policy.Source{source, own}, config)
}

func mustCompile(t testing.TB, module string, data map[string]any) *policy.Policy {
	t.Helper()
	p, err := compile(t, module, data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const header = `# METADATA
# scope: package
# title: Own rule
# description: A rule of the user's own.
# custom: {severity: low}
package sallyport.rules.own

import rego.v2

`

func TestEvaluate(t *testing.T) {
	p := mustCompile(t, "", nil)
	clean := policy.Verdict{Code: -32602, OnRejection: policy.Refuse, OnSchemaRejection: policy.Refuse}
	for name, c := range map[string]struct {
		change func(*policy.Input)
		want   policy.Verdict
	}{
		"clean": {func(*policy.Input) {}, clean},
		"unknown tool": {
			func(in *policy.Input) { in.Facts.Registered = false },
			policy.Verdict{Halt: true, Code: -32601, OnRejection: policy.Refuse, OnSchemaRejection: policy.Refuse, Violations: []policy.Violation{
				{Rule: "unknown_tool", Reason: "no schema is registered for a tool of this name"},
			}},
		},
		"too large, permissive": {
			func(in *policy.Input) { in.Facts.Bytes, in.Mode = 65537, "permissive" },
			policy.Verdict{Halt: true, Code: -32602, OnRejection: policy.Bypass, OnSchemaRejection: policy.Bypass, Violations: []policy.Violation{
				{Rule: "payload_size", Reason: "arguments have 65537 bytes but at most 65536 are allowed"},
			}},
		},
		"fault": {
			func(in *policy.Input) {
				in.Payload, in.Facts.Complete, in.Facts.Stop = nil, false, "fault"
				in.Facts.Fault = &policy.Fault{Code: "duplicate_key", Path: "/a", Offset: 7}
			},
			policy.Verdict{Halt: true, Code: -32602, OnRejection: policy.Refuse, OnSchemaRejection: policy.Refuse, Violations: []policy.Violation{
				{Rule: "payload_shape", Path: "/a", Reason: "malformed JSON at byte 7: this key appears twice in its object"},
			}},
		},
		"control characters, more than listed": {
			func(in *policy.Input) {
				in.Facts.Strings = []policy.StringFact{{Path: "/goal", In: "value", CodePoints: []int{7, 27}, Count: 3}}
				in.Facts.StringsTotal = 5
			},
			policy.Verdict{Omitted: 4, Code: -32602, OnRejection: policy.Refuse, OnSchemaRejection: policy.Refuse, Violations: []policy.Violation{
				{Rule: "control_characters", Path: "/goal", Reason: "the string has 3 forbidden control characters: U+0007, U+001B"},
			}},
		},
		"role": {
			func(in *policy.Input) {
				in.Tool, in.Payload = "bernstein_create_subtask", map[string]any{"role": json.Number("7")}
			},
			policy.Verdict{Code: -32602, OnRejection: policy.Refuse, OnSchemaRejection: policy.Refuse, Violations: []policy.Violation{{
				Rule: "role_enum", Path: "/role", Keyword: "enum",
				Reason: "a value of type number is not one of adversary, analyst, architect, backend, ci-fixer, data, devops, docs, " +
					"frontend, manager, ml-engineer, prompt-engineer, qa, resolver, retrieval, reviewer, security, visionary, vp",
			}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := cleanInput()
			c.change(&in)
			got, err := p.Evaluate(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", in, diff)
			}
		})
	}
}

// A module or data document that does not hold is refused at load, with the
// file and what to do.
func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		module string
		data   map[string]any
		want   string
	}{
		"rego.v2 import missing": {
			strings.Replace(header, "import rego.v2\n", "", 1) + `deny contains {"path": "", "reason": "x"} if not input.payload.x`,
			nil, "own.rego: `import rego.v2` is missing",
		},
		"syntax error": {header + `deny contains {`, nil, "own.rego:10: rego_parse_error"},
		"empty module": {"# nothing", nil, "own.rego"},
		"impure builtin": {
			header + `deny contains {"path": "", "reason": "x"} if http.send({"method": "get", "url": "http://127.0.0.1"}).status_code == 200`,
			nil, "undefined function http.send",
		},
		"clock": {
			header + `deny contains {"path": "", "reason": "x"} if time.now_ns() > 0`,
			nil, "undefined function time.now_ns",
		},
		"misspelt fact": {
			header + `deny contains {"path": "", "reason": "x"} if input.facts.byte > 1`,
			nil, "undefined ref: input.facts.byte",
		},
		"unused variable": {
			header + "deny contains {\"path\": \"\", \"reason\": \"x\"} if {\n\tx := 1\n\tinput.facts.bytes > 1\n}",
			nil, "assigned var x unused",
		},
		"place outside the rules": {
			strings.Replace(header, "sallyport.rules.own", "sallyport.main", 1) + `verdict := {}`,
			nil, "is not of the form `package sallyport.rules.<name>`",
		},
		"another rule's package": {
			strings.Replace(header, "rules.own", "rules.payload_size", 1) + `deny contains {"path": "", "reason": "x"} if false`,
			nil, "package sallyport.rules.payload_size is also in rules/payload_size.rego",
		},
		"METADATA missing": {
			"package sallyport.rules.own\n\nimport rego.v2\n\ndeny contains {\"path\": \"\", \"reason\": \"x\"} if input.facts.bytes > 1",
			nil, "needs a METADATA comment",
		},
		"title missing": {
			strings.Replace(header, "# title: Own rule\n", "", 1) + `deny contains {"path": "", "reason": "x"} if input.facts.bytes > 1`,
			nil, "needs a title and a description",
		},
		"severity unknown": {
			strings.Replace(header, "severity: low", "severity: mild", 1) + `deny contains {"path": "", "reason": "x"} if input.facts.bytes > 1`,
			nil, "custom.severity, one of low, medium, high, critical",
		},
		"no deny set":         {header + `allow := true`, nil, "a rule needs a partial set"},
		"deny is not a set":   {header + `deny := true`, nil, "a rule needs a partial set"},
		"limit of wrong type": {"", map[string]any{"sallyport": map[string]any{"limits": map[string]any{"max_bytes": "64k"}}}, "max_bytes is not a number"},
		"limit is an object": {
			"", map[string]any{"sallyport": map[string]any{"limits": map[string]any{"max_bytes": map[string]any{}}}},
			"/sallyport/limits/max_bytes: an object and another type cannot be merged",
		},
		"limits replaced by a number": {
			"", map[string]any{"sallyport": map[string]any{"limits": 5}},
			"/sallyport/limits: an object and another type cannot be merged",
		},
		"limit out of range": {
			"", map[string]any{"sallyport": map[string]any{"answer": map[string]any{"max_violations": 0}}},
			"max_violations is 0 but must be at least 1",
		},
		"data in place of a rule": {
			"", map[string]any{"sallyport": map[string]any{"exempt": map[string]any{"rules": []any{"payload_size"}}}},
			"/sallyport/exempt: there is no such member",
		},
		"data in place of an own rule": {
			header + `deny contains {"path": "", "reason": "x"} if data.own.deny`,
			map[string]any{"own": map[string]any{}, "sallyport": map[string]any{"rules": map[string]any{"own": map[string]any{"deny": []any{}}}}},
			"/sallyport/rules: there is no such member",
		},
		"misspelt limit": {
			"", map[string]any{"sallyport": map[string]any{"limits": map[string]any{"max_byte": 5}}},
			"/sallyport/limits/max_byte: there is no such member; known are allowed_control_characters, max_bytes, max_depth",
		},
		"rule switched off without a reason": {
			"", map[string]any{"sallyport": map[string]any{"disabled_rules": map[string]any{"role_enum": false}}},
			"disabled_rules has at role_enum a value that is not a string (say why the rule is off)",
		},
		"rule that cannot be switched off": {
			"", map[string]any{"sallyport": map[string]any{"disabled_rules": map[string]any{"payload_shape": "in the way"}}},
			"/sallyport/disabled_rules/payload_shape: this rule cannot be switched off",
		},
		"unknown rule switched off": {
			"", map[string]any{"sallyport": map[string]any{"disabled_rules": map[string]any{"payload_sise": "typo"}}},
			"/sallyport/disabled_rules/payload_sise: there is no rule of this name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := compile(t, c.module, c.data)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v\nwant one with %q", err, c.want)
			}
		})
	}
}

func TestLoadReportsEveryFault(t *testing.T) {
	source, config := builtIn(t)
	own := policy.Source{Modules: map[string]string{"a.rego": "package a", "b.rego": "package b"}}
	_, err := policy.New(context.Background(), []policy.Source{source, own}, config)
	if err == nil || !strings.Contains(err.Error(), "a.rego") || !strings.Contains(err.Error(), "b.rego") {
		t.Errorf("error %v\nwant both files", err)
	}
}

// Whatever goes wrong in an evaluation is an error, never an empty verdict.
func TestEvaluateFailsClosed(t *testing.T) {
	for name, c := range map[string]struct{ rule, want string }{
		"division by zero":    {`deny contains {"path": "", "reason": sprintf("%d", [1 / (input.facts.depth - 1)])} if input.facts.bytes > 1`, "divide by zero"},
		"invalid regex":       {`deny contains {"path": "", "reason": "x"} if regex.match(concat("", ["(", input.tool]), "x")`, "error parsing regexp"},
		"finding is a string": {`deny contains "refused" if input.facts.bytes > 1`, "object.union"},
		"path missing":        {`deny contains {"reason": "x"} if input.facts.bytes > 1`, "rule own: path is missing"},
		"path not a pointer":  {`deny contains {"path": "goal", "reason": "x"} if input.facts.bytes > 1`, "not an RFC 6901 pointer"},
		"path a number":       {`deny contains {"path": 7, "reason": "x"} if input.facts.bytes > 1`, "path is not a string"},
		"reason missing":      {`deny contains {"path": ""} if input.facts.bytes > 1`, "rule own: reason is missing"},
		"keyword a number":    {`deny contains {"path": "", "reason": "x", "keyword": 7} if input.facts.bytes > 1`, "keyword is not a string"},
	} {
		t.Run(name, func(t *testing.T) {
			p := mustCompile(t, header+c.rule, nil)
			verdict, err := p.Evaluate(context.Background(), cleanInput())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("verdict %+v, error %v\nwant an error with %q", verdict, err, c.want)
			}
		})
	}
}

// The input is converted lazily, and OPA panics on numbers that it cannot hold.
func TestPanicIsAnError(t *testing.T) {
	p := mustCompile(t, header+`deny contains {"path": "", "reason": "x"} if input.payload.n > 1`, nil)
	in := cleanInput()
	in.Payload = map[string]any{"n": json.Number("1e999999999")}
	if _, err := p.Evaluate(context.Background(), in); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("error %v, want a recovered panic", err)
	}
}

const endless = `deny contains {"path": "", "reason": "x"} if {
	some a, b, c in numbers.range(1, 1000)
	a + b + c == 0
}`

func TestTimeoutIsAnError(t *testing.T) {
	source, config := builtIn(t)
	config.Timeout = 20 * time.Millisecond
	own := policy.Source{Modules: map[string]string{"own.rego": header + strings.Replace(endless, "some a, b, c in numbers.range(1, 1000)",
		"some a in numbers.range(1, 1000)\n\tsome b in numbers.range(1, 1000)\n\tsome c in numbers.range(1, 1000)", 1)}}
	p, err := policy.New(context.Background(), []policy.Source{source, own}, config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Evaluate(context.Background(), cleanInput()); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("error %v, want a cancelled evaluation", err)
	}
	config.Timeout = time.Hour
	if p, err = policy.New(context.Background(), []policy.Source{source, own}, config); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	if _, err := p.Evaluate(ctx, cleanInput()); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("error %v, want a cancelled evaluation", err)
	}
}

func TestReadBytes(t *testing.T) {
	p := mustCompile(t, "", map[string]any{"sallyport": map[string]any{"exemptions": map[string]any{
		"allow_unsafe_args": map[string]any{"trusted": true},
	}}})
	for name, c := range map[string]struct {
		tool, mode string
		want       int
	}{
		"normal":     {"bernstein_run", "strict", 65536},
		"exempt":     {"trusted", "strict", 4194304},
		"permissive": {"bernstein_run", "permissive", 4194304},
	} {
		in := cleanInput()
		in.Tool, in.Mode = c.tool, c.mode
		if got, err := p.ReadBytes(context.Background(), in); got != c.want || err != nil {
			t.Errorf("%s: %d, %v; want %d", name, got, err, c.want)
		}
	}
}

func TestRulesCarryTheirMetadata(t *testing.T) {
	rules := mustCompile(t, header+`deny contains {"path": "", "reason": "x"} if input.facts.bytes < 0`, nil).Rules()
	want := policy.Rule{
		Name: "own", Title: "Own rule", Description: "A rule of the user's own.", Severity: "low", File: "own.rego", Line: 6,
	}
	if diff := cmp.Diff(want, rules["own"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := rules["payload_size"]; got.Title != "Payload too large" || got.Severity != "high" || !got.BuiltIn {
		t.Errorf("payload_size: %+v", got)
	}
	for _, pattern := range []string{"rules/*.rego", "packs/*.rego"} {
		files, err := fs.Glob(policies.FS, pattern)
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			name, isTest := strings.CutSuffix(strings.TrimSuffix(path.Base(file), ".rego"), "_test")
			if got, ok := rules[name]; !isTest && (!ok || !got.BuiltIn || got.File != file || got.Title == "" || got.Severity == "") {
				t.Errorf("%s: %+v", file, got)
			}
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	p := mustCompile(b, "", nil)
	listed := cleanInput()
	for range 32 {
		listed.Facts.Strings = append(listed.Facts.Strings, policy.StringFact{Path: "/goal", In: "value", CodePoints: []int{27}, Count: 1})
	}
	listed.Facts.StringsTotal = 500
	for name, in := range map[string]policy.Input{"clean": cleanInput(), "32_control_strings": listed} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Evaluate(context.Background(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
