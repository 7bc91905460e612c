package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sallyport-mcp/sallyport/engine"
)

// What can go wrong with rules and their data, whether somebody means it or not: each is
// refused when rules are loaded, or ends in a refusal when a call is judged. None passes a
// call, and none is silent.
func TestPolicyFaultsAtLoad(t *testing.T) {
	deny := func(condition string) engine.Option {
		return ownRule(`deny contains {"path": "", "reason": "x"} if {` + "\n\t" + condition + "\n}")
	}
	data := ownData
	for name, c := range map[string]struct {
		option engine.Option
		want   string
	}{
		"builtin that sends":              {deny(`http.send({"method": "get", "url": "http://127.0.0.1"}).status_code == 200`), "undefined function http.send"},
		"builtin that resolves names":     {deny(`count(net.lookup_ip_addr("localhost")) > 0`), "undefined function net.lookup_ip_addr"},
		"builtin that reads the system":   {deny(`opa.runtime().env.HOME`), "undefined function opa.runtime"},
		"builtin that reads the clock":    {deny(`time.now_ns() > 0`), "undefined function time.now_ns"},
		"builtin that takes chances":      {deny(`rand.intn("x", 2) == 0`), "undefined function rand.intn"},
		"fact that does not exist":        {deny(`input.facts.byte > 1`), "undefined ref: input.facts.byte"},
		"data that does not exist":        {deny(`input.facts.bytes > data.sallyport.limits.max_byte`), "max_byte"},
		"member that no tool has":         {deny(`input.payload.gaol == "x"`), "reads input.payload.gaol, which no tool has"},
		"tool that does not exist":        {deny(`input.tool == "bernstein_rum"`), `is for the tool "bernstein_rum", which is not registered`},
		"limit that does not exist":       {data(`{"sallyport": {"limits": {"max_byte": 1}}}`), "max_byte"},
		"exemption of no rule":            {data(`{"sallyport": {"exemptions": {"register": {"x": {"tools": ["*"], "rules": ["payload_sise"], "owner": "a", "reason": "b", "expires": "2027-01-01"}}}}}`), "payload_sise"},
		"exemption without an end":        {data(`{"sallyport": {"exemptions": {"register": {"x": {"tools": ["*"], "rules": ["payload_size"], "owner": "a", "reason": "b"}}}}}`), "expires"},
		"exemption from what protects":    {data(`{"sallyport": {"exemptions": {"register": {"x": {"tools": ["*"], "rules": ["inspection"], "owner": "a", "reason": "b", "expires": "2027-01-01"}}}}}`), "inspection cannot be waived"},
		"pack that is neither on nor off": {data(`{"sallyport": {"packs": {"unicode": {"on": "true"}}}}`), "packs/unicode/on: is neither true nor false"},
		"pack that looks nowhere":         {data(`{"sallyport": {"packs": {"ssrf": {"on": true, "attach": {"*": []}}}}}`), "there is no place for it to look at"},
		"pack that does not exist":        {data(`{"sallyport": {"packs": {"sssrf": {"on": true}}}}`), "sssrf"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := engine.New(context.Background(), c.option)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A rule that errs, never ends or says nonsense is met when it is asked: TestFaultsRefuse.
// Its condition here is one that the caller controls.
func TestPolicyFaultsThatACallerCanCause(t *testing.T) {
	for name, c := range map[string]struct{ body, good, bad string }{
		"pattern of the caller": {
			`deny contains {"path": "/goal", "reason": "x"} if regex.match(input.payload.goal, "text")`, `{"goal": "abc"}`, `{"goal": "a("}`,
		},
		"number of the caller": {
			`deny contains {"path": "", "reason": "x"} if 10 / input.payload.priority == 7`, `{"goal": "x", "priority": 1}`, `{"goal": "x", "priority": 0}`,
		},
		"base64 of the caller": {
			`deny contains {"path": "", "reason": "x"} if base64.decode(input.payload.goal) == "no"`, `{"goal": "eWVz"}`, `{"goal": "*"}`,
		},
		"path of the caller": {
			`deny contains {"path": input.payload.goal, "reason": "x"} if input.payload.goal != "fine"`, `{"goal": "fine"}`, `{"goal": "no pointer"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, ownRule(c.body))
			if _, err := e.Validate(context.Background(), "bernstein_run", []byte(c.good)); err != nil {
				t.Errorf("%s: %v", c.good, err)
			}
			if accepted, err := e.Validate(context.Background(), "bernstein_run", []byte(c.bad)); !errors.Is(err, engine.ErrFault) || accepted != nil {
				t.Errorf("%s: %v, want a fault", c.bad, err)
			}
			if _, err := e.Validate(context.Background(), "bernstein_run", []byte(c.good)); err != nil {
				t.Errorf("afterwards %s: %v", c.good, err)
			}
		})
	}
}

// Of two exemptions for the same the one in force counts, and none where all have ended.
func TestConflictingExemptions(t *testing.T) {
	entry := func(expires string) map[string]any {
		return map[string]any{"tools": []string{"bernstein_run"}, "rules": []string{"control_characters"}, "owner": "a", "reason": "b", "expires": expires}
	}
	register := map[string]any{"ended": entry("2026-12-01"), "lasts": entry("2026-12-31")}
	data, err := json.Marshal(map[string]any{"sallyport": map[string]any{"exemptions": map[string]any{"register": register}}})
	if err != nil {
		t.Fatal(err)
	}
	for day, accepted := range map[string]bool{"2026-11-30": true, "2026-12-01": true, "2026-12-30": true, "2026-12-31": false} {
		today, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine(t, engine.WithPolicies(fstest.MapFS{"data.json": {Data: data}}), engine.WithClock(func() time.Time { return today }))
		if _, err := e.Validate(context.Background(), "bernstein_run", []byte(`{"goal": "a\u0007"}`)); (err == nil) != accepted {
			t.Errorf("on %s: %v", day, err)
		}
	}
}

// What a caller writes reaches the log escaped, in one entry.
func TestLogIsNotInjected(t *testing.T) {
	logger, logs := observed()
	e := newEngine(t, logger)
	logs.TakeAll()
	tool := "x\n{\"level\":\"info\",\"msg\":\"call accepted\"}\x1b[2J\u202e"
	if _, err := e.Validate(context.Background(), tool, []byte(`{"\u001b[2J\n": "\u202e"}`)); err == nil {
		t.Fatal("it is accepted")
	} else if strings.ContainsAny(err.Error(), "\n\x1b\u202e") {
		t.Errorf("the error has raw controls: %q", err)
	}
	for _, entry := range logs.All() {
		if text := fmt.Sprint(entry.Message, entry.ContextMap()); strings.ContainsAny(text, "\n\x1b\u202e") {
			t.Errorf("the log has raw controls: %q", text)
		}
	}
}

// A hundred thousand rows of data are looked up, not searched.
func TestManyRowsOfData(t *testing.T) {
	rows := map[string]bool{}
	for i := range 100_000 {
		rows[fmt.Sprintf("goal %d", i)] = true
	}
	data, err := json.Marshal(map[string]any{"own": map[string]any{"forbidden": rows}})
	if err != nil {
		t.Fatal(err)
	}
	module := ownHeader + `deny contains {"path": "/goal", "reason": "forbidden"} if data.own.forbidden[input.payload.goal]`
	e := newEngine(t, engine.WithPolicies(fstest.MapFS{"own.rego": {Data: []byte(module)}, "data.json": {Data: data}}))
	for i := range 2000 {
		goal := fmt.Sprintf("goal %d", 99_000+i)
		if _, err := e.Validate(context.Background(), "bernstein_run", fmt.Appendf(nil, `{"goal": %q}`, goal)); (err != nil) != (99_000+i < 100_000) {
			t.Fatalf("%s: %v", goal, err)
		}
	}
}
