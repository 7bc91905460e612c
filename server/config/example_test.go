package config

import (
	"os"
	"strings"
	"testing"
)

// example returns the configuration in the README of the repository.
func example(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```yaml\n")
	example, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal("there is no example in the README")
	}
	return example
}

// The report in the README is what its file, in the test of the command, gives.
func TestReportOfTheReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "$ sallyport config check\n")
	report, _, _ := strings.Cut(rest, "```")
	script, err := os.ReadFile("../../cmd/sallyport/testdata/script/config_check.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ = strings.Cut(string(script), "-- bad.txt --\n")
	want, _, _ := strings.Cut(rest, "-- ")
	if want = strings.ReplaceAll(want, "bad.yaml", "sallyport.yaml"); report != want || want == "" {
		t.Errorf("the README has\n%s\nwant\n%s", report, want)
	}
}
