package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sallyport-mcp/sallyport/engine"
)

// sample is one text of a corpus, as the value of a member (or an element) of a payload.
type sample struct {
	Why  string `json:"why"`  // what it stands for
	Text string `json:"text"` // what is put to the pack
	At   string `json:"at"`   // RFC 6901 pointer of one token, a place that the pack looks at as delivered
}

// TestPacksOnTheirCorpora puts two corpora to each pack, alone and as delivered: what it is
// there to refuse, each with one finding, and what looks similar but is in order.
func TestPacksOnTheirCorpora(t *testing.T) {
	for _, pack := range packs(t) {
		t.Run(pack, func(t *testing.T) {
			judge := withPacks(t, pack)
			hostile, benign := samples(t, "hostile/"+pack+".json"), samples(t, "benign/"+pack+".json")
			if len(hostile) < 40 || len(benign) < 150 {
				t.Errorf("the corpora have %d and %d texts, want at least 40 and 150", len(hostile), len(benign))
			}
			for i, s := range hostile {
				found := violations(t, judge, s)
				if len(found) != 1 || found[0].Rule != pack || found[0].Path != s.At {
					t.Errorf("hostile %d, %s: %q has the findings %+v, want one at %s", i, s.Why, s.Text, found, s.At)
					continue
				}
				if reason := found[0].Reason; len(reason) > 256 || strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' || r > '~' }) {
					t.Errorf("hostile %d, %s: the reason is not plain or too long: %q", i, s.Why, reason)
				}
			}
			for i, s := range benign {
				if found := violations(t, judge, s); len(found) > 0 {
					t.Errorf("benign %d, %s: %q is refused: %+v", i, s.Why, s.Text, found)
				}
			}
		})
	}
}

// TestPacksAreListed shows what they are on for, once they are on.
func TestPacksAreListed(t *testing.T) {
	judge := withPacks(t, packs(t)...)
	for _, r := range judge.Rules() {
		if r.Pack && (r.Off != "" || len(r.Attached["*"]) == 0) {
			t.Errorf("%+v", r)
		}
	}
}

// TestPacksLetOrdinaryTextsPass puts prose, names and code to all packs at once.
func TestPacksLetOrdinaryTextsPass(t *testing.T) {
	judge := withPacks(t, packs(t)...)
	for i, s := range samples(t, "benign/prose.json") {
		if found := violations(t, judge, s); len(found) > 0 {
			t.Errorf("%d, %s: %q is refused: %+v", i, s.Why, s.Text, found)
		}
	}
}

// TestPacksAreOff shows that a pack is there in every engine, and silent until it is
// switched on.
func TestPacksAreOff(t *testing.T) {
	judge := withPacks(t)
	for _, pack := range packs(t) {
		if !slices.ContainsFunc(judge.Rules(), func(r engine.Rule) bool { return r.Name == pack && r.Pack && r.Off != "" }) {
			t.Errorf("no engine has the pack %s, which is off", pack)
		}
		for i, s := range samples(t, "hostile/"+pack+".json") {
			if found := violations(t, judge, s); len(found) > 0 {
				t.Fatalf("%s, hostile %d: %q is refused without the pack: %+v", pack, i, s.Text, found)
			}
		}
	}
}

// packs returns the names of all packs.
func packs(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../policies/packs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no packs", err)
	}
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".md"))
	}
	return names
}

// withPacks builds an engine of one tool that takes anything, with these packs on.
func withPacks(t *testing.T, names ...string) *engine.Engine {
	t.Helper()
	on := map[string]any{}
	for _, name := range names {
		on[name] = map[string]any{"on": true}
	}
	data, err := json.Marshal(map[string]any{"sallyport": map[string]any{"packs": on}})
	if err != nil {
		t.Fatal(err)
	}
	var schemas fs.FS = fstest.MapFS{"anything.json": {Data: []byte(`{"type":"object","additionalProperties":true}`)}}
	e, err := engine.New(context.Background(), engine.WithSchemas(schemas), engine.WithPolicies(fstest.MapFS{"data.json": {Data: data}}))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func samples(t *testing.T, name string) (list []sample) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return list
}

// violations judges a payload of this one text.
func violations(t *testing.T, e *engine.Engine, s sample) []engine.Violation {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{strings.TrimPrefix(s.At, "/"): s.Text})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Validate(context.Background(), "anything", arguments)
	if err == nil {
		return nil
	}
	var refusal *engine.ValidationError
	if !errors.As(err, &refusal) || errors.Is(err, engine.ErrFault) {
		t.Fatalf("%s: %q: %v", s.Why, s.Text, err)
	}
	return refusal.Violations
}
