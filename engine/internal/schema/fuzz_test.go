package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzValidate holds that no schema and no payload makes the package panic, that
// every violation is fit to show, and that two validators of one schema agree to
// the byte. The seeds are in testdata/fuzz.
func FuzzValidate(f *testing.F) {
	f.Fuzz(func(t *testing.T, document, value string) {
		schemaDoc, ok := decodeSmall(document, 600, 12)
		payload, ok2 := decodeSmall(value, 600, 6)
		if !ok || !ok2 {
			return
		}
		s, _, err := Compile("t", schemaDoc)
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
		list, err := s.Validate(payload)
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
		schemaDoc, _ = decodeSmall(document, 600, 12)
		second, _, err := Compile("t", schemaDoc)
		if err != nil {
			t.Fatalf("%s compiled, and now: %v", document, err)
		}
		again, err := second.Validate(payload)
		if diff := cmp.Diff(list, again); diff != "" || err != nil {
			t.Fatalf("%s against %s: %v (-first +second):\n%s", value, document, err, diff)
		}
	})
}

func notASCII(r rune) bool { return r < ' ' || r > '~' }

// decodeSmall reads JSON of so many bytes and levels. Without a budget of steps,
// which is not this package's yet, deep values cost exponential time.
func decodeSmall(text string, bytes, levels int) (any, bool) {
	if len(text) > bytes || !json.Valid([]byte(text)) {
		return nil, false
	}
	value := decode(text)
	return value, depth(value) <= levels
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
