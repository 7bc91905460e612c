package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/policies"
)

// Which strings a rule is given is found in Go, and once more in Rego.
func TestSelectedIsWhatRegoSelects(t *testing.T) {
	ctx := context.Background()
	text, err := os.ReadFile("testdata/selected.rego")
	if err != nil {
		t.Fatal(err)
	}
	register, err := fs.ReadFile(policies.FS, "register.rego")
	if err != nil {
		t.Fatal(err)
	}
	query, err := rego.New(rego.Query("data.selected.selected"), rego.Module("selected.rego", string(text)), rego.Module("register.rego", string(register)),
		rego.SetRegoVersion(ast.RegoV1), rego.StrictBuiltinErrors(true)).PrepareForEval(ctx)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	limits := payload.Limits{MaxBytes: 1 << 20, MaxDepth: 64, MaxValues: 1 << 20, MaxNumberLength: 64, MaxExponent: 308, ListedStrings: 1}
	hits := 0
	for range 1200 {
		document := strings.ReplaceAll(generate(random, 0), "plain ", pick("plain ", "Plan", "a", "0"))
		value := payload.Decode([]byte(document), limits).Value
		selection := payload.Selection{Keys: random.IntN(2) == 0}
		var places, contains []string
		var ranges [][]int
		for range 1 + random.IntN(3) {
			place := ""
			for range random.IntN(5) {
				place += "/" + pick("**", "**", "*", "0", "1", "0a", "1~0")
			}
			places = append(places, place)
			selection.Places = append(selection.Places, tokensOf(place))
		}
		if random.IntN(3) == 0 {
			for range 1 + random.IntN(3) {
				contains = append(contains, pick("plan", "a", "漢", "~", "ai", "ain", "lan", "n ", "\\", "00"))
			}
		}
		if random.IntN(3) == 0 {
			ranges = append(ranges, []int{0x7f, 0x9f}, []int{0x1f600, 0x1f600})
		}
		selection.Contains = payload.NewTexts(contains)
		for _, r := range ranges {
			selection.CodePoints = append(selection.CodePoints, payload.CodePointRange{From: rune(r[0]), To: rune(r[1])})
		}
		got := payload.Select(value, &selection, 1<<20)
		results, err := query.Eval(ctx, rego.EvalInput(map[string]any{"payload": value, "selection": map[string]any{
			"places": places, "keys": selection.Keys, "contains": append([]string{}, contains...), "code_points": append([][]int{}, ranges...),
		}}))
		if err != nil || len(results) != 1 {
			t.Fatalf("%s: %v, %v", document, results, err)
		}
		var listed []any
		for _, s := range got.Strings {
			listed = append(listed, map[string]any{"path": s.Path, "in": s.In, "text": s.Text})
		}
		if diff := cmp.Diff(lines(results[0].Expressions[0].Value.([]any)), lines(listed)); diff != "" || got.Total != len(got.Strings) {
			t.Fatalf("%s at %v, containing %v or %v (-Rego +Go):\n%s", document, places, contains, ranges, diff)
		}
		hits += min(got.Total, 1)
		if most := random.IntN(3); got.Total > most {
			if few := payload.Select(value, &selection, most); few.Total != got.Total || fmt.Sprint(few.Strings) != fmt.Sprint(got.Strings[:most]) {
				t.Fatalf("%s: the first %d are %v of %v", document, most, few, got)
			}
		}
	}
	if hits < 100 {
		t.Errorf("only %d payloads have strings that are wanted", hits)
	}
}

func tokensOf(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens
}
