package schema

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the lists of testdata anew")

const (
	in2019 = `"$schema": "https://json-schema.org/draft/2019-09/schema"`
	in2020 = `"$schema": "https://json-schema.org/draft/2020-12/schema"`
)

// decode reads JSON and keeps numbers as they are written.
func decode(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return value
}

func mustCompile(t testing.TB, document string) *Schema {
	t.Helper()
	s, _, err := Compile("t", decode(document))
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return s
}

func violations(t testing.TB, document, value string) []Violation {
	t.Helper()
	list, err := mustCompile(t, document).Validate(decode(value))
	if err != nil {
		t.Fatalf("%s against %s: %v", value, document, err)
	}
	return list
}

// lines shows violations as "pointer keyword".
func lines(list []Violation) []string {
	var all []string
	for _, v := range list {
		all = append(all, pointer(v.Tokens)+" "+v.Keyword)
	}
	return all
}

// faultsIn takes joined errors apart.
func faultsIn(t testing.TB, err error) []CompileError {
	t.Helper()
	if err == nil {
		return nil
	}
	var all []CompileError
	for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
		var fault *CompileError
		if !errors.As(one, &fault) {
			t.Fatalf("not a *CompileError: %v", one)
		}
		all = append(all, *fault)
	}
	return all
}
