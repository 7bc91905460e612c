package schema

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is the compiled schema of one tool. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	base     string // URL of the document
}

// CompileError is one fault of a schema document.
type CompileError struct {
	Tool     string
	Location string // RFC 6901 pointer into the document, "" for its root
	Problem  string
	Remedy   string
}

// Error reads "at /properties/a: problem; remedy".
func (e *CompileError) Error() string {
	text := e.Problem
	if e.Location != "" {
		text = "at " + e.Location + ": " + text
	}
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Warning tells of something in a schema document that has no effect.
type Warning struct {
	Location string
	Problem  string
	Remedy   string
}

// Compile compiles the schema document of one tool, a decoded one, which has to be
// the callee's own. Without $schema it is read as Draft 7. Nothing is ever
// fetched. The error joins a *CompileError for every fault found.
func Compile(tool string, document any) (*Schema, []Warning, error) {
	report := lint(tool, document)
	s, faults := compile(tool, document, environment{assertFormat: true})
	faults = append(report.faults, faults...)
	if len(faults) > 0 {
		return nil, nil, joined(faults)
	}
	return s, report.warnings, nil
}

// joined sorts faults by place, drops those that say the same twice, and makes
// one error of them.
func joined(faults []*CompileError) error {
	slices.SortStableFunc(faults, func(a, b *CompileError) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Problem, b.Problem))
	})
	faults = slices.CompactFunc(faults, func(a, b *CompileError) bool { return *a == *b })
	all := make([]error, len(faults))
	for i, f := range faults {
		all[i] = f
	}
	return errors.Join(all...)
}

// environment is what the official suite needs otherwise: it refers to documents of
// its own and, from 2019-09 on, takes format for an annotation.
type environment struct {
	loader       jsonschema.URLLoader // nil: nothing can be loaded
	assertFormat bool
}

// compile compiles and hardens without looking at how the document is written.
func compile(tool string, document any, env environment) (s *Schema, faults []*CompileError) {
	// The URL has to be hierarchical, or a relative reference would resolve to the
	// document itself.
	base := "sallyport://schemas/" + url.PathEscape(tool) + ".json"
	defer func() {
		if r := recover(); r != nil {
			s, faults = nil, []*CompileError{{Tool: tool, Problem: fmt.Sprintf("the validator cannot compile this schema: %v", r)}}
		}
	}()
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft7)
	compiler.UseLoader(env.loader)
	if env.assertFormat {
		compiler.AssertFormat()
	}
	fail := func(err error) []*CompileError { return faultsOf(err, tool, base, document) }
	if err := compiler.AddResource(base, document); err != nil {
		return nil, fail(err)
	}
	compiled, err := compiler.Compile(base)
	if err != nil {
		return nil, fail(err)
	}
	// Draft 7 does not know $defs, so what nothing refers to is not looked at.
	root, _ := document.(map[string]any)
	definitions, _ := root["$defs"].(map[string]any)
	for name := range definitions {
		if _, err := compiler.Compile(base + "#/$defs/" + url.PathEscape(escape(name))); err != nil {
			faults = append(faults, fail(err)...)
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if err := harden(compiled); err != nil {
		return nil, []*CompileError{{Tool: tool, Location: fragment(err.location, base), Problem: err.problem, Remedy: err.remedy}}
	}
	return &Schema{compiled: compiled, base: base}, nil
}

// faultsOf says in our words what the compiler refused.
func faultsOf(err error, tool, base string, document any) []*CompileError {
	var (
		invalid  *jsonschema.SchemaValidationError
		load     *jsonschema.LoadURLError
		regex    *jsonschema.InvalidRegexError
		dangling *jsonschema.JSONPointerNotFoundError
		anchor   *jsonschema.AnchorNotFoundError
	)
	fault := &CompileError{Tool: tool}
	switch {
	case errors.As(err, &invalid):
		return metaschemaFaults(invalid, tool, base, document)
	case errors.As(err, &load):
		fault.Location = find(document, "", load.URL)
		fault.Problem = fmt.Sprintf("refers to %s, and nothing is ever fetched", quote(load.URL, 120))
		fault.Remedy = "put what it refers to into $defs of this document"
		if strings.HasSuffix(fault.Location, "/$schema") {
			fault.Remedy = "use the URL of draft 4, 6, 7, 2019-09 or 2020-12"
		}
	case errors.As(err, &regex):
		fault.Location = fragment(regex.URL, base)
		fault.Problem = fmt.Sprintf("the pattern %s is not supported: %v", quote(regex.Regex, 120), regex.Err)
	case errors.As(err, &dangling):
		fault.Location = find(document, "", strings.TrimPrefix(dangling.URL, base))
		fault.Problem = fmt.Sprintf("refers to %s, which is not in this document", quote(strings.TrimPrefix(dangling.URL, base), 120))
	case errors.As(err, &anchor):
		fault.Location = find(document, "", strings.TrimPrefix(anchor.Reference, base))
		fault.Problem = fmt.Sprintf("refers to %s, which is not in this document", quote(strings.TrimPrefix(anchor.Reference, base), 120))
	default:
		fault.Problem = strings.ReplaceAll(err.Error(), base, "")
	}
	return []*CompileError{fault}
}

func metaschemaFaults(invalid *jsonschema.SchemaValidationError, tool, base string, document any) []*CompileError {
	var broken *jsonschema.ValidationError
	if !errors.As(invalid.Err, &broken) {
		return []*CompileError{{Tool: tool, Problem: "is not a valid JSON Schema"}}
	}
	list, err := flatten(broken, document, "")
	if err != nil || len(list) == 0 {
		return []*CompileError{{Tool: tool, Problem: "is not a valid JSON Schema"}}
	}
	within := fragment(invalid.URL, base)
	var faults []*CompileError
	for _, v := range list {
		fault := &CompileError{Tool: tool, Location: within + pointer(v.Tokens), Problem: v.Reason, Remedy: "see the JSON Schema specification for this keyword"}
		if pattern, err := unsupportedPattern(v, document); err != nil {
			fault.Problem = fmt.Sprintf("the pattern %s is not supported: %v", quote(pattern, 120), err)
			fault.Remedy = "write it without look-around and backreferences (RE2 syntax)"
		}
		faults = append(faults, fault)
	}
	return faults
}

// unsupportedPattern says why a pattern does not compile, if v is about one.
func unsupportedPattern(v Violation, document any) (string, error) {
	if v.Keyword != "format" {
		return "", nil
	}
	pattern, ok := at(document, v.Tokens).(string)
	if !ok {
		return "", nil
	}
	_, err := regexp.Compile(pattern)
	var unsupported *syntax.Error
	if !errors.As(err, &unsupported) {
		return "", nil
	}
	return pattern, fmt.Errorf("%s %s", unsupported.Code, quote(unsupported.Expr, 48))
}

// fragment returns the pointer in a URL of this document.
func fragment(location, base string) string {
	pointer, found := strings.CutPrefix(location, base+"#")
	if !found {
		return ""
	}
	if plain, err := url.PathUnescape(pointer); err == nil {
		return plain
	}
	return pointer
}

// find returns where in the document a string stands that is, or resolves to,
// the given reference.
func find(value any, at, reference string) string {
	switch v := value.(type) {
	case string:
		if v == reference || strings.TrimSuffix(v, "#") == strings.TrimSuffix(reference, "#") ||
			v != "" && strings.HasPrefix(v, reference+"#") || v != "" && strings.HasSuffix(reference, "/"+v) {
			return at
		}
	case []any:
		for i, item := range v {
			if found := find(item, fmt.Sprintf("%s/%d", at, i), reference); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if found := find(v[key], at+"/"+escape(key), reference); found != "" {
				return found
			}
		}
	}
	return ""
}

// CheckRoot refuses a root that lets members pass by saying nothing about them:
// deny by default has to be written down, one way or the other.
func CheckRoot(tool string, document any) error {
	root, ok := document.(map[string]any)
	if !ok {
		return &CompileError{Tool: tool, Problem: "the root is not an object", Remedy: `start with {"type": "object", "additionalProperties": false, ...}`}
	}
	var faults []*CompileError
	if root["type"] != "object" {
		faults = append(faults, &CompileError{Tool: tool, Location: "/type", Problem: `the root must have "type": "object"`, Remedy: "arguments are always an object"})
	}
	if _, closed := root["additionalProperties"]; !closed {
		if _, closed = root["unevaluatedProperties"]; !closed {
			faults = append(faults, &CompileError{
				Tool: tool, Location: "/additionalProperties", Problem: "the root does not say whether other members are allowed",
				Remedy: "set additionalProperties to false, or to true if any member may pass",
			})
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return joined(faults)
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

func escape(token string) string { return escaper.Replace(token) }

func pointer(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString("/" + escape(token))
	}
	return b.String()
}

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
