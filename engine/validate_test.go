package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
)

// open is a schema that lets everything pass, so that only rules speak.
const open = `{"type": "object", "additionalProperties": true}`

// schemas is a registry of these documents by tool name.
func schemas(documents map[string]string) engine.Option {
	files := fstest.MapFS{}
	for name, document := range documents {
		files[name+".json"] = &fstest.MapFile{Data: []byte(document)}
	}
	return engine.WithSchemas(files)
}

func newEngine(t testing.TB, options ...engine.Option) *engine.Engine {
	t.Helper()
	defaults := []engine.Option{engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop())}
	e, err := engine.New(context.Background(), append(defaults, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// refused returns the refusal of a call that must not pass.
func refused(t testing.TB, e *engine.Engine, tool, arguments string) *engine.ValidationError {
	t.Helper()
	accepted, err := e.Validate(context.Background(), tool, []byte(arguments))
	if err == nil {
		t.Fatalf("%s %.200s: accepted as %v", tool, arguments, accepted.Payload)
	}
	var refusal *engine.ValidationError
	if !errors.As(err, &refusal) {
		t.Fatalf("%s %.200s: the error is a %T", tool, arguments, err)
	}
	if errors.Is(err, engine.ErrFault) {
		t.Fatalf("%s %.200s: %v", tool, arguments, errors.Unwrap(err))
	}
	return refusal
}

func mustAccept(t testing.TB, e *engine.Engine, tool, arguments string) *engine.ValidatedPayload {
	t.Helper()
	accepted, err := e.Validate(context.Background(), tool, []byte(arguments))
	if err != nil {
		t.Fatalf("%s %.200s: %v", tool, arguments, err)
	}
	return accepted
}

// found is what a test says about one violation.
type found struct{ Path, Check, Reason string }

func listOf(refusal *engine.ValidationError) []found {
	var list []found
	for _, v := range refusal.Violations {
		list = append(list, found{v.Path, v.Check(), v.Reason})
	}
	return list
}

func checksOf(refusal *engine.ValidationError) []string {
	var list []string
	for _, v := range refusal.Violations {
		list = append(list, v.Path+" "+v.Check())
	}
	return list
}

func TestAccepted(t *testing.T) {
	e := newEngine(t)
	raw := "{\"goal\": \"first line\\nsecond\\tline\", \"priority\": 2.0, \"parent_task_id\": null}"
	got := mustAccept(t, e, "bernstein_run", raw)
	want := &engine.ValidatedPayload{
		Tool:    "bernstein_run",
		Payload: map[string]any{"goal": "first line\nsecond\tline", "priority": json.Number("2.0"), "parent_task_id": nil},
		Raw:     []byte(raw),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAbsentArgumentsAreAnEmptyObject(t *testing.T) {
	e := newEngine(t)
	got, err := e.Validate(context.Background(), "bernstein_health", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Payload) != 0 || string(got.Raw) != "{}" {
		t.Errorf("payload %v, raw %s", got.Payload, got.Raw)
	}
	if _, err := e.Validate(context.Background(), "bernstein_run", nil); err == nil {
		t.Error("bernstein_run was accepted without its goal")
	}
}

// Each step of a verdict that ends it, and both doors together.
func TestRefused(t *testing.T) {
	e := newEngine(t)
	for name, c := range map[string]struct {
		tool, arguments string
		code            int
		want            []found
	}{
		"tool without a name": {"", `{}`, -32601, []found{
			{"", "unknown_tool", "the tool name is missing, empty or not a string"},
		}},
		"unknown tool, broken arguments": {"bernstein_rum", `[`, -32601, []found{
			{"", "unknown_tool", "no schema is registered for a tool of this name"},
		}},
		"tool name in another case": {"Bernstein_run", `{"goal": "x"}`, -32601, []found{
			{"", "unknown_tool", "no schema is registered for a tool of this name"},
		}},
		"null arguments": {"bernstein_health", `null`, -32602, []found{
			{"", "payload_shape", "arguments must be a JSON object, not null"},
		}},
		"empty arguments": {"bernstein_health", ``, -32602, []found{
			{"", "payload_shape", "malformed JSON at byte 0: there is no value"},
		}},
		"malformed array": {"bernstein_health", `[1,`, -32602, []found{
			{"", "payload_shape", "arguments must be a JSON object, not an array"},
		}},
		"duplicate key by an escape": {"bernstein_run", `{"goal": "a", "g\u006fal": "b", "x": 1}`, -32602, []found{
			{"/goal", "payload_shape", "malformed JSON at byte 14: this key appears twice in its object"},
		}},
		"trailing data": {"bernstein_run", `{"goal": "a"}{}`, -32602, []found{
			{"", "payload_shape", "malformed JSON at byte 13: there is more after the value"},
		}},
		"lone surrogate": {"bernstein_run", `{"goal": "\ud800"}`, -32602, []found{
			{"/goal", "payload_shape", "malformed JSON at byte 10: a surrogate escape has no partner"},
		}},
		"exponent": {"bernstein_run", `{"goal": "a", "priority": 1e309}`, -32602, []found{
			{"/priority", "payload_shape", "malformed JSON at byte 26: the exponent of a number is beyond 308"},
		}},
		"both doors": {"bernstein_run", `{"smuggle": true, "priority": 9, "goal": "clear\u001b[2J the\u0007 screen"}`, -32602, []found{
			{"/goal", "control_characters", "the string has 2 forbidden control characters: U+0007, U+001B"},
			{"/priority", "maximum", "is 9 but must be at most 3"},
			{"/smuggle", "additionalProperties", "unexpected property; the schema allows no others"},
		}},
		"the policy's enum wins": {"bernstein_create_subtask", `{"parent_task_id": "t-1", "goal": "x", "role": "poet"}`, -32602, []found{
			{"/role", "role_enum", `"poet" is not one of adversary, analyst, architect, backend, ci-fixer, data, devops, docs, frontend, manager, ` +
				`ml-engineer, prompt-engineer, qa, resolver, retrieval, reviewer, security, visionary, vp`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := refused(t, e, c.tool, c.arguments)
			if refusal.Code != c.code {
				t.Errorf("code %d, want %d", refusal.Code, c.code)
			}
			if diff := cmp.Diff(c.want, listOf(refusal)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// payloadOf is an object of exactly so many bytes.
func payloadOf(size int) string {
	const frame = `{"a":""}`
	return `{"a":"` + strings.Repeat("x", size-len(frame)) + `"}`
}

func TestSizeLimit(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}))
	mustAccept(t, e, "open", payloadOf(65536))
	mustAccept(t, e, "open", " \n"+payloadOf(65536)+"\r\n\t ")
	got := refused(t, e, "open", payloadOf(65537))
	if diff := cmp.Diff([]found{{"", "payload_size", "arguments have 65537 bytes but at most 65536 are allowed"}}, listOf(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSizeLimitOfReader(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}), engine.WithAllowUnsafeArgs("exempt"))
	validate := func(text string) (*engine.ValidatedPayload, int, error) {
		r := strings.NewReader(text)
		accepted, err := e.ValidateReader(context.Background(), "open", r)
		return accepted, len(text) - r.Len(), err
	}
	for name, text := range map[string]string{
		"at the limit":                   payloadOf(65536),
		"at the limit, white space":      "\n\n" + payloadOf(65536) + "\n\n",
		"at the limit, much white space": strings.Repeat(" ", 100_000) + payloadOf(65536) + strings.Repeat("\n", 200_000),
	} {
		accepted, _, err := validate(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(accepted.Raw) != strings.TrimSpace(text) && string(accepted.Raw) != text {
			t.Errorf("%s: %d bytes were judged", name, len(accepted.Raw))
		}
	}
	for name, text := range map[string]string{
		"one byte over":             payloadOf(65537),
		"far over":                  payloadOf(10 << 20),
		"second value behind space": payloadOf(65536) + strings.Repeat(" ", 100_000) + "{}",
	} {
		_, read, err := validate(text)
		var refusal *engine.ValidationError
		if !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := []found{{"", "payload_size", "arguments have at least 65537 bytes but at most 65536 are allowed"}}
		if diff := cmp.Diff(want, listOf(refusal)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if name == "far over" && read > 65537 {
			t.Errorf("%s: read %d bytes", name, read)
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

func TestBrokenReaderIsARefusal(t *testing.T) {
	e := newEngine(t)
	_, err := e.ValidateReader(context.Background(), "bernstein_run", brokenReader{})
	if !errors.Is(err, engine.ErrFault) || !strings.Contains(errors.Unwrap(err).Error(), "disk on fire") {
		t.Errorf("%v, unwrapped %v", err, errors.Unwrap(err))
	}
}

// nested is a value below depth levels of objects or arrays.
func nested(depth int, opening, closing, innermost string) string {
	return strings.Repeat(opening, depth) + innermost + strings.Repeat(closing, depth)
}

func TestDepthLimit(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}))
	for _, innermost := range []string{"0", "{}", "[]"} {
		for kind, c := range map[string]struct{ ten, eleven, path string }{
			"objects": {nested(10, `{"a":`, `}`, innermost), nested(11, `{"a":`, `}`, innermost), strings.Repeat("/a", 11)},
			"arrays": {
				`{"a":` + nested(9, `[`, `]`, innermost) + `}`, `{"a":` + nested(10, `[`, `]`, innermost) + `}`,
				"/a" + strings.Repeat("/0", 10),
			},
		} {
			mustAccept(t, e, "open", c.ten)
			want := []found{{c.path, "payload_depth", "values are nested 11 levels deep but at most 10 are allowed"}}
			if diff := cmp.Diff(want, listOf(refused(t, e, "open", c.eleven))); diff != "" {
				t.Errorf("%s around %s (-want +got):\n%s", kind, innermost, diff)
			}
		}
	}
}

// Even a tool that may send anything else sends no more values than the process can bear.
func TestValueCeiling(t *testing.T) {
	const most = 131_072
	items := func(n int) string { return `{"a":[` + strings.Repeat("0,", n-1) + `0]}` }
	e := newEngine(t, schemas(map[string]string{"open": open}), engine.WithAllowUnsafeArgs("open"), engine.WithMode(engine.Permissive))
	mustAccept(t, e, "open", items(most-2))
	want := []found{{"", "hard_ceiling", "arguments hold more than 131072 values, which no exemption lifts"}}
	if diff := cmp.Diff(want, listOf(refused(t, e, "open", items(most-1)))); diff != "" {
		t.Errorf("one more (-want +got):\n%s", diff)
	}
}

// Every code point up to U+009F in a value and in a key; all are refused but the
// printable ones, TAB, LF and CR.
func TestControlCharacters(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}))
	for r := rune(0); r < 0xA0; r++ {
		allowed := r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r < 0x7F
		escaped := fmt.Sprintf(`\u%04x`, r)
		for place, c := range map[string]struct{ arguments, path, subject string }{
			"value": {`{"text":"a` + escaped + `b"}`, "/text", "the string"},
			"key":   {`{"a` + escaped + `b":1}`, fmt.Sprintf(`/a\u{%x}b`, r), "the key"},
		} {
			if allowed {
				mustAccept(t, e, "open", c.arguments)
				continue
			}
			want := []found{{c.path, "control_characters", fmt.Sprintf("%s has 1 forbidden control character: U+%04X", c.subject, r)}}
			if diff := cmp.Diff(want, listOf(refused(t, e, "open", c.arguments))); diff != "" {
				t.Errorf("U+%04X in a %s (-want +got):\n%s", r, place, diff)
			}
		}
	}
}

func TestMoreControlCharacterStringsThanListed(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}))
	refusal := refused(t, e, "open", `{"a": [`+strings.Repeat(`"\u001b", `, 499)+`"\u001b"]}`)
	if len(refusal.Violations) != 32 || refusal.Omitted != 468 || !refusal.Truncated() {
		t.Errorf("%d violations, %d omitted", len(refusal.Violations), refusal.Omitted)
	}
}

// Allowed control characters do not use up the list, so that one bad string is
// found behind many harmless ones.
func TestHarmlessStringsDoNotHideABadOne(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}))
	refusal := refused(t, e, "open", `{"a": [`+strings.Repeat(`"line\n", `, 200)+`"\u001b"]}`)
	if diff := cmp.Diff([]string{"/a/200 control_characters"}, checksOf(refusal)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPointersAreRFC6901(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"closed": `{"type": "object", "additionalProperties": false, "required": ["m~n/o"]}`}))
	got := checksOf(refused(t, e, "closed", `{"a/b": 1, "~": 2, "": 3, "a~1": 4}`))
	want := []string{"/ additionalProperties", "/a~01 additionalProperties", "/a~1b additionalProperties", "/m~0n~1o required", "/~0 additionalProperties"}
	// Sorted by the key itself: "" "a/b" "a~1" "m~n/o" "~".
	want[1], want[2] = want[2], want[1]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestArrayIndexesSortAsNumbers(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"list": `{"type": "object", "additionalProperties": false,
		"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}`}))
	var items []string
	for i := range 12 {
		items = append(items, map[bool]string{true: `"x"`, false: "1"}[i == 2 || i == 11 || i == 10])
	}
	got := checksOf(refused(t, e, "list", `{"a": [`+strings.Join(items, ",")+`]}`))
	if diff := cmp.Diff([]string{"/a/2 type", "/a/10 type", "/a/11 type"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAtMostOneHundredViolations(t *testing.T) {
	documents := map[string]string{"list": `{"type": "object", "additionalProperties": false,
		"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}`}
	items := `{"a": [` + strings.Repeat(`"x",`, 149) + `"x"]}`
	for limit, options := range map[int][]engine.Option{
		100: {schemas(documents)},
		7:   {schemas(documents), engine.WithMaxViolations(7)},
	} {
		refusal := refused(t, newEngine(t, options...), "list", items)
		if len(refusal.Violations) != limit || refusal.Omitted != 150-limit || !refusal.Truncated() {
			t.Errorf("%d violations, %d omitted", len(refusal.Violations), refusal.Omitted)
		}
		if last := refusal.Violations[limit-1].Path; last != fmt.Sprintf("/a/%d", limit-1) {
			t.Errorf("the last of %d is %s", limit, last)
		}
		if want := fmt.Sprintf("; and %d more", 150-3); !strings.HasSuffix(refusal.Message, want) {
			t.Errorf("message %q does not end with %q", refusal.Message, want)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	e := newEngine(t)
	samples := []struct{ tool, arguments string }{
		{"bernstein_run", `{"z": 1, "y": 2, "x": 3, "priority": "high", "scope": null, "goal": "\u0000\u001b", "\u0007": 4}`},
		{"bernstein_post_artifact", `{"artifact_type": "table", "rows": [[1, "a", null], "b"], "q": 1, "r": 2}`},
		{"load_skill", `{"script": "\u009b", "reference": 1}`},
		{"bernstein_claim", `{"completed_ids": ["", 2, "a b"], "max_attempts": 1.5}`},
		{"nobody", `{"a": 1}`},
	}
	for _, sample := range samples {
		var first []byte
		for run := range 50 {
			answer, err := json.Marshal(refused(t, e, sample.tool, sample.arguments).JSONRPC())
			if err != nil {
				t.Fatal(err)
			}
			if run == 0 {
				first = answer
			}
			if diff := cmp.Diff(string(first), string(answer)); diff != "" {
				t.Fatalf("%v, run %d (-first +this):\n%s", sample, run, diff)
			}
		}
	}
}

func TestMessage(t *testing.T) {
	e := newEngine(t)
	for arguments, want := range map[string]string{
		`{}`:                  `invalid arguments for "bernstein_run": /goal required property is missing`,
		`{"priority": 9}`:     `invalid arguments for "bernstein_run": /goal required property is missing; /priority is 9 but must be at most 3`,
		`{"a":1,"b":2,"c":3}`: `invalid arguments for "bernstein_run": /a unexpected property; the schema allows no others; /b unexpected property; the schema allows no others; /c unexpected property; the schema allows no others; and 1 more`,
		`7`:                   `invalid arguments for "bernstein_run": arguments must be a JSON object, not a number`,
	} {
		if got := refused(t, e, "bernstein_run", arguments).Error(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", arguments, got, want)
		}
	}
	if got, want := refused(t, e, "nobody", `{}`).Error(), `unknown tool "nobody": no schema is registered for a tool of this name`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestViolationsCarryTheirOrigin(t *testing.T) {
	e := newEngine(t)
	refusal := refused(t, e, "bernstein_run", `{"goal": "\u001b", "priority": 9}`)
	want := []engine.Violation{
		{
			Path: "/goal", Reason: "the string has 1 forbidden control character: U+001B", Stage: engine.StagePolicy,
			Rule: "control_characters", Title: "Control character in a string or key", Severity: "high",
		},
		{
			Path: "/priority", Reason: "is 9 but must be at most 3", Stage: engine.StageSchema,
			Keyword: "maximum", SchemaLocation: "#/properties/priority/maximum",
		},
	}
	if diff := cmp.Diff(want, refusal.Violations, cmpopts.IgnoreUnexported(engine.Violation{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
