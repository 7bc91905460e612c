package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
)

// The rules trust what the decoder measures, so each fact is measured a second
// time: in Rego, over generated payloads.
func TestFactsAreWhatRegoMeasures(t *testing.T) {
	ctx := context.Background()
	text, err := os.ReadFile("testdata/facts.rego")
	if err != nil {
		t.Fatal(err)
	}
	query, err := rego.New(
		rego.Query("data.facts.facts"),
		rego.Module("facts.rego", string(text)),
		rego.SetRegoVersion(ast.RegoV1),
		rego.StrictBuiltinErrors(true),
	).PrepareForEval(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var watched []int
	for r := range 0xA0 {
		if r < 0x20 || r >= 0x7F {
			watched = append(watched, r)
		}
	}
	set, err := payload.NewCodePointSet(watched)
	if err != nil {
		t.Fatal(err)
	}
	limits := payload.Limits{MaxBytes: 1 << 20, MaxDepth: 64, MaxValues: 64 << 20, MaxNumberLength: 64, MaxExponent: 308, ListedStrings: 1 << 20, Watched: set}
	random := rand.New(rand.NewPCG(1, 2))
	withStrings, deep := 0, 0 // so that the comparison is not about trifles
	for range 500 {
		document := generate(random, 0)
		got := payload.Decode([]byte(document), limits).Facts
		results, err := query.Eval(ctx, rego.EvalInput(map[string]any{"text": document, "watched": watched}))
		if err != nil || len(results) != 1 {
			t.Fatalf("%s: %v, %v", document, results, err)
		}
		restated := results[0].Expressions[0].Value.(map[string]any)
		if !got.Complete || got.Bytes != len(document) || got.Type != restated["type"] || json.Number(fmt.Sprint(got.Depth)) != restated["depth"] {
			t.Fatalf("%s:\ndecoder %+v\nRego    %v", document, got, restated)
		}
		if deepest := restated["deepest"].([]any); !slices.Contains(deepest, any(got.Deepest)) {
			t.Fatalf("%s: deepest %q, Rego says %v", document, got.Deepest, deepest)
		}
		if diff := cmp.Diff(lines(restated["strings"].([]any)), lines(stringFacts(got.ControlCharacters.Strings))); diff != "" {
			t.Fatalf("%s (-Rego +decoder):\n%s", document, diff)
		}
		if got.ControlCharacters.Total != len(got.ControlCharacters.Strings) {
			t.Fatalf("%s: total %d of %d", document, got.ControlCharacters.Total, len(got.ControlCharacters.Strings))
		}
		withStrings += min(got.ControlCharacters.Total, 1)
		deep += min(got.Depth/4, 1)
	}
	if withStrings < 100 || deep < 50 {
		t.Errorf("the generated payloads are too tame: %d with control characters, %d deep", withStrings, deep)
	}
}

func stringFacts(facts []payload.StringFact) []any {
	list := []any{}
	for _, f := range facts {
		text, _ := json.Marshal(map[string]any{"path": f.Path, "in": f.In, "code_points": f.CodePoints, "count": f.Count})
		var value any
		_ = json.Unmarshal(text, &value)
		list = append(list, value)
	}
	return list
}

// lines makes facts comparable in any order.
func lines(facts []any) []string {
	list := []string{}
	for _, f := range facts {
		text, _ := json.Marshal(f)
		list = append(list, string(text))
	}
	slices.Sort(list)
	return list
}

// generate writes a random JSON value, an object at the top.
func generate(random *rand.Rand, depth int) string {
	kind := random.IntN(5)
	if depth == 0 {
		kind = 0
	}
	if depth > 9 {
		kind = 2 + random.IntN(6)
	}
	switch kind {
	case 0:
		var members []string
		for i := range random.IntN(5) {
			members = append(members, generateString(random, fmt.Sprint(i))+`:`+generate(random, depth+1))
		}
		return `{` + strings.Join(members, " , ") + `}`
	case 1:
		var items []string
		for range random.IntN(5) {
			items = append(items, generate(random, depth+1))
		}
		return `[` + strings.Join(items, ",") + `]`
	case 2:
		return []string{"true", "false", "null"}[random.IntN(3)]
	case 3:
		return []string{"0", "-1.50e3", "12345678901234567890", "1E-7"}[random.IntN(4)]
	default:
		return generateString(random, "")
	}
}

// generateString writes a string that may hold anything of interest; unique makes
// keys different.
func generateString(random *rand.Rand, unique string) string {
	pieces := []string{"a", "~", "/", `\"`, `\\`, `\n`, `\t`, `\u001b`, `\u0000`, "\u0085", `\u009f`, "\u007f", "é", "漢", "\U0001F600", `\ud83d\ude00`, `\u2028`, "~1"}
	var b strings.Builder
	b.WriteString(`"` + unique)
	for range random.IntN(5) {
		if random.IntN(2) == 0 {
			b.WriteString("plain ")
			continue
		}
		b.WriteString(pieces[random.IntN(len(pieces))])
	}
	return b.String() + `"`
}
