package config

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the generated files anew")

// fieldsOf returns the fields that an option has to set, by their addresses.
func fieldsOf(v reflect.Value, name string) map[uintptr]string {
	found := map[uintptr]string{}
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Upstreams" {
				for address, inner := range fieldsOf(v.Field(i), name+"."+f.Name) {
					found[address] = inner
				}
			}
		}
	default:
		found[v.Addr().Pointer()] = name
	}
	return found
}

func TestEveryFieldHasOneOption(t *testing.T) {
	var c Config
	var u Upstream
	fields := fieldsOf(reflect.ValueOf(&c).Elem(), "Config")
	for address, name := range fieldsOf(reflect.ValueOf(&u).Elem(), "Upstream") {
		fields[address] = name
	}
	for _, o := range table {
		address := reflect.ValueOf(o.field(&c, &u)).Pointer()
		if fields[address] == "" {
			t.Errorf("%s sets no field, or one that another option sets", o.Key)
		}
		delete(fields, address)
	}
	for _, name := range fields {
		t.Errorf("%s is set by no option", name)
	}
}

func TestOptionsAndFlags(t *testing.T) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(Flags).Register(set)
	var registered, wanted []string
	set.VisitAll(func(f *pflag.Flag) {
		registered = append(registered, f.Name)
		if f.Usage == "" || f.Value.Type() == "" {
			t.Errorf("--%s has no usage or placeholder", f.Name)
		}
	})
	for _, o := range table {
		switch {
		case o.Flag == "" && o.Key != "upstreams[].command" && o.Key != "upstreams[].args":
			t.Errorf("%s has no flag", o.Key)
		case o.Flag != "":
			wanted = append(wanted, o.Flag)
		}
		if (o.Default == "") == (o.Absent == "") {
			t.Errorf("%s needs either a default, or words for what holds without one", o.Key)
		}
	}
	slices.Sort(wanted)
	if diff := cmp.Diff(slices.Compact(wanted), registered); diff != "" {
		t.Errorf("flags (-options +registered):\n%s", diff)
	}
}

func TestNamesOfVariables(t *testing.T) {
	wellFormed := regexp.MustCompile(`^SALLYPORT_[A-Z]+(_[A-Z]+)*$`)
	for _, o := range table {
		name := o.Env()
		// Kubernetes sets these for a service that is called sallyport.
		if name != "" && (!wellFormed.MatchString(name) || strings.HasPrefix(name, "SALLYPORT_PORT") || strings.HasPrefix(name, "SALLYPORT_SERVICE")) {
			t.Errorf("%s: the name %s is bad", o.Key, name)
		}
	}
}

func TestEveryObjectIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	var walk func(*shape)
	walk = func(s *shape) {
		if s.option != nil {
			return
		}
		key := s.key
		seen[key] = true
		if objects[key].usage == "" {
			t.Errorf("object %q is not described", key)
		}
		for _, member := range s.members {
			walk(member)
		}
	}
	walk(root)
	for key := range objects {
		if !seen[key] {
			t.Errorf("object %q is in no file", key)
		}
	}
}

// withFunctions returns the names of the functions of a source file that begin so.
func withFunctions(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "With") {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// Every option of engine and server can be set here, but for those that are no
// operator's.
func TestEveryOptionOfTheLibrary(t *testing.T) {
	covered := map[string]string{
		"WithSchemas": "engine.schemas", "WithServerTools": "engine.schemas", "WithLoadPolicy": "engine.load_policy", "WithDialect": "engine.dialect",
		"WithFormats": "engine.formats", "WithBacktrackingPatterns": "engine.backtracking_patterns", "WithDropNulls": "engine.leniency.drop_nulls",
		"WithUnwrapJSONStrings": "engine.leniency.unwrap_json_strings", "WithPolicies": "engine.policies", "WithBundle": "engine.bundle.file", "WithMode": "engine.mode",
		"WithAllowUnsafeArgs": "engine.allow_unsafe_args", "WithMaxViolations": "engine.max_violations", "WithTimeout": "engine.rules_timeout", "WithVerdictMemo": "engine.verdict_memo",
		"WithLogger": "log.format", "WithRejections": "engine.rejections", "WithAllowedHosts": "listen.allowed_hosts", "WithAllowedOrigins": "listen.allowed_origins", "WithPathPrefix": "upstreams[].path", "WithMaxBody": "listen.limits.body_bytes",
	}
	for _, file := range []string{"../../engine/options.go", "../../engine/bundle.go", "../judge.go", "../http.go"} {
		for _, name := range withFunctions(t, file) {
			if name == "WithClock" { // for programs that replay
				continue
			}
			if optionOf(covered[name]) == nil {
				t.Errorf("%s: %s cannot be set", file, name)
			}
		}
	}
}

// generated compares a file with what it is generated from.
func generated(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what the table says; run the test with -update (-table +file):\n%s", name, diff)
	}
}

func TestShippedSchema(t *testing.T) {
	generated(t, "sallyport.schema.json", JSONSchema())
	compileSchema(t)
}

// compileSchema compiles the shipped schema, which its metaschema has to accept.
func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	var document any
	if err := json.Unmarshal(JSONSchema(), &document); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sallyport.schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("sallyport.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestShippedReference(t *testing.T) { generated(t, "README.md", reference()) }
