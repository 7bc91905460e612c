package policies_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/sallyport-mcp/sallyport/policies"
)

var update = flag.Bool("update", false, "write capabilities.json anew for the OPA version in go.mod")

// texts returns every module of the folder, tests included.
func texts(t *testing.T) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := fs.WalkDir(policies.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".rego") {
			return err
		}
		found[path], err = fs.ReadFile(policies.FS, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("only %d modules are embedded", len(found))
	}
	return found
}

func modules(t *testing.T) map[string]*ast.Module {
	t.Helper()
	parsed := map[string]*ast.Module{}
	for path, text := range texts(t) {
		module, err := ast.ParseModuleWithOpts(path, string(text), ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
		if err != nil {
			t.Fatal(err)
		}
		parsed[path] = module
	}
	return parsed
}

func document(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := fs.ReadFile(policies.FS, name)
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := util.UnmarshalJSON(text, &value); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

// strictCompiler checks as `opa check --strict --schema --capabilities` does.
func strictCompiler(t *testing.T) *ast.Compiler {
	t.Helper()
	text, err := fs.ReadFile(policies.FS, "capabilities.json")
	if err != nil {
		t.Fatal(err)
	}
	capabilities, err := ast.LoadCapabilitiesJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, any(document(t, "input.schema.json")))
	return ast.NewCompiler().WithStrict(true).WithDefaultRegoVersion(ast.RegoV1).
		WithCapabilities(capabilities).WithSchemas(schemas).WithUseTypeCheckAnnotations(true)
}

// The Rego tests, as `opa test` runs them, each as one subtest; every line of
// every module has to be covered.
func TestRego(t *testing.T) {
	ctx := context.Background()
	parsed := modules(t)
	store := inmem.NewFromObject(document(t, "data.json"))
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Abort(ctx, txn)
	coverage := cover.New()
	results, err := tester.NewRunner().
		SetCompiler(strictCompiler(t)).
		SetStore(store).
		SetModules(parsed).
		SetCoverageQueryTracer(coverage).
		RaiseBuiltinErrors(true).
		RunTests(ctx, txn)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for result := range results {
		ran++
		t.Run(strings.TrimPrefix(result.Package, "data.sallyport.")+"."+result.Name, func(t *testing.T) {
			if !result.Pass() {
				t.Errorf("%s: %s", result.Location, result)
			}
		})
	}
	if ran < 70 {
		t.Errorf("only %d Rego tests ran", ran)
	}
	report := coverage.Report(parsed)
	if report.Coverage != 100 {
		for file, r := range report.Files {
			for _, gap := range r.NotCovered {
				t.Errorf("%s: lines %d to %d are not covered", file, gap.Start.Row, gap.End.Row)
			}
		}
	}
}

func TestModulesAreFormatted(t *testing.T) {
	for path, text := range texts(t) {
		formatted, err := format.SourceWithOpts(path, text, format.Opts{RegoVersion: ast.RegoV1})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, formatted) {
			t.Errorf("%s is not as `opa fmt` writes it (-is +should):\n%s", path, cmp.Diff(string(text), string(formatted)))
		}
	}
}

func TestEveryModuleImportsRegoV2(t *testing.T) {
	for path, module := range modules(t) {
		if !slices.ContainsFunc(module.Imports, func(i *ast.Import) bool { return ast.RegoV2CompatibleRef.Equal(i.Path.Value) }) {
			t.Errorf("%s does not import rego.v2", path)
		}
	}
}

// A misspelt fact has to be an error, or a rule on it would be silent.
func TestInputSchemaCatchesMisspeltFacts(t *testing.T) {
	for _, ref := range []string{"input.facts.byte", "input.tol", "input.facts.control_characters.string", "input.facts.fault.position"} {
		module := ast.MustParseModuleWithOpts("package sallyport.rules.typo\n\nimport rego.v2\n\ndeny contains 1 if "+ref+" == 1\n",
			ast.ParserOptions{RegoVersion: ast.RegoV1})
		compiler := strictCompiler(t)
		compiler.Compile(map[string]*ast.Module{"typo.rego": module})
		if !compiler.Failed() || !strings.Contains(compiler.Errors.Error(), "undefined ref") {
			t.Errorf("%s compiles: %v", ref, compiler.Errors)
		}
	}
}

// impure names what a rule may not call besides what OPA marks as
// nondeterministic: output to a log, and code made at run time.
var impure = []string{"trace", "print", "internal.print", "rego.parse_module"}

// capabilities.json is OPA's own list without the impure builtins; an upgrade of
// OPA that adds one shows up here.
func TestCapabilitiesAreThePureOnes(t *testing.T) {
	want := ast.CapabilitiesForThisVersion()
	want.Builtins = slices.DeleteFunc(want.Builtins, func(b *ast.Builtin) bool {
		return b.Nondeterministic || slices.Contains(impure, b.Name)
	})
	want.AllowNet = []string{}
	text, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	// An empty list means "no host"; leaving it out would mean "any host".
	text = bytes.Replace(text, []byte("{\n"), []byte("{\n \"allow_net\": [],\n"), 1)
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("capabilities.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("capabilities.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, text) {
		t.Errorf("capabilities.json is not what OPA in go.mod gives; run go test ./policies -update and read the difference")
	}
	loaded, err := ast.LoadCapabilitiesJSON(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if loaded.AllowNet == nil || len(loaded.AllowNet) != 0 {
		t.Errorf("allow_net is %v, want an empty list", loaded.AllowNet)
	}
	for _, name := range []string{"http.send", "net.lookup_ip_addr", "opa.runtime", "time.now_ns", "rand.intn", "uuid.rfc4122", "trace", "print"} {
		if slices.ContainsFunc(loaded.Builtins, func(b *ast.Builtin) bool { return b.Name == name }) {
			t.Errorf("%s is allowed", name)
		}
	}
}

// The package METADATA tells a reviewer whether a rule halts and with which
// code; what the rule really says must not differ.
func TestMetadataAgreesWithTheRule(t *testing.T) {
	for path, module := range modules(t) {
		if !strings.HasPrefix(path, "rules/") || strings.HasSuffix(path, "_test.rego") {
			continue
		}
		var custom map[string]any
		for _, a := range module.Annotations {
			if a.Scope == "package" {
				custom = a.Custom
			}
		}
		denies := 0
		for _, rule := range module.Rules {
			if rule.Head.Name != "deny" {
				continue
			}
			denies++
			finding, ok := rule.Head.Key.Value.(ast.Object)
			if !ok {
				t.Errorf("%s: a finding is not written as an object", path)
				continue
			}
			halt, code := finding.Get(ast.StringTerm("halt")), finding.Get(ast.StringTerm("code"))
			if halts := halt != nil && halt.Value.Compare(ast.Boolean(true)) == 0; custom["halts"] != halts {
				t.Errorf("%s: METADATA says halts: %v, the rule says %v", path, custom["halts"], halts)
			}
			written := "-32602"
			if code != nil {
				written = code.Value.String()
			}
			if fmt.Sprint(custom["code"]) != written {
				t.Errorf("%s: METADATA says code: %v, the rule says %v", path, custom["code"], written)
			}
		}
		if denies == 0 {
			t.Errorf("%s has no deny rule", path)
		}
	}
}
