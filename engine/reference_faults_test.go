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
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
)

// The reference implementation of this firewall has a numbered list of faults.
// Each test here is named after one and shows that this engine does not have it.
// Faults of the reference's handlers and transports have no counterpart here.

// 1: a lone surrogate made the validator raise instead of answer.
func TestReferenceFault01LoneSurrogate(t *testing.T) {
	e := newEngine(t)
	if got := checksOf(refused(t, e, "bernstein_run", `{"goal": "a\udc80b"}`)); got[0] != "/goal payload_shape" {
		t.Errorf("%v", got)
	}
}

// 2: some thousand levels of nesting raised a recursion error before the depth
// rule ran.
func TestReferenceFault02ReallyDeepPayload(t *testing.T) {
	e := newEngine(t)
	for _, depth := range []int{1_000, 10_000} {
		for _, arguments := range []string{nested(depth, `{"a":`, `}`, `0`), `{"a":` + strings.Repeat("[", depth)} {
			refusal := refused(t, e, "bernstein_run", arguments)
			if len(refusal.Violations) != 1 || refusal.Violations[0].Rule != "payload_depth" {
				t.Errorf("depth %d: %v", depth, listOf(refusal))
			}
		}
	}
}

// 3: cyclic values, and values that are no JSON, raised. The engine takes bytes,
// so there are none; text that only looks like JSON is refused.
func TestReferenceFault03NoJSONValue(t *testing.T) {
	e := newEngine(t)
	for _, arguments := range []string{`{"goal": NaN}`, `{"goal": Infinity}`, `{'goal': 'x'}`, `{"goal": undefined}`, `{"goal": "x",}`} {
		if got := checksOf(refused(t, e, "bernstein_run", arguments)); !strings.HasSuffix(got[0], " payload_shape") {
			t.Errorf("%s: %v", arguments, got)
		}
	}
}

// 5: an unknown argument was dropped before the validator could see it.
func TestReferenceFault05UnknownArgumentIsSeen(t *testing.T) {
	e := newEngine(t)
	if got := checksOf(refused(t, e, "bernstein_run", `{"goal": "x", "smuggle": "\u001b"}`)); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// 6: "2" passed for an integer, 1 and "true" for a boolean.
func TestReferenceFault06NoCoercion(t *testing.T) {
	e := newEngine(t)
	for _, c := range [][2]string{
		{"bernstein_run", `{"goal": "x", "priority": "2"}`},
		{"bernstein_run", `{"goal": "x", "priority": true}`},
		{"bernstein_run", `{"goal": "x", "parent_task_id": 7}`},
		{"bernstein_status", `{"detail": 1}`},
		{"bernstein_status", `{"detail": "true"}`},
		{"bernstein_status", `{"status": "null"}`},
	} {
		refused(t, e, c[0], c[1])
	}
}

// 7: null passed for members that are not nullable.
func TestReferenceFault07NullIsNotAbsent(t *testing.T) {
	e := newEngine(t)
	for _, c := range [][2]string{
		{"bernstein_claim", `{"claimer_id": "a", "completed_ids": null}`},
		{"bernstein_post_artifact", `{"task_id": "t", "key": "k", "artifact_type": "report", "poster": "p", "body": "b", "columns": null}`},
		{"bernstein_scenario", `{"action": "list", "scenario_id": null}`},
		{"load_skill", `{"name": null}`},
	} {
		if got := checksOf(refused(t, e, c[0], c[1])); !strings.HasSuffix(got[0], " type") {
			t.Errorf("%v: %v", c, got)
		}
	}
}

// 8: members that are advertised as nullable were refused.
func TestReferenceFault08NullableMembersTakeNull(t *testing.T) {
	e := newEngine(t)
	mustAccept(t, e, "bernstein_status", `{"status": null, "detail": null}`)
	mustAccept(t, e, "bernstein_task_capsule", `{"task_id": "t", "workdir": null, "verify": null}`)
	mustAccept(t, e, "bernstein_context", `{"task_id": "t", "workdir": null, "verify": null}`)
}

// 9: empty strings counted as absent where the schema forbids them.
func TestReferenceFault09EmptyStringIsNotAbsent(t *testing.T) {
	e := newEngine(t)
	got := checksOf(refused(t, e, "bernstein_post_artifact",
		`{"task_id": "t", "key": "k", "artifact_type": "link", "poster": "p", "url": "", "link_kind": "", "body": ""}`))
	want := []string{"/body minLength", "/link_kind enum", "/url minLength"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// 10: three tools never called the validator, a fourth was missed for long.
func TestReferenceFault10NoToolGoesUnchecked(t *testing.T) {
	e := newEngine(t)
	for _, tool := range e.Tools() {
		if got := checksOf(refused(t, e, tool, `{"no_such_member": "\u001b"}`)); !strings.Contains(strings.Join(got, " "), "/no_such_member additionalProperties") {
			t.Errorf("%s: %v", tool, got)
		}
	}
	refused(t, e, "verify_chain", `{"artefact_path": 5}`)
	refused(t, e, "bernstein_health", `{"a": 1}`)
}

// 12: `$` matched before a trailing line feed.
func TestReferenceFault12TrailingLineFeed(t *testing.T) {
	e := newEngine(t)
	if got := checksOf(refused(t, e, "bernstein_approve", `{"task_id": "t1\n"}`)); got[0] != "/task_id pattern" {
		t.Errorf("%v", got)
	}
	mustAccept(t, e, "bernstein_approve", `{"task_id": "t1"}`)
}

// 16: object keys were not checked for control characters.
func TestReferenceFault16ControlCharactersInKeys(t *testing.T) {
	e := newEngine(t)
	if got := checksOf(refused(t, e, "bernstein_run", `{"goal": "x", "a\u001bb": 1}`)); got[0] != `/a\u{1b}b control_characters` {
		t.Errorf("%v", got)
	}
}

// 18: duplicate keys were accepted, the last one won.
func TestReferenceFault18DuplicateKeys(t *testing.T) {
	e := newEngine(t)
	for _, arguments := range []string{`{"goal": "a", "goal": "a"}`, `{"goal": "a", "x": {"y": [{"z": 1, "\u007a": 1}]}}`} {
		if got := checksOf(refused(t, e, "bernstein_run", arguments)); !strings.HasSuffix(got[0], " payload_shape") {
			t.Errorf("%s: %v", arguments, got)
		}
	}
}

// 19: an exemption had no upper bound at all, and could not be configured.
func TestReferenceFault19ExemptionIsBounded(t *testing.T) {
	for _, option := range []engine.Option{
		engine.WithAllowUnsafeArgs("open"),
		ownData(`{"sallyport": {"exemptions": {"allow_unsafe_args": {"open": true}}}}`),
	} {
		e := newEngine(t, schemas(map[string]string{"open": open}), option)
		mustAccept(t, e, "open", payloadOf(4<<20))
		refused(t, e, "open", payloadOf(4<<20+1))
	}
}

// 22: a subtask without a role was refused, since a default was validated.
func TestReferenceFault22RoleMayBeLeftOut(t *testing.T) {
	mustAccept(t, newEngine(t), "bernstein_create_subtask", `{"parent_task_id": "t", "goal": "x"}`)
}

// 25: nothing required a schema to say what happens to other members, misspelt
// keywords loaded silently, and a lost property lost its list of roles.
func TestReferenceFault25SchemasAreCheckedAtLoad(t *testing.T) {
	for name, c := range map[string]struct{ tool, document string }{
		"root open by silence": {"t", `{"type": "object"}`},
		"misspelt keyword":     {"t", `{"type": "object", "additionalProperties": false, "reqired": ["a"]}`},
		"misspelt deep inside": {"t", `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string", "maxlength": 5}}}`},
		"role lost":            {"bernstein_create_subtask", `{"type": "object", "additionalProperties": false, "properties": {"rolle": {"type": "string"}}}`},
	} {
		if _, err := engine.New(context.Background(), engine.WithLogger(zap.NewNop()), schemas(map[string]string{c.tool: c.document})); err == nil {
			t.Errorf("%s: loads", name)
		}
	}
}

// 27: pointers were not escaped, and names of missing or unexpected properties
// stood in prose only.
func TestReferenceFault27PointersNameTheProperty(t *testing.T) {
	got := checksOf(refused(t, newEngine(t), "bernstein_run", `{"a/b": 1, "m~n": 2}`))
	want := []string{"/a~1b additionalProperties", "/goal required", "/m~0n additionalProperties"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// 28: reasons echoed whole values, and nothing capped their number or size.
func TestReferenceFault28AnswersAreSmallAndEchoNothing(t *testing.T) {
	e := newEngine(t)
	const secret = "sk-live-4242"
	for _, c := range [][2]string{
		{"bernstein_run", `{"goal": ["` + secret + `"], "scope": "` + secret + `", "parent_task_id": "` + secret + ` "}`},
		{"bernstein_run", `{"goal": "` + strings.Repeat(secret, 5000) + `"}`},
		{"bernstein_post_artifact", `{"rows": [` + strings.Repeat(`"`+secret+`",`, 4000) + `0]}`},
		{"bernstein_run", `{"` + strings.Repeat("k", 60_000) + `": "` + secret + `"}`},
	} {
		refusal := refused(t, e, c[0], c[1])
		answer, err := json.Marshal(refusal.JSONRPC())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(answer), secret) {
			t.Errorf("%.60s: the answer repeats the value: %.300s", c[1], answer)
		}
		if len(answer) > 100*800 || len(refusal.Violations) > 100 {
			t.Errorf("%.60s: %d violations, %d bytes", c[1], len(refusal.Violations), len(answer))
		}
		for _, v := range refusal.Violations {
			if len(v.Reason) > 256 || len(v.Path) > 512 {
				t.Errorf("reason of %d bytes, path of %d", len(v.Reason), len(v.Path))
			}
		}
	}
}

// 29: reasons were a library's sentences, and nothing named the keyword.
func TestReferenceFault29KeywordsAreNamed(t *testing.T) {
	for _, v := range refused(t, newEngine(t), "bernstein_run", `{"scope": true, "priority": null}`).Violations {
		if v.Keyword == "" || strings.ContainsAny(v.Reason, "'") || strings.Contains(v.Reason, "None") || strings.Contains(v.Reason, "True") {
			t.Errorf("%+v", v)
		}
	}
}

// 30: the reason named neither the control character nor its place.
func TestReferenceFault30ControlCharactersAreNamed(t *testing.T) {
	v := refused(t, newEngine(t), "bernstein_claim", `{"claimer_id": "a", "completed_ids": ["ok", "a\u0085\u0085"]}`).Violations[0]
	if v.Path != "/completed_ids/1" || v.Reason != "the string has 2 forbidden control characters: U+0085" {
		t.Errorf("%+v", v)
	}
}

// 31: deny rules and schema were never reported together.
func TestReferenceFault31OneRound(t *testing.T) {
	got := checksOf(refused(t, newEngine(t), "bernstein_run", `{"goal": "\u001b", "priority": 9, "x": 1}`))
	if diff := cmp.Diff([]string{"/goal control_characters", "/priority maximum", "/x additionalProperties"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// 32: a rejection looked like a success; codes never appeared as protocol errors.
func TestReferenceFault32RejectionIsAnError(t *testing.T) {
	e := newEngine(t)
	_, err := e.Validate(context.Background(), "bernstein_run", []byte(`{}`))
	var refusal *engine.ValidationError
	if !errors.As(err, &refusal) {
		t.Fatalf("%v", err)
	}
	answer, _ := json.Marshal(refusal.JSONRPC())
	want := `{"code":-32602,"message":"invalid arguments for \"bernstein_run\": /goal required property is missing",` +
		`"data":{"tool":"bernstein_run","errors":[{"path":"/goal","reason":"required property is missing"}]}}`
	if string(answer) != want {
		t.Errorf("got  %s\nwant %s", answer, want)
	}
	refusal.JSONRPC().Data.Errors[0].Path = "changed"
	if refusal.Violations[0].Path != "/goal" {
		t.Error("writing into the answer changed the error")
	}
}

// 33: schemas and the list of roles were shared, mutable state.
func TestReferenceFault33NothingIsShared(t *testing.T) {
	files := fstest.MapFS{"t.json": {Data: []byte(`{"type": "object", "additionalProperties": false}`)}}
	e := newEngine(t, engine.WithSchemas(files))
	copy(files["t.json"].Data, `{"type": "object", "additionalProperties": true} `)
	refused(t, e, "t", `{"a": 1}`)
	if document, _ := e.AdvertisedSchema("t"); strings.Contains(string(document), "true") {
		t.Error("writing into the source changed what is advertised")
	}
}

// 34: the returned copy shared its nested values with the caller.
func TestReferenceFault34PayloadIsTheCallersOwn(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}))
	raw := []byte(`{"a": {"b": "original"}}`)
	first := mustAccept(t, e, "open", string(raw))
	second, err := e.Validate(context.Background(), "open", raw)
	if err != nil {
		t.Fatal(err)
	}
	first.Payload["a"].(map[string]any)["b"] = "changed"
	for i := range raw {
		raw[i] = 'x'
	}
	if got := second.Payload["a"].(map[string]any)["b"]; got != "original" {
		t.Errorf("%v", got)
	}
}

// 35: a missing or empty schema directory was no error.
func TestReferenceFault35NoSchemasIsAnError(t *testing.T) {
	for _, files := range []fstest.MapFS{{}, {"readme.md": {}}} {
		if _, err := engine.New(context.Background(), engine.WithLogger(zap.NewNop()), engine.WithSchemas(files)); err == nil {
			t.Errorf("%v: starts", files)
		}
	}
}

// 36: validators were built anew on each call. A call of a tool with a thousand
// members costs no more than one of a tool with none, and compiling costs far more.
func TestReferenceFault36SchemasAreCompiledOnce(t *testing.T) {
	var members []string
	for i := range 1000 {
		members = append(members, fmt.Sprintf(`"m%d": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"}`, i))
	}
	e := newEngine(t, schemas(map[string]string{
		"small": open,
		"large": `{"type": "object", "additionalProperties": true, "properties": {` + strings.Join(members, ", ") + `}}`,
	}))
	spent := func(tool string) float64 {
		return testing.AllocsPerRun(20, func() { mustAccept(t, e, tool, `{}`) })
	}
	if small, large := spent("small"), spent("large"); large > small+100 {
		t.Errorf("%.0f allocations for a small schema, %.0f for a large one", small, large)
	}
}

// 37: advertised copies were made once, and could differ from what is enforced.
func TestReferenceFault37AdvertisedIsEnforced(t *testing.T) {
	e := newEngine(t)
	files := fstest.MapFS{}
	for _, tool := range e.Tools() {
		document, _ := e.AdvertisedSchema(tool)
		files[tool+".json"] = &fstest.MapFile{Data: document}
	}
	again := newEngine(t, engine.WithSchemas(files))
	for _, tool := range e.Tools() {
		first, _ := e.AdvertisedSchema(tool)
		second, _ := again.AdvertisedSchema(tool)
		if diff := cmp.Diff(string(first), string(second)); diff != "" {
			t.Errorf("%s (-first +second):\n%s", tool, diff)
		}
		for _, arguments := range []string{`{}`, `{"task_id": 1, "goal": "", "role": "poet"}`} {
			one, oneErr := e.Validate(context.Background(), tool, []byte(arguments))
			two, twoErr := again.Validate(context.Background(), tool, []byte(arguments))
			if fmt.Sprint(one, oneErr) != fmt.Sprint(two, twoErr) {
				t.Errorf("%s %s: %v, %v", tool, arguments, oneErr, twoErr)
			}
		}
	}
}

// 38: permissive mode switched off all protection without a word at start, and
// was read again on each call.
func TestReferenceFault38PermissiveIsBoundedAndSaysSo(t *testing.T) {
	logger, logs := observed()
	e := newEngine(t, engine.WithMode(engine.Permissive), logger)
	if logs.FilterMessageSnippet("permissive mode").Len() != 1 {
		t.Error("the start does not say so")
	}
	refused(t, e, "bernstein_run", payloadOf(4<<20+1))
	logs.TakeAll()
	mustAccept(t, e, "bernstein_run", `{"goal": ["sk-live-4242"]}`)
	if text := fmt.Sprint(logs.All()[0].ContextMap()); strings.Contains(text, "sk-live-4242") {
		t.Errorf("the log repeats the value: %s", text)
	}
}

// 41: the value of a bound was not checked at load.
func TestReferenceFault41TimeoutIsChecked(t *testing.T) {
	for _, value := range []string{`0`, `-1`, `"30"`, `true`, `null`, `1e300`, `[30]`} {
		document := `{"type": "object", "additionalProperties": false, "timeoutSeconds": ` + value + `}`
		if _, err := engine.New(context.Background(), engine.WithLogger(zap.NewNop()), schemas(map[string]string{"t": document})); err == nil {
			t.Errorf("timeoutSeconds %s loads", value)
		}
	}
}
