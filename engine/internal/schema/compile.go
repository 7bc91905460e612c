package schema

import (
	"fmt"
	"net/url"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is the compiled schema of one tool. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	base     string // URL of the document
}

// Compile compiles the schema document of one tool. The document is decoded, and
// from here on the callee's own. Without $schema it is read as Draft 7. Nothing is
// ever fetched. The error joins a *CompileError for every fault found.
func Compile(tool string, document any) (*Schema, []Warning, error) {
	faults := boundNumbers(tool, document)
	found := lint(tool, document)
	faults = append(faults, found.faults...)
	if !found.known {
		return nil, nil, joined(faults)
	}
	s, refused := compile(found, environment{assertFormat: true})
	if faults = merged(faults, refused); len(faults) > 0 {
		return nil, nil, joined(faults)
	}
	return s, found.warnings, nil
}

// environment is what the official suite needs otherwise: it refers to documents of
// its own and, from 2019-09 on, takes format for an annotation.
type environment struct {
	loader       jsonschema.URLLoader // nil: nothing can be loaded
	assertFormat bool
}

func (env environment) compiler(d draft) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(d.validators())
	c.UseLoader(env.loader)
	if env.assertFormat {
		c.AssertFormat()
	}
	return c
}

// baseURL is where the document of a tool seems to be. It has to be hierarchical,
// or a relative reference would resolve to the document itself.
func baseURL(tool string) string { return "sallyport://schemas/" + url.PathEscape(tool) + ".json" }

// compile compiles and hardens the surveyed document, whatever lint thinks of it.
func compile(found *survey, env environment) (s *Schema, faults []*CompileError) {
	defer func() {
		if r := recover(); r != nil {
			problem := "the validator cannot compile this schema: " + quote(fmt.Sprint(r), 120)
			s, faults = nil, []*CompileError{{Tool: found.tool, Problem: problem}}
		}
	}()
	base := baseURL(found.tool)
	c := env.compiler(draft7)
	if err := c.AddResource(base, found.document); err != nil {
		return nil, found.explain(err)
	}
	root, err := c.Compile(base)
	if err != nil {
		return nil, append(found.explain(err), found.brokenDefinitions(env)...)
	}
	roots := []*jsonschema.Schema{root}
	for _, at := range found.detached {
		detached, err := c.Compile(base + "#" + url.PathEscape(at))
		if err != nil {
			faults = append(faults, found.explain(err)...)
			continue
		}
		roots = append(roots, detached)
	}
	for _, f := range harden(roots) {
		faults = append(faults, &CompileError{Tool: found.tool, Location: found.within(f.location), Problem: f.problem, Remedy: f.remedy})
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return &Schema{compiled: root, base: base}, nil
}

// brokenDefinitions returns what is malformed in definitions that the metaschema
// of the draft does not look into: $defs, up to draft 7. Once the whole document
// compiles they are compiled with it, so this is for a document that does not.
func (found *survey) brokenDefinitions(env environment) (faults []*CompileError) {
	if found.draft > draft7 {
		return nil
	}
	for _, at := range found.detached {
		c := env.compiler(found.draft)
		if c.AddResource(baseURL(found.tool), valueAt(found.document, tokensOf(at))) != nil {
			continue
		}
		if _, err := c.Compile(baseURL(found.tool)); err != nil {
			faults = append(faults, found.metaschemaFaults(err, at)...)
		}
	}
	return faults
}
