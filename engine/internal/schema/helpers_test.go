package schema

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the lists of testdata anew")

const (
	in7    = `"$schema": "http://json-schema.org/draft-07/schema#"`
	in2019 = `"$schema": "https://json-schema.org/draft/2019-09/schema"`
	in2020 = `"$schema": "https://json-schema.org/draft/2020-12/schema"`
)

// limits are generous, for tests that are not about them.
var limits = Limits{Subschemas: 2000, EnumValues: 1000, Compile: time.Minute, Steps: 10_000, StepsPerValue: 12, Validate: time.Minute}

// asFile is how a schema file is read, asListed one that a server lists, and asDraft7
// one that says so.
var (
	asDraft7 = Options{Declared: Draft7, Limits: limits}
	asFile   = Options{Default: Draft7, Limits: limits}
	asListed = Options{Default: Draft2020, Formats: AnnotateFormats, OpenRoot: true, Limits: limits}
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
	s, _, err := Compile("t", decode(document), asDraft7)
	if err != nil {
		t.Fatalf("%.300s: %v", document, err)
	}
	return s
}

func violations(t testing.TB, document, value string) []Violation {
	t.Helper()
	list, err := mustCompile(t, document).Validate(context.Background(), decode(value))
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
