package ecma

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSuitePatterns puts the patterns of the JSON-Schema-Test-Suite to its texts:
// those of pattern to strings, those of patternProperties to the names of properties.
func TestSuitePatterns(t *testing.T) {
	root := os.Getenv("SALLYPORT_SUITES")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "..", "shared", "suites")
	}
	file := filepath.Join(root, "json-schema-test-suite", "tests", "draft7", "optional", "ecmascript-regex.json")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("SKIPPED, NOT PASSED: %v; set SALLYPORT_SUITES to the folder that holds json-schema-test-suite", err)
	}
	var groups []struct {
		Schema struct {
			Pattern           string
			PatternProperties map[string]any
		}
		Tests []struct {
			Description string
			Data        any
			Valid       bool
		}
	}
	if err := json.Unmarshal(content, &groups); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	failed := []string{}
	for _, group := range groups {
		for _, test := range group.Tests {
			var (
				kind  string
				valid bool
				err   error
			)
			switch data := test.Data.(type) {
			case string:
				kind = "pattern"
				valid, err = matches(group.Schema.Pattern, data)
			case map[string]any: // all these schemas have additionalProperties: false
				kind = "patternProperties"
				valid, err = namesMatch(group.Schema.PatternProperties, data)
			}
			counts[kind+" in all"]++
			if err != nil || valid != test.Valid {
				failed = append(failed, fmt.Sprintf("%s: %s: valid %t, %v", kind, test.Description, valid, err))
				continue
			}
			counts[kind]++
		}
	}
	t.Logf("cases that pass, and in all: %v", counts)
	// What the engine of linear time cannot do. Nothing in this file of the suite is.
	expected := []string{}
	if diff := cmp.Diff(expected, failed); diff != "" {
		t.Errorf("cases that fail (-want +got):\n%s", diff)
	}
	if counts["pattern in all"] == 0 || counts["patternProperties in all"] == 0 {
		t.Errorf("%s holds no patterns: %v", file, counts)
	}
}

func matches(pattern, text string) (bool, error) {
	compiled, err := Compile(pattern)
	if err != nil {
		return false, fmt.Errorf("%q: %w", pattern, err)
	}
	return compiled.MatchString(text), nil
}

func namesMatch(patterns, properties map[string]any) (bool, error) {
	for name := range properties {
		matched := false
		for pattern := range patterns {
			one, err := matches(pattern, name)
			if err != nil {
				return false, err
			}
			matched = matched || one
		}
		if !matched {
			return false, nil
		}
	}
	return true, nil
}
