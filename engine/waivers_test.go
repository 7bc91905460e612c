package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
)

// entry is one of a register, with members added or replaced: `, "rules": ["x"]`.
func entry(members string) string {
	all := map[string]any{"tools": []string{"open"}, "rules": []string{"control_characters"}, "owner": "sec@example.com", "reason": "r", "expires": "2026-12-31"}
	if err := json.Unmarshal([]byte("{"+strings.TrimPrefix(members, ",")+"}"), &all); err != nil {
		panic(err)
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func exemptions(entries string) engine.Option {
	return ownData(`{"sallyport": {"exemptions": {"register": {` + entries + `}}}}`)
}

type calendar struct{ now atomic.Int64 }

func (c *calendar) set(day string) {
	t, err := time.Parse(time.DateTime, day)
	if err != nil {
		panic(err)
	}
	c.now.Store(t.Unix())
}

func (c *calendar) option() engine.Option {
	return engine.WithClock(func() time.Time { return time.Unix(c.now.Load(), 0) })
}

const withBell = `{"notes": [{"body": "\u0007"}], "title": "x"}`

// An exemption holds at its places, for its tools, until its day begins; also without a
// reload, and with the memo in between.
func TestExemptionEnds(t *testing.T) {
	c := &calendar{}
	c.set("2026-12-30 23:59:59")
	e := newEngine(t, schemas(map[string]string{"open": open, "other": open}), c.option(), exemptions(`"notes": `+entry(`, "paths": ["/notes/*/body"]`)))
	for range 2 {
		accepted := mustAccept(t, e, "open", withBell)
		want := []engine.Exempted{{Rule: "control_characters", Path: "/notes/0/body", By: "notes"}}
		if diff := cmp.Diff(want, accepted.Exempted); diff != "" || accepted.Bypassed != nil || string(accepted.Raw) != withBell {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(map[string]uint64{"notes": 2}, e.ExemptedCounts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	refused(t, e, "other", withBell)
	if got := listOf(refused(t, e, "open", `{"notes": [{"body": "\u0007"}], "title": "\u0007"}`)); len(got) != 1 || got[0].Path != "/title" {
		t.Errorf("beside the exempted place: %v", got)
	}
	if w := e.Waivers(); len(w) != 1 || !w[0].InForce || w[0].Owner != "sec@example.com" || w[0].Kind != engine.Exemption {
		t.Errorf("waivers: %+v", w)
	}
	c.set("2026-12-31 00:00:00")
	refused(t, e, "open", withBell)
	if w := e.Waivers(); w[0].InForce {
		t.Errorf("waivers: %+v", w)
	}
	c.set("2026-12-30 00:00:00")
	mustAccept(t, e, "open", withBell)
}

// A clean verdict that was remembered on one day says nothing of the next.
func TestRememberedVerdictsAreOfOneDay(t *testing.T) {
	const own = "# METADATA\n# scope: package\n# title: Own\n# description: Own.\n# custom: {severity: low}\npackage sallyport.rules.own\n\nimport rego.v2\n\n" +
		`deny contains {"path": "", "reason": "it is late"} if input.today >= "2027-01-01"`
	c := &calendar{}
	c.set("2026-12-31 23:00:00")
	e := newEngine(t, schemas(map[string]string{"open": open}), c.option(), engine.WithPolicies(fstest.MapFS{"own.rego": {Data: []byte(own)}}))
	for range 3 {
		mustAccept(t, e, "open", `{"a": 1}`)
	}
	c.set("2027-01-01 00:00:00")
	refused(t, e, "open", `{"a": 1}`)
}

func TestExemptionOfTheWholeCall(t *testing.T) {
	log, logs := observed()
	e := newEngine(t, schemas(map[string]string{"open": open}), log, exemptions(`"big": `+entry(`, "rules": ["payload_size"], "expires": "2999-01-01"`)))
	large := `{"a": "` + strings.Repeat("x", 70_000) + `"}`
	accepted := mustAccept(t, e, "open", large)
	if diff := cmp.Diff([]engine.Exempted{{Rule: "payload_size", By: "big"}}, accepted.Exempted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := logs.FilterMessage("findings are exempted").Len(); n != 1 {
		t.Errorf("logged %d times", n)
	}
	if n := logs.FilterMessage("rules are waived").Len(); n != 1 {
		t.Errorf("announced %d times", n)
	}
	if got := refused(t, e, "open", `{"a": "`+strings.Repeat("x", 4<<20)+`"}`).Violations[0].Rule; got != "hard_ceiling" {
		t.Errorf("beyond the ceiling: refused by %s", got)
	}
}

func TestOtherWaysToBeExemptAreTold(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open}), engine.WithAllowUnsafeArgs("open"))
	if got := mustAccept(t, e, "open", withBell).Exempted; len(got) != 1 || got[0].By != "exemptions/allow_unsafe_args" {
		t.Errorf("%v", got)
	}
	e = newEngine(t, schemas(map[string]string{"open": open}), ownData(`{"sallyport": {"disabled_rules": {"control_characters": "why"}}}`))
	if got := mustAccept(t, e, "open", withBell).Exempted; len(got) != 1 || got[0].By != "disabled_rules" {
		t.Errorf("%v", got)
	}
}

// What permissive_until lets pass is marked, and is no more than what it names.
func TestPermissiveUntil(t *testing.T) {
	c := &calendar{}
	c.set("2026-12-30 12:00:00")
	const strict = `{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}}`
	for rules, want := range map[string]string{
		`["control_characters"]`: "rule", `["schema"]`: "schema", `["*"]`: "rule schema both deep", `["schema", "control_characters"]`: "rule schema both",
	} {
		c.set("2026-12-30 12:00:00")
		e := newEngine(t, schemas(map[string]string{"open": strict, "other": strict}), engine.WithLogger(zap.NewNop()), c.option(),
			ownData(`{"sallyport": {"permissive_until": {"move": `+entry(`, "rules": `+rules)+`}}}`))
		calls := map[string]string{"rule": `{"a": "\u0007"}`, "schema": `{"a": 1}`, "both": `{"a": "\u0007", "b": 1}`, "deep": `{"a": ` + nested(11, "[", "]", "1") + `}`}
		for _, name := range []string{"rule", "schema", "both", "deep"} {
			if !strings.Contains(want, name) {
				refused(t, e, "open", calls[name])
				continue
			}
			if accepted := mustAccept(t, e, "open", calls[name]); accepted.Bypassed == nil || len(accepted.Bypassed.Violations) == 0 {
				t.Errorf("%s, %s: not marked as bypassed", rules, name)
			}
			refused(t, e, "other", calls[name])
		}
		refused(t, e, "open", `{"a": "`+strings.Repeat("x", 4<<20)+`"}`)
		refused(t, e, "unknown", `{}`)
		c.set("2026-12-31 00:00:00")
		for _, call := range calls {
			refused(t, e, "open", call)
		}
	}
}

func TestLimitsOfOneTool(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"open": open, "small": open, "other": open}),
		ownData(`{"sallyport": {"limits": {"tools": {"open": {"max_bytes": 70000, "max_depth": 12}, "small": {"max_bytes": 20}}}}}`))
	text := func(n int) string { return `{"a":"` + strings.Repeat("x", n-8) + `"}` }
	for _, c := range []struct {
		tool, call string
		rule       string
	}{
		{"open", text(70_000), ""}, {"open", text(70_001), "payload_size"}, {"open", nested(12, `{"a":`, `}`, `1`), ""}, {"open", nested(13, `{"a":`, `}`, `1`), "payload_depth"},
		{"small", text(20), ""}, {"small", text(21), "payload_size"}, {"small", text(66_000), "payload_size"},
		{"other", text(65_536), ""}, {"other", text(65_537), "payload_size"},
	} {
		for range 2 { // the second time, what was clean is remembered
			got := ""
			var refusal *engine.ValidationError
			if _, err := e.Validate(context.Background(), c.tool, []byte(c.call)); errors.As(err, &refusal) {
				got = refusal.Violations[0].Rule
			}
			if got != c.rule {
				t.Errorf("%s with %d bytes is refused by %q, want %q", c.tool, len(c.call), got, c.rule)
			}
		}
		if _, err := e.ValidateReader(context.Background(), c.tool, strings.NewReader(c.call)); (err != nil) != (c.rule != "") {
			t.Errorf("%s with %d bytes, read: %v", c.tool, len(c.call), err)
		}
	}
}

// What is written wrongly stops the start, with the place.
func TestWaiversThatAreWrong(t *testing.T) {
	for data, want := range map[string]string{
		`"exemptions": {"register": {"a": ` + entry(`, "expires": "tomorrow"`) + `}}`:          "data: /sallyport/exemptions/register/a/expires: write the first day",
		`"exemptions": {"register": {"a": ` + entry(`, "rules": ["control_character"]`) + `}}`: `data: /sallyport/exemptions/register/a/rules: there is no rule "control_character"; known are`,
		`"exemptions": {"register": {"a": ` + entry(`, "rules": ["hard_ceiling"]`) + `}}`:      "data: /sallyport/exemptions/register/a/rules: hard_ceiling cannot be waived",
		`"exemptions": {"register": {"a": ` + entry(`, "path": ["/a"]`) + `}}`:                 "data: /sallyport/exemptions/register/a/path: there is no such member",
		`"exemptions": {"register": {"a": true}}`:                                              "data: /sallyport/exemptions/register/a: is not an object",
		`"permissive_until": {"a": ` + entry(`, "paths": ["/a"]`) + `}`:                        "data: /sallyport/permissive_until/a/paths: it holds for whole calls",
		`"permissive_until": {"a": ` + entry(`, "owner": ""`) + `}`:                            "data: /sallyport/permissive_until/a/owner: say who answers for it",
		`"limits": {"tools": {"t": {"max_bytes": "70000"}}}`:                                   "data: /sallyport/limits/tools/t/max_bytes: only max_bytes and max_depth",
	} {
		_, err := engine.New(context.Background(), ownData(`{"sallyport": {`+data+`}}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}

// A rule of one's own gets the strings that it asks for.
func TestSelectionOfOnesOwn(t *testing.T) {
	rule := func(selection string) engine.Option {
		return engine.WithPolicies(fstest.MapFS{"own.rego": {Data: []byte("# METADATA\n# scope: package\n# title: Own\n# description: Own.\n# custom: {severity: low}\npackage sallyport.rules.own\n\nimport rego.v2\n\n" +
			"selection := " + selection + "\n\ndeny contains {\"path\": s.path, \"reason\": sprintf(\"%s %s\", [s[\"in\"], s.text])} if some s in input.facts.selected.own.strings\n")}})
	}
	e := newEngine(t, schemas(map[string]string{"open": open, "other": open}), rule(`{"attach": {"open": ["/urls/*"], "*": ["/x"]}, "contains": ["Bad"]}`))
	want := []found{{"/urls/0", "own", "value BAD"}, {"/x", "own", "value abadc"}}
	if diff := cmp.Diff(want, listOf(refused(t, e, "open", `{"urls": ["BAD", "good"], "x": "abadc", "y": "bad"}`))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	mustAccept(t, e, "other", `{"urls": ["bad"]}`)
	refused(t, e, "other", `{"x": "bad"}`)
	for selection, problem := range map[string]string{
		`{}`: "has no attach", `{"attach": {"*": ["x"]}}`: "no RFC 6901 pointer", `{"attach": {"*": ["/~2"]}}`: "no RFC 6901 pointer", `{"attach": {}, "key": true}`: `has a member "key"`,
		`{"attach": {}, "code_points": [[3, 1]]}`: "no range", `{"attach": []}`: "is not an object",
	} {
		if _, err := engine.New(context.Background(), rule(selection)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want %s", selection, err, problem)
		}
	}
}

func BenchmarkManyExemptions(b *testing.B) {
	for _, n := range []int{0, 100, 10_000} {
		var entries []string
		for i := range n {
			entries = append(entries, fmt.Sprintf(`"e%d": %s`, i, entry(`, "expires": "2999-01-01", "paths": ["/a"]`)))
		}
		e := newEngine(b, schemas(map[string]string{"open": open}), engine.WithLogger(zap.NewNop()), engine.WithVerdictMemo(0), exemptions(strings.Join(entries, ",")))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = e.Validate(context.Background(), "open", []byte(`{"a": 1}`))
			}
		})
	}
}
