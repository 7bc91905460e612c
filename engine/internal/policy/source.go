package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// RulePrefix is the package below which every sub-package is one deny rule.
const RulePrefix = "data.sallyport.rules"

// Source is one set of Rego modules with its data.
type Source struct {
	Modules map[string]string // file name -> text, tests left out
	Data    map[string]any    // decoded data.json, laid over the data of earlier sources
	// BuiltIn sources may hold any package; others only rules of their own.
	BuiltIn bool
}

// Rule describes one deny rule, as its package's METADATA says.
type Rule struct {
	Name        string // last part of the package, such as payload_size
	Title       string
	Description string
	Severity    string // low, medium, high or critical
	File        string
	Line        int  // of its package clause
	Halts       bool // the schema does not see a call that it refuses
	BuiltIn     bool
}

var severities = []string{"low", "medium", "high", "critical"}

// parse reads all modules and checks what the compiler does not: the rego.v2
// import, the place of a rule, its METADATA and the form of its deny set.
// Every fault of every module is in the error.
func parse(sources []Source) (map[string]*ast.Module, map[string]Rule, error) {
	modules := map[string]*ast.Module{}
	rules := map[string]Rule{}
	var faults []error
	for _, source := range sources {
		for _, name := range sortedKeys(source.Modules) {
			read := parseModule
			if source.BuiltIn {
				read = parseOnce
			}
			module, err := read(name, source.Modules[name])
			if err != nil {
				faults = append(faults, err)
				continue
			}
			if _, taken := modules[name]; taken {
				faults = append(faults, fmt.Errorf("%s: there are two modules of this name: rename one", name))
				continue
			}
			modules[name] = module
			if err := checkPlace(module, source.BuiltIn); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
				continue
			}
			rule, isRule, err := ruleOf(name, module)
			switch {
			case err != nil:
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
			case isRule:
				if other, taken := rules[rule.Name]; taken {
					faults = append(faults, fmt.Errorf("%s: package sallyport.rules.%s is also in %s: a rule is one file", name, rule.Name, other.File))
					continue
				}
				rule.BuiltIn = source.BuiltIn
				rules[rule.Name] = rule
			}
		}
	}
	return modules, rules, errors.Join(faults...)
}

// parsed holds the built-in modules by their text: they are the same for every engine of a
// process, and the compiler works on copies.
var parsed sync.Map

func parseOnce(name, text string) (*ast.Module, error) {
	key := [2]string{name, text}
	if module, ok := parsed.Load(key); ok {
		return module.(*ast.Module), nil
	}
	module, err := parseModule(name, text)
	if err == nil {
		parsed.Store(key, module)
	}
	return module, err
}

func parseModule(name, text string) (*ast.Module, error) {
	module, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{
		RegoVersion:       ast.RegoV1,
		ProcessAnnotation: true,
	})
	if err != nil {
		return nil, err
	}
	if module == nil {
		return nil, fmt.Errorf("%s: the module is empty", name)
	}
	// Without this import, `not f(input.x)` is undefined where x is missing, so
	// a deny rule would be silent just where it has to speak.
	if !slices.ContainsFunc(module.Imports, func(i *ast.Import) bool { return ast.RegoV2CompatibleRef.Equal(i.Path.Value) }) {
		return nil, fmt.Errorf("%s: `import rego.v2` is missing: without it `not` can fail open on missing input", name)
	}
	return module, nil
}

// rulePackage says whether path is data.sallyport.rules.<name>.
func rulePackage(path ast.Ref) (string, bool) {
	if len(path) != 4 || !strings.HasPrefix(path.String(), RulePrefix+".") {
		return "", false
	}
	name, ok := path[3].Value.(ast.String)
	return string(name), ok
}

func checkPlace(module *ast.Module, builtIn bool) error {
	if _, ok := rulePackage(module.Package.Path); ok || builtIn {
		return nil
	}
	return fmt.Errorf("%s is not of the form `package sallyport.rules.<name>`", module.Package)
}

func ruleOf(file string, module *ast.Module) (Rule, bool, error) {
	name, ok := rulePackage(module.Package.Path)
	if !ok {
		return Rule{}, false, nil
	}
	if !hasDenySet(module) {
		return Rule{}, false, errors.New("a rule needs a partial set: `deny contains {\"path\": ..., \"reason\": ...} if { ... }`")
	}
	for _, a := range module.Annotations {
		if a.Scope != "package" {
			continue
		}
		rule := Rule{Name: name, Title: a.Title, Description: a.Description, File: file, Line: module.Package.Location.Row}
		rule.Halts, _ = a.Custom["halts"].(bool)
		rule.Severity, _ = a.Custom["severity"].(string)
		switch {
		case rule.Title == "" || rule.Description == "":
			return Rule{}, false, errors.New("the METADATA of the package needs a title and a description")
		case !slices.Contains(severities, rule.Severity):
			return Rule{}, false, fmt.Errorf("the METADATA of the package needs custom.severity, one of %s", strings.Join(severities, ", "))
		}
		return rule, true, nil
	}
	return Rule{}, false, errors.New("the package needs a METADATA comment with `scope: package`, title, description and custom.severity")
}

func hasDenySet(module *ast.Module) bool {
	found := false
	for _, r := range module.Rules {
		if r.Head.Name != "deny" {
			continue
		}
		if r.Head.RuleKind() != ast.MultiValue {
			return false
		}
		found = true
	}
	return found
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
