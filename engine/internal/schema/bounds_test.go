package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Bounds say what the validator's own keywords say, on every pair of these numbers.
func TestBoundsAgreeWithTheValidator(t *testing.T) {
	numbers := []string{
		"0", "-0", "1", "-1", "2", "3", "7", "10", "0.1", "0.5", "-0.5", "1.0", "1.5", "1e2", "100", "1E-2", "999999999999999999", "-999999999999999999", "1000000000000000000",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9007199254740993", "1e308", "-1e308", "1e-308", "123456789012345678901234567890.5", "0.0", "0e5",
	}
	for _, keyword := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		for _, limit := range numbers {
			document := fmt.Sprintf(`{%q: %s}`, keyword, limit)
			bare := jsonschema.NewCompiler()
			bare.DefaultDraft(jsonschema.Draft7)
			if err := bare.AddResource("x:y", decode(document)); err != nil {
				t.Fatal(err)
			}
			validator, err := bare.Compile("x:y")
			if err != nil {
				continue // a multipleOf that is not above 0
			}
			ours := mustCompile(t, document)
			for _, number := range numbers {
				list, err := ours.Validate(context.Background(), json.Number(number))
				if err != nil {
					t.Fatalf("%s against %s: %v", number, document, err)
				}
				if want := validator.Validate(json.Number(number)) == nil; (len(list) == 0) != want {
					t.Errorf("%s against %s: %v, the validator says %t", number, document, lines(list), want)
				}
			}
		}
	}
	list := violations(t, `{"minimum": 3, "maximum": 1, "exclusiveMinimum": 2, "exclusiveMaximum": 2, "multipleOf": 4}`, `2`)
	if diff := cmp.Diff([]string{" exclusiveMaximum", " exclusiveMinimum", " maximum", " minimum", " multipleOf"}, lines(list)); diff != "" {
		t.Errorf("all at once (-want +got):\n%s", diff)
	}
}
