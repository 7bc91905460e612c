package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/policies"
)

// shipped compiles the shipped rules with a module of one's own, "" for none.
func shipped(t testing.TB, memo int, own string) *Policy {
	t.Helper()
	source := Source{Modules: map[string]string{}, BuiltIn: true}
	err := fs.WalkDir(policies.FS, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".rego") || strings.HasSuffix(path, "_test.rego") {
			return err
		}
		text, err := fs.ReadFile(policies.FS, path)
		source.Modules[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	config := Config{Timeout: 10 * time.Second, Memo: memo}
	for name, into := range map[string]any{"data.json": &source.Data, "input.schema.json": &config.InputSchema} {
		text, err := fs.ReadFile(policies.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		if err := decoder.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	if config.Capabilities, err = fs.ReadFile(policies.FS, "capabilities.json"); err != nil {
		t.Fatal(err)
	}
	sources := []Source{source}
	if own != "" {
		sources = append(sources, Source{Modules: map[string]string{"own.rego": own}})
	}
	p, err := New(context.Background(), sources, config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rule is a module with one rule of these lines.
func rule(lines string) string {
	return "# METADATA\n# scope: package\n# title: Own\n# description: Own.\n# custom: {severity: low}\npackage sallyport.rules.own\n\nimport rego.v2\n\n" + lines
}

func deny(condition string) string {
	return rule(`deny contains {"path": "", "reason": "own"} if { ` + condition + ` }`)
}

// What the shipped rules read, and what one more rule adds.
func TestReads(t *testing.T) {
	limits := map[string]int{"bytes": 65_536, "values": 131_072, "depth": 10}
	role := []path{{"role"}}
	for name, c := range map[string]struct {
		own       string
		calm      []path
		facts     string // in calm, beside those that have one value in a clean input
		limits    map[string]int
		unbounded string
	}{
		"shipped rules":          {"", role, "", limits, ""},
		"a member":               {deny(`input.payload.url == "x"`), []path{{"role"}, {"url"}}, "", limits, ""},
		"a member of a member":   {deny(`input.payload.a["b/c"][0].d == "x"`), []path{{"a", "b/c", 0, "d"}, {"role"}}, "", limits, ""},
		"a member and below it":  {deny("input.payload.a.b == 1\n\tinput.payload.a == 2"), []path{{"a"}, {"role"}}, "", limits, ""},
		"items":                  {deny(`some x in input.payload.list; x == 1`), []path{{"list"}, {"role"}}, "", limits, ""},
		"a member by another":    {deny(`input.payload.a[input.tool] == 1`), []path{{"a"}, {"role"}}, "", limits, ""},
		"whether it is there":    {deny(`not input.payload.a`), []path{{"a"}, {"role"}}, "", limits, ""},
		"within a comprehension": {deny(`count([x | x := input.payload.a; x != 2]) > 0`), []path{{"a"}, {"role"}}, "", limits, ""},
		"through a function":     {rule("deny contains {\"path\": \"\", \"reason\": \"own\"} if f(input.payload.a)\n\nf(x) if x == 1"), []path{{"a"}, {"role"}}, "", limits, ""},
		"in the reason":          {rule("deny contains {\"path\": \"\", \"reason\": sprintf(\"%v\", [input.payload.a])} if input.tool == \"x\""), []path{{"a"}, {"role"}}, "", limits, ""},
		"the payload's type":     {deny(`not is_object(input.payload)`), role, "", limits, ""},
		"a lower limit":          {deny(`input.facts.bytes > 100`), role, "", map[string]int{"bytes": 100, "values": 131_072, "depth": 10}, ""},
		"a limit included":       {deny(`input.facts.depth >= 3`), role, "", map[string]int{"bytes": 65_536, "values": 131_072, "depth": 2}, ""},
		"behind a limit":         {deny("input.facts.bytes > 100\n\tinput.payload.a == 1"), role, "", map[string]int{"bytes": 100, "values": 131_072, "depth": 10}, ""},
		"before a limit":         {deny("input.payload.a == 1\n\tinput.facts.bytes > 100"), []path{{"a"}, {"role"}}, "", map[string]int{"bytes": 100, "values": 131_072, "depth": 10}, ""},
		"a limit by a rule":      {rule("deny contains {\"path\": \"\", \"reason\": \"own\"} if {\n\tbig\n\tinput.payload.a == 1\n}\n\nbig if input.facts.bytes > 100"), role, "", map[string]int{"bytes": 100, "values": 131_072, "depth": 10}, ""},
		"or by another":          {rule("deny contains {\"path\": \"\", \"reason\": \"own\"} if {\n\tbig\n\tinput.payload.a == 1\n}\n\nbig if input.facts.bytes > 100\n\nbig if input.tool == \"x\""), []path{{"a"}, {"role"}}, "", map[string]int{"bytes": 100, "values": 131_072, "depth": 10}, ""},
		"no limit":               {deny(`not input.facts.bytes > 100`), role, "bytes", limits, ""},
		"an exact number":        {deny(`input.facts.bytes % 2 == 1`), role, "bytes", limits, ""},
		"a number that varies":   {deny(`input.facts.bytes > count(input.tool)`), role, "bytes", limits, ""},
		"the deepest place":      {deny(`startswith(input.facts.deepest, "/a")`), role, "deepest", limits, ""},
		"in the name of a rule":  {rule("deny contains {\"path\": \"\", \"reason\": \"own\"} if p[34]\n\np[input.facts.bytes] := true"), role, "bytes", limits, ""},
		"all facts":              {deny(`count(input.facts) > 100`), role, "bytes values deepest depth", limits, ""},
		"any member":             {deny(`some x in input.payload; x == 1`), nil, "", nil, "own.rego:10: a rule reads the payload as a whole"},
		"a member not named":     {deny(`input.payload[input.tool] == 1`), nil, "", nil, "own.rego:10: a rule reads the payload as a whole"},
		"a walk":                 {deny(`walk(input.payload, [_, "x"])`), nil, "", nil, "own.rego:10: a rule reads the payload as a whole"},
		"the input":              {deny(`count(input) > 100`), nil, "", nil, "own.rego:10: a rule reads the input as a whole"},
		"a part not named":       {deny(`input[input.mode] == "x"`), nil, "", nil, "own.rego:10: a rule reads a member of the input that depends on other things"},
		"another input":          {deny(`data.sallyport.rules.payload_size.deny == set() with input.facts.bytes as 70000`), nil, "", nil, "own.rego:10: a rule reads another input or other data, by the keyword with"},
	} {
		t.Run(name, func(t *testing.T) {
			p := shipped(t, 16, c.own)
			if p.noMemo != c.unbounded {
				t.Errorf("off: %q, want %q", p.noMemo, c.unbounded)
			}
			if c.unbounded != "" {
				if diff := cmp.Diff([]string{"own", "role_enum"}, p.memo.reads.readers); diff != "" || len(p.memo.reads.others.any.payload) > 0 {
					t.Errorf("readers (-want +got):\n%s", diff)
				}
				return
			}
			var facts []string
			for _, fact := range []string{"bytes", "values", "deepest", "depth"} {
				if p.memo.reads.whole.calm.facts[fact] {
					facts = append(facts, fact)
				}
			}
			if got := p.memo.reads.readersUseFacts; got && !strings.Contains(c.own, "facts") {
				t.Error("readers are said to use facts")
			}
			if diff := cmp.Diff(c.calm, p.memo.reads.whole.calm.payload); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
			if got := strings.Join(facts, " "); got != c.facts {
				t.Errorf("facts %q, want %q", got, c.facts)
			}
			if diff := cmp.Diff(c.limits, p.memo.reads.calmUpTo); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}

// No two values have one key.
func TestKeysDiffer(t *testing.T) {
	p := shipped(t, 16, deny(`input.payload.a == "x"; input.payload.b == "x"`))
	seen := map[string]string{}
	for _, text := range []string{
		`{}`, `{"a": null}`, `{"a": true}`, `{"a": false}`, `{"a": 0}`, `{"a": 1}`, `{"a": 1.0}`, `{"a": ""}`, `{"a": "1"}`, `{"a": []}`, `{"a": {}}`, `{"a": [[]]}`, `{"a": [], "b": []}`,
		`{"b": null}`, `{"a": "x", "b": "y"}`, `{"a": "xy", "b": ""}`, `{"a": ["x", "y"]}`, `{"a": ["xy"]}`, `{"a": {"x": "y"}}`, `{"a": {"xy": ""}}`, `{"a": {"x": 1, "y": 2}}`, `{"a": {"x": [1, {"y": 2}]}}`,
	} {
		in := cleanCall()
		in.Payload = decode(text)
		key := p.memo.keyOfWhole(nil, &in)
		if other, taken := seen[string(key)]; taken || key == nil {
			t.Errorf("%s has the key of %s", text, other)
		}
		seen[string(key)] = text
	}
	for name, change := range map[string]func(*Input){
		"tool": func(in *Input) { in.Tool = "bernstein_run2" }, "mode": func(in *Input) { in.Mode = "permissive" }, "counted": func(in *Input) { in.Facts.BytesCounted = false },
		"large": func(in *Input) { in.Facts.Bytes = 65_537 }, "deep": func(in *Input) { in.Facts.Depth = 11 },
		"many": func(in *Input) { in.Facts.Values = 131_073 },
	} {
		in := cleanCall()
		in.Payload = decode(`{"a": 1}`)
		change(&in)
		if other, taken := seen[string(p.memo.keyOfWhole(nil, &in))]; taken {
			t.Errorf("another %s has the key of %s", name, other)
		}
	}
	for name, text := range map[string]string{
		"long text": `{"a": "` + strings.Repeat("x", maxKey) + `"}`, "many items": `{"a": [` + strings.Repeat("1,", maxKey) + `1]}`, "long key": `{"a": {"` + strings.Repeat("x", maxKey) + `": 1}}`,
	} {
		in := cleanCall()
		in.Payload = decode(text)
		if key := p.memo.keyOfWhole(nil, &in); key != nil {
			t.Errorf("%s has a key of %d bytes", name, len(key))
		}
	}
}

func cleanCall() Input {
	return Input{Tool: "bernstein_run", Mode: "strict", Payload: map[string]any{"goal": "x"}, Facts: Facts{
		Registered: true, Type: "object", Bytes: 12, BytesCounted: true, Values: 2, Complete: true, Depth: 1, Deepest: "/goal",
	}}
}

func decode(text string) map[string]any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	return value
}

// randomCall is mostly clean, and now and then breaks a rule or is right at a limit.
func randomCall(r *rand.Rand) Input {
	in := cleanCall()
	pick := func(odds int) bool { return r.IntN(odds) == 0 }
	in.Tool = []string{"bernstein_run", "bernstein_create_subtask", "bernstein_status", ""}[r.IntN(4)]
	in.Facts.Bytes = 2 + r.IntN(40)
	in.Facts.Depth = r.IntN(4)
	in.Facts.Deepest = strings.Repeat("/a", in.Facts.Depth)
	in.Payload = map[string]any{}
	for _, name := range []string{"role", "url", "n", "other"} {
		if !pick(3) {
			in.Payload[name] = []any{nil, true, json.Number(strconv.Itoa(r.IntN(3))), json.Number("1.0"), "qa", "backend", "poet", []any{json.Number("1")}, map[string]any{"a": "x"}}[r.IntN(9)]
		}
	}
	if pick(20) {
		in.Facts.Bytes = 65_534 + r.IntN(5)
	}
	if pick(20) {
		in.Facts.Depth = 9 + r.IntN(4)
	}
	if pick(20) {
		in.Facts.Values = 131_071 + r.IntN(3)
	}
	if pick(30) {
		in.Mode = "permissive"
	}
	if pick(30) {
		in.Facts.BytesCounted = false
	}
	if pick(30) {
		in.Facts.Registered = false
	}
	if pick(30) {
		in.Facts.Quarantine = "no"
	}
	if pick(30) {
		in.Facts.StringsTotal, in.Facts.Strings = 1, []StringFact{{Path: "/a", In: "value", CodePoints: []int{27}, Count: 1}}
	}
	if pick(30) {
		in.Payload, in.Facts.Complete, in.Facts.Stop = nil, false, []string{"depth", "size", "values"}[r.IntN(3)]
	}
	return in
}

// own is read in every way that the memo tells apart.
var own = rule(`deny contains {"path": "/url", "reason": "own"} if { input.payload.url == "poet"; input.facts.depth > 2 }

deny contains {"path": "", "reason": sprintf("%v", [input.facts.bytes])} if { input.facts.bytes > 37; input.payload.n == 1 }

deny contains {"path": "", "reason": "has a"} if "x" in input.payload.url

deny contains {"path": "", "reason": "other"} if not known(input.payload.n)

known(x) if is_number(x)

known(x) if is_string(x)`)

// The memo changes nothing: the same calls get the same verdicts with it and without.
// SALLYPORT_MEMO_CALLS sets how many calls are compared.
func TestMemoChangesNothing(t *testing.T) {
	calls := 5_000
	if text := os.Getenv("SALLYPORT_MEMO_CALLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		calls = n
	}
	if testing.Short() {
		calls = 1_000
	}
	for name, module := range map[string]string{"shipped rules": "", "with a rule of one's own": own, "with a rule that reads all": deny(`some x in input.payload; x == "poet"`)} {
		t.Run(name, func(t *testing.T) {
			with, without := shipped(t, 8192, module), shipped(t, 0, module)
			r := rand.New(rand.NewPCG(1, 2))
			for range calls {
				in := randomCall(r)
				got, err := with.Evaluate(context.Background(), in)
				want, wantErr := without.Evaluate(context.Background(), in)
				if fmt.Sprint(got, err) != fmt.Sprint(want, wantErr) {
					t.Fatalf("%+v: with the memo %+v, %v; without %+v, %v", in, got, err, want, wantErr)
				}
			}
			stats := with.MemoStats()
			t.Logf("%d calls: %+v", calls, stats)
			if (stats.Known > 0) != (stats.Limit == "") || stats.Partly == 0 || stats.Known+stats.Partly == stats.Looked {
				t.Errorf("too one-sided to mean anything: %+v", stats)
			}
		})
	}
}

// The memo is bounded, and safe for concurrent use.
func TestMemoIsBounded(t *testing.T) {
	p := shipped(t, 64, deny(`input.payload.n == "x"`))
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			for i := range 300 {
				in := cleanCall()
				in.Payload = map[string]any{"n": json.Number(strconv.Itoa(worker*1000 + i))}
				if v, err := p.Evaluate(context.Background(), in); err != nil || !v.clean() {
					t.Errorf("%+v, %v", v, err)
				}
			}
		})
	}
	wait.Wait()
	for _, table := range []*table{p.memo.whole, p.memo.others} {
		if n := len(table.young) + len(table.old); n > 32 || n == 0 {
			t.Errorf("%d entries, want 32 at most", n)
		}
	}
}

// BenchmarkMemo is the first door on a clean call: known as a whole; missed, so that the one
// shipped rule that reads the payload is asked; the same with a rule of one's own that
// reads all of it; and with all rules asked.
func BenchmarkMemo(b *testing.B) {
	inputs := make([]Input, 64) // more than the small memo holds
	for i := range inputs {
		inputs[i] = cleanCall()
		inputs[i].Payload = map[string]any{"goal": "x", "role": strconv.Itoa(i)}
	}
	for _, c := range []struct {
		name string
		p    *Policy
	}{
		{"known", shipped(b, 1024, "")}, {"missed", shipped(b, 16, "")}, {"reads_all", shipped(b, 1024, deny(`some x in input.payload; x == "poet"`))}, {"asked", shipped(b, 0, "")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if v, err := c.p.Evaluate(context.Background(), inputs[i%len(inputs)]); err != nil || !v.clean() {
					b.Fatal(v, err)
				}
			}
		})
	}
}
