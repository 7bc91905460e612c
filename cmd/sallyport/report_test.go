package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/engine"
)

// mixed has a call of each verdict, a line of each fault and awkward characters.
const mixed = `{"name":"bernstein_health"}
{"name":"bernstein_run","arguments":{"goal":"\u001b]]>","<&>\u0007":1,"priority":9}}
{"name":"\u001b[31m ]]>\u202e"}
not JSON
[]
`

// check runs sallyport check in this process, in a fresh folder that holds files.
func check(t *testing.T, files map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv(engine.ModeVariable, "")
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, err bytes.Buffer
	code = run(append([]string{"check"}, args...), streams{strings.NewReader(""), &out, &err})
	return code, out.String(), err.String()
}

func TestJUnitIsReadAsXML(t *testing.T) {
	code, stdout, _ := check(t, map[string]string{"mixed.jsonl": mixed, "empty.jsonl": ""}, "--output", "junit", "empty.jsonl", "missing.jsonl", "mixed.jsonl")
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	type detail struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	type testCase struct {
		Name    string  `xml:"name,attr"`
		Failure *detail `xml:"failure"`
		Error   *detail `xml:"error"`
	}
	type suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	var got struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []suite  `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v in\n%s", err, stdout)
	}
	if got.Tests != 6 || got.Failures != 4 || got.Errors != 1 {
		t.Errorf("%d tests, %d failures, %d errors", got.Tests, got.Failures, got.Errors)
	}
	unknown := `unknown tool "\u{1b}[31m ]]>\u{202e}": no schema is registered for a tool of this name`
	want := []suite{
		{Name: "empty.jsonl"},
		{Name: "missing.jsonl", Tests: 1, Errors: 1, Cases: []testCase{
			{Name: "missing.jsonl", Error: &detail{Message: "open missing.jsonl: no such file or directory", Type: "unreadable"}},
		}},
		{Name: "mixed.jsonl", Tests: 5, Failures: 4, Cases: []testCase{
			{Name: "mixed.jsonl:1 bernstein_health"},
			{Name: "mixed.jsonl:2 bernstein_run", Failure: &detail{
				Message: `invalid arguments for "bernstein_run": /<&>\u{7} the key has 1 forbidden control character: U+0007; ` +
					`/<&>\u{7} unexpected property; the schema allows no others; /goal the string has 1 forbidden control character: U+001B; and 1 more`,
				Type: "-32602",
				Text: "/<&>\\u{7} the key has 1 forbidden control character: U+0007\n/<&>\\u{7} unexpected property; the schema allows no others\n" +
					"/goal the string has 1 forbidden control character: U+001B\n/priority is 9 but must be at most 3\n",
			}},
			{Name: `mixed.jsonl:3 "\\u{1b}[31m ]]>\\u{202e}"`, Failure: &detail{
				Message: strings.ReplaceAll(unknown, `\u`, `\\u`), Type: "-32601", Text: "(arguments) no schema is registered for a tool of this name\n",
			}},
			{Name: "mixed.jsonl:4", Failure: &detail{Message: "not JSON: unexpected character at byte 1", Type: "-32700", Text: "(message) not JSON: unexpected character at byte 1\n"}},
			{Name: "mixed.jsonl:5", Failure: &detail{Message: "the message is not a JSON object", Type: "-32600", Text: "(message) the message is not a JSON object\n"}},
		}},
	}
	if diff := cmp.Diff(want, got.Suites); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

type sarifLog struct {
	Schema  string `json:"$schema"`
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name, Version, InformationURI string
				Rules                         []sarifRule
			}
		}
		Results     []sarifResult
		Invocations []struct{ ExecutionSuccessful bool }
	}
}

func readSARIF(t *testing.T, text string) sarifLog {
	t.Helper()
	var report sarifLog
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if report.Version != "2.1.0" || len(report.Runs) != 1 || report.Runs[0].Results == nil || len(report.Runs[0].Invocations) != 1 {
		t.Fatalf("not one run of SARIF 2.1.0: %s", text)
	}
	return report
}

func TestSARIF(t *testing.T) {
	_, stdout, _ := check(t, map[string]string{"a:b/mixed 1.jsonl": mixed}, "--output", "sarif", "a:b/mixed 1.jsonl")
	one := readSARIF(t, stdout).Runs[0]
	if driver := one.Tool.Driver; driver.Name != "sallyport" || driver.Version == "" || driver.InformationURI == "" {
		t.Errorf("driver %+v", driver)
	}
	ids := map[string]bool{}
	for _, rule := range one.Tool.Driver.Rules {
		if ids[rule.ID] || rule.ShortDescription.Text == "" {
			t.Errorf("rule %+v occurs twice or is not described", rule)
		}
		ids[rule.ID] = true
	}
	var got []string
	for _, r := range one.Results {
		if one.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || len(r.Locations) != 1 {
			t.Errorf("%+v does not point at its rule, or at one place", r)
		}
		at := r.Locations[0].PhysicalLocation
		got = append(got, fmt.Sprintf("%s:%d %s %s: %s", at.ArtifactLocation.URI, at.Region.StartLine, r.Level, r.RuleID, r.Message.Text))
	}
	want := []string{
		`./a:b/mixed%201.jsonl:2 error policy/control_characters: /<&>\u{7} the key has 1 forbidden control character: U+0007`,
		`./a:b/mixed%201.jsonl:2 error schema/additionalProperties: /<&>\u{7} unexpected property; the schema allows no others`,
		`./a:b/mixed%201.jsonl:2 error policy/control_characters: /goal the string has 1 forbidden control character: U+001B`,
		`./a:b/mixed%201.jsonl:2 error schema/maximum: /priority is 9 but must be at most 3`,
		`./a:b/mixed%201.jsonl:3 error policy/unknown_tool: (arguments) no schema is registered for a tool of this name`,
		`./a:b/mixed%201.jsonl:4 error message/not_json: (message) not JSON: unexpected character at byte 1`,
		`./a:b/mixed%201.jsonl:5 error message/not_a_call: (message) the message is not a JSON object`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !one.Invocations[0].ExecutionSuccessful {
		t.Error("the run is said to have failed")
	}
}

func TestSARIFOfBypassedAndUnreadable(t *testing.T) {
	files := map[string]string{"bad.jsonl": `{"name":"bernstein_run"}`, "good.jsonl": `{"name":"bernstein_health"}`}
	_, stdout, _ := check(t, files, "--output", "sarif", "--mode", "permissive", "bad.jsonl")
	if results := readSARIF(t, stdout).Runs[0].Results; len(results) != 1 || results[0].Level != "warning" {
		t.Errorf("results %+v", results)
	}
	_, stdout, _ = check(t, files, "--output", "sarif", "good.jsonl", "missing.jsonl")
	if one := readSARIF(t, stdout).Runs[0]; len(one.Results) != 0 || one.Invocations[0].ExecutionSuccessful {
		t.Errorf("results %+v, invocations %+v", one.Results, one.Invocations)
	}
}

func TestOmittedViolationsAreCounted(t *testing.T) {
	files := map[string]string{
		"schemas/list.json": `{"type":"object","additionalProperties":false,"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`,
		"calls.jsonl":       `{"name":"list","arguments":{"a":[` + strings.Repeat(`"x",`, 104) + `"x"]}}`,
	}
	for format, want := range map[string]string{
		"text":  "    and 5 more\n",
		"json":  `"truncated":true,"omitted":5}`,
		"junit": "and 5 more",
		"sarif": "(and 5 more violations of this call)",
	} {
		if _, stdout, _ := check(t, files, "--schemas", "schemas", "--output", format, "calls.jsonl"); strings.Count(stdout, want) != 1 {
			t.Errorf("%s: %q does not occur once in\n%s", format, want, stdout)
		}
	}
}
