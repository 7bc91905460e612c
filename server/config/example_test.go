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
