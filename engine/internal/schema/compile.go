package schema

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is the compiled schema of one tool. It is safe for concurrent use.
type Schema struct {
	base   string // URL of the document
	limits Limits
	pool   *pool
	size   Size
}

// Size is what a compiled schema takes: a subschema some 1 KB, a state some 60 bytes.
type Size struct {
	Subschemas    int
	PatternStates int // of the automata of all patterns
}

// Size returns the size of one copy of the schema. There may be one for each processor,
// but all share the patterns.
func (s *Schema) Size() Size { return s.size }

// Compile compiles the schema document of one tool. The document is decoded, and
// from here on the callee's own. Nothing is ever fetched. The error joins a
// *CompileError for every fault found.
func Compile(tool string, document any, o Options) (*Schema, []Warning, error) {
	var (
		s        *Schema
		warnings []Warning
		faults   []*CompileError
	)
	tooSlow := inTime(tool, o.Limits.Compile, func() {
		faults = boundNumbers(tool, document)
		found := lint(tool, document, o)
		faults = append(faults, found.faults...)
		if !found.known || found.excessive {
			return
		}
		var refused []*CompileError
		s, refused = compile(found, environment{Options: o})
		if faults = merged(faults, refused); len(faults) > 0 {
			return
		}
		found.tryDefaults(s)
		warnings = found.warnings
	})
	if tooSlow != nil {
		return nil, nil, tooSlow
	}
	if len(faults) > 0 {
		return nil, nil, joined(faults)
	}
	return s, warnings, nil
}

// inTime gives up on a document that takes too long. What it leaves behind ends by
// itself: the limits on size and number see to that.
func inTime(tool string, limit time.Duration, work func()) error {
	start := time.Now()
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		work()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case failure := <-done:
		if failure != nil {
			return &CompileError{Tool: tool, Problem: "the document cannot be read: " + quote(fmt.Sprint(failure), 120)}
		}
		if time.Since(start) <= limit {
			return nil
		}
	case <-timer.C:
	}
	return &CompileError{Tool: tool, Problem: fmt.Sprintf("takes more than %s to compile", limit), Remedy: "use fewer subschemas and references"}
}

// tryDefaults warns of a default that its own schema refuses. Whoever fills it in
// makes a good call a bad one. All of them share a part of what one call may cost.
func (found *survey) tryDefaults(s *Schema) {
	i := s.pool.first
	limits := s.limits
	limits.Steps /= partOfDefaults
	for _, location := range sortedKeys(i.hints.schemas) {
		sub := i.hints.schemas[location]
		if sub.Default == nil || !strings.HasPrefix(location, s.base) {
			continue
		}
		at := found.within(location) + "/default"
		if limits.Steps <= 0 {
			found.warn(at, "this default and those after it have not been checked, since that costs too much", "use fewer defaults, or simpler schemas around them")
			return
		}
		part := instance{root: sub, budget: i.budget, hints: i.hints}
		broken, err := part.validate(context.Background(), *sub.Default, limits, s.base)
		limits.Steps -= i.budget.used
		switch {
		case errors.Is(err, ErrBudget):
			found.warn(at, "the default has not been checked, since that costs too much", "use a simpler one")
		case err != nil || len(broken) > 0:
			found.warn(at, "the default does not fit its own schema", "correct one of them")
		}
	}
}

// partOfDefaults is the part, in steps, that all defaults may take of what a call may.
const partOfDefaults = 4

// environment is what the official suite needs otherwise: it refers to documents of
// its own.
type environment struct {
	Options
	loader jsonschema.URLLoader // nil: nothing can be loaded
}

// compile compiles and hardens the surveyed document, whatever lint thinks of it.
func compile(found *survey, env environment) (*Schema, []*CompileError) {
	start := time.Now()
	first, faults := newInstance(found, env)
	if len(faults) > 0 {
		return nil, faults
	}
	took := time.Since(start)
	again := func() (*instance, error) {
		i, faults := newInstance(found, env)
		return i, joined(faults)
	}
	return &Schema{base: baseURL(found.tool), limits: env.Limits, pool: newPool(first, again, took), size: Size{len(found.seen), found.patterns.states}}, nil
}

// instance is one compiled copy of a document. The validator has no place for what
// belongs to one call, so that place, the budget, belongs to the copy, and a copy
// works on one call at a time.
type instance struct {
	root   *jsonschema.Schema
	budget *budget
	hints  hints
}

// baseURL is where the document of a tool seems to be. It has to be hierarchical,
// or a relative reference would resolve to the document itself.
func baseURL(tool string) string { return "sallyport://schemas/" + url.PathEscape(tool) + ".json" }

func newInstance(found *survey, env environment) (i *instance, faults []*CompileError) {
	defer func() {
		if r := recover(); r != nil {
			i, faults = nil, []*CompileError{found.fault("", "the validator cannot compile this schema: "+quote(fmt.Sprint(r), 120), "")}
		}
	}()
	b := &budget{}
	base := baseURL(found.tool)
	c := env.compiler(found, b)
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
	hints, refused := harden(roots, b, env.Formats)
	for _, f := range refused {
		faults = append(faults, found.fault(found.within(f.location), f.problem, f.remedy))
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return &instance{root: root, budget: b, hints: hints}, nil
}

func (env environment) compiler(found *survey, b *budget) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(found.draft.validators())
	c.UseLoader(env.loader)
	c.AssertFormat() // harden takes formats out again where they are remarks
	for name, check := range ownFormats {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: check})
	}
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		p := found.patterns.compile(pattern)
		return matcher{p, b}, p.err
	})
	return c
}

// brokenDefinitions returns what is malformed in definitions that the metaschema
// of the draft does not look into: $defs, up to draft 7. Once the whole document
// compiles they are compiled with it, so this is for a document that does not.
func (found *survey) brokenDefinitions(env environment) (faults []*CompileError) {
	if found.draft > Draft7 {
		return nil
	}
	for _, at := range found.detached {
		c := env.compiler(found, &budget{})
		if c.AddResource(baseURL(found.tool), valueAt(found.document, tokensOf(at))) != nil {
			continue
		}
		if _, err := c.Compile(baseURL(found.tool)); err != nil {
			faults = append(faults, found.metaschemaFaults(err, at)...)
		}
	}
	return faults
}
