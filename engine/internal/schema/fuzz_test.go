package schema

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzValidate holds that no schema and no payload makes the package panic or
// exceeds its budget by more than twice, that every violation is fit to show, and
// that two validators of one schema agree to the byte. The seeds are in
// testdata/fuzz.
func FuzzValidate(f *testing.F) {
	f.Fuzz(func(t *testing.T, document, value string) {
		for _, o := range []Options{asFile, asListed} {
			o.Limits.Steps, o.Limits.Validate, o.Backtracking = 2000, time.Second, true
			validate(t, document, value, o)
		}
	})
}

func validate(t *testing.T, document, value string, o Options) {
	schemaDoc, ok := decodeBounded(document, 4000)
	payload, ok2 := decodeBounded(value, 4000)
	if !ok || !ok2 {
		return
	}
	s, _, err := Compile("t", schemaDoc, o)
	if err != nil {
		for _, fault := range faultsIn(t, err) {
			if fault.Problem == "" || strings.Contains(fault.Problem, "cannot compile") || strings.ContainsFunc(fault.Error(), notASCII) {
				t.Fatalf("%s: %v", document, err)
			}
		}
		return
	}
	if boundNumbers("t", payload) != nil {
		return // the decoder in front keeps them out
	}
	start := time.Now()
	list, err := s.Validate(context.Background(), payload)
	if spent, limit := s.pool.first.budget.used, o.Limits.Steps+o.Limits.StepsPerValue*valuesIn(payload); spent > 2*limit {
		t.Fatalf("%s against %s: %d steps, of %d", value, document, spent, limit)
	}
	if took := time.Since(start); took > 2*o.Limits.Validate {
		t.Fatalf("%s against %s: %s", value, document, took)
	}
	if errors.Is(err, ErrBudget) {
		return
	}
	if err != nil {
		t.Fatalf("%s against %s: %v", value, document, err)
	}
	for i, v := range list {
		if v.Keyword == "" || v.Reason == "" || len(v.Reason) > maxReason || strings.ContainsFunc(v.Reason, notASCII) || !strings.Contains(v.Location, "#") {
			t.Fatalf("%s against %s: %+v", value, document, v)
		}
		if i > 0 && compareSaid(list[i-1], v) >= 0 {
			t.Fatalf("%s against %s: %+v before %+v", value, document, list[i-1], v)
		}
	}
	schemaDoc, _ = decodeBounded(document, 4000)
	second, _, err := Compile("t", schemaDoc, o)
	if err != nil {
		t.Fatalf("%s compiled, and now: %v", document, err)
	}
	again, err := second.Validate(context.Background(), payload)
	if diff := cmp.Diff(list, again); diff != "" || err != nil {
		t.Fatalf("%s against %s: %v (-first +second):\n%s", value, document, err, diff)
	}
}

func notASCII(r rune) bool { return r < ' ' || r > '~' }

// deepest is how deep the decoder in front lets documents and payloads be.
const deepest = 64

// decodeBounded reads JSON of so many bytes.
func decodeBounded(text string, bytes int) (any, bool) {
	if len(text) > bytes || !json.Valid([]byte(text)) {
		return nil, false
	}
	value := decode(text)
	return value, depth(value) <= deepest
}

func depth(value any) int {
	deepest := 0
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			deepest = max(deepest, 1+depth(item))
		}
	case map[string]any:
		for _, member := range v {
			deepest = max(deepest, 1+depth(member))
		}
	}
	return deepest
}
