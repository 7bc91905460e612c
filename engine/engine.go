package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
	toolschemas "github.com/sallyport-mcp/sallyport/tool_schemas"
)

// Engine judges calls. It does not change once New has built it and is safe for
// concurrent use.
type Engine struct {
	policy  *policy.Policy
	reading policy.Reading
	limits  payload.Limits
	mode    Mode
	*registry
	names    []string
	logger   *zap.Logger
	settings settings // what it was built with

	selections *selections
	days       *days
	exempted   *exemptedCounts
}

// New builds an engine: it reads the mode, compiles rules and schemas, and has
// both doors prove themselves on calls that must be refused and on one that must
// pass. The error holds every fault found, each with its file and place; with an
// error there is no engine.
func New(ctx context.Context, options ...Option) (*Engine, error) {
	s := settings{timeout: defaultTimeout, memo: defaultMemo, clock: time.Now}
	for _, option := range options {
		option(&s)
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	e := &Engine{mode: s.mode, logger: s.logger, settings: s, days: &days{clock: s.clock}, exempted: &exemptedCounts{}}
	if err := e.compilePolicy(ctx, s); err != nil {
		return nil, err
	}
	if err := e.complete(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// ForTools returns a new engine for the tools that an MCP server lists. It has the rules
// and settings of e, and shares with it what does not depend on tools, so it is made in
// a fraction of the time. It proves itself as New has it.
func (e *Engine) ForTools(ctx context.Context, tools []ServerTool) (*Engine, error) {
	s := e.settings
	s.schemas, s.fromFiles, s.loadPolicy, s.formats = nil, false, e.settings.asked.loadPolicy, e.settings.asked.formats
	WithServerTools(tools)(&s)
	if err := s.complete(); err != nil {
		return nil, err
	}
	other := &Engine{policy: e.policy, reading: e.reading, limits: e.limits, mode: e.mode, logger: e.logger, settings: s, selections: e.selections, days: e.days, exempted: &exemptedCounts{}}
	if err := other.complete(ctx); err != nil {
		return nil, err
	}
	return other, nil
}

// complete loads the tools, and has the engine prove itself.
func (e *Engine) complete(ctx context.Context) error {
	var err error
	if e.registry, err = e.settings.loadRegistry(&e.reading); err != nil {
		return err
	}
	for name := range e.tools {
		e.names = append(e.names, name)
	}
	slices.Sort(e.names)
	if err := e.checkFields(); err != nil {
		return errors.Join(prefixed("load policies: ", err)...)
	}
	if err := e.prove(ctx); err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	e.announce(e.settings)
	return nil
}

func (s *settings) complete() error {
	if s.logger == nil {
		s.logger = defaultLogger()
	}
	if s.mode == "" {
		s.mode = modeFromEnvironment()
	}
	s.completeSource()
	switch {
	case s.mode != Strict && s.mode != Permissive:
		return fmt.Errorf("mode %q is neither %q nor %q", s.mode, Strict, Permissive)
	case s.fromFiles && s.schemas == nil:
		return errors.New("load schemas: no folder is given")
	case s.fromFiles && s.fromServer:
		return errors.New("load schemas: both files and the tools of a server are given")
	case s.loadPolicy != AllOrNothing && s.loadPolicy != PerTool:
		return fmt.Errorf("load policy %q is neither %q nor %q", s.loadPolicy, AllOrNothing, PerTool)
	case s.dialect != "" && s.dialect != Draft7 && s.dialect != Draft202012:
		return fmt.Errorf("dialect %q is neither %q nor %q", s.dialect, Draft7, Draft202012)
	case s.formats != AssertFormats && s.formats != AnnotateFormats:
		return fmt.Errorf("formats %q is neither %q nor %q", s.formats, AssertFormats, AnnotateFormats)
	case s.clock == nil:
		return errors.New("no clock is given")
	case slices.ContainsFunc(s.policies, func(read func() (policy.Source, error)) bool { return read == nil }):
		return errors.New("load policies: a folder or bundle is nil")
	case s.timeout <= 0:
		return fmt.Errorf("the timeout is %s but must be above 0", s.timeout)
	case s.memo < 0:
		return fmt.Errorf("the number of verdicts to remember is %d but must not be below 0", s.memo)
	case s.maxViolations < 0:
		return fmt.Errorf("the greatest number of violations is %d but must be above 0", s.maxViolations)
	}
	return nil
}

// completeSource fills in what depends on where the schemas come from.
func (s *settings) completeSource() {
	loadPolicy, formats := AllOrNothing, AssertFormats
	s.asked.loadPolicy, s.asked.formats = s.loadPolicy, s.formats
	switch {
	case s.fromServer:
		loadPolicy, formats = PerTool, AnnotateFormats
	case !s.fromFiles:
		s.schemas = toolschemas.FS
	}
	s.loadPolicy = cmp.Or(s.loadPolicy, loadPolicy)
	s.formats = cmp.Or(s.formats, formats)
}

func (e *Engine) compilePolicy(ctx context.Context, s settings) error {
	sources, err := s.sources()
	if err != nil {
		return err
	}
	config, err := policyConfig(s)
	if err != nil {
		return fmt.Errorf("load built-in policies: %w", err)
	}
	if e.policy, err = policy.New(ctx, sources, config); err != nil {
		return errors.Join(prefixed("load policies: ", err)...)
	}
	e.reading = e.policy.Reading()
	e.selections = newSelections(e.reading.Selections)
	watched, err := payload.NewCodePointSet(e.reading.WatchedCodePoints)
	if err != nil {
		return fmt.Errorf("load policies: watched code points: %w", err)
	}
	e.limits = payload.Limits{
		MaxBytes:        min(e.reading.MaxBytes, e.reading.CeilingBytes),
		MaxDepth:        e.reading.CeilingDepth,
		MaxValues:       e.reading.CeilingValues,
		MaxNumberLength: e.reading.MaxNumberLength,
		MaxExponent:     e.reading.MaxExponent,
		ListedStrings:   e.reading.MaxListedStrings,
		Watched:         watched,
	}
	return nil
}

// announce reports whatever makes this engine weaker than it could be.
func (e *Engine) announce(s settings) {
	if e.mode == Permissive {
		e.logger.Warn("permissive mode: rejected calls are logged and passed")
	}
	if len(e.reading.DisabledRules) > 0 {
		e.logger.Warn("rules are switched off", zap.Strings("rules", e.reading.DisabledRules))
	}
	e.announceWaivers()
	if stats := e.policy.MemoStats(); stats.Limit != "" && s.memo > 0 {
		e.logger.Info("clean verdicts are not remembered as a whole, so some rules are asked for each call",
			zap.String("why", stats.Limit), zap.Strings("rules", stats.Readers))
	}
	// What a server's author overlooked is not for this log's reader to mend.
	level := zapcore.WarnLevel
	if s.fromServer {
		level = zapcore.DebugLevel
	}
	for _, f := range e.findings {
		if f.Fault {
			e.logger.Warn("tool is in quarantine", zap.String("tool", printable(f.Tool)), zap.String("location", printable(f.Location)),
				zap.String("problem", f.Problem), zap.String("remedy", f.Remedy))
			continue
		}
		e.logger.Log(level, "schema", zap.String("tool", printable(f.Tool)), zap.String("location", printable(f.Location)),
			zap.String("problem", f.Problem), zap.String("remedy", f.Remedy))
	}
	e.announceStrangers(s)
}

// announceStrangers reports settings for tools that there are not.
func (e *Engine) announceStrangers(s settings) {
	leniency, schemas := e.reading.Leniency, e.reading.Schemas
	for _, setting := range []struct {
		what  string
		tools []string
	}{
		{"a tool is exempt from rules", s.allowUnsafeArgs},
		{"a tool is allowed backtracking patterns", slices.Sorted(maps.Keys(schemas.BacktrackingPatterns))},
		{"nulls are dropped for a tool", slices.Sorted(maps.Keys(leniency.DropNulls))},
		{"JSON in strings is unwrapped for a tool", slices.Sorted(maps.Keys(leniency.UnwrapJSONStrings))},
	} {
		for _, name := range setting.tools {
			if e.tools[name] == nil && e.quarantined[name] == "" {
				e.logger.Warn(setting.what+" but it is not registered: is the name right?", zap.String("tool", printable(name)))
			}
		}
	}
}

// Mode returns the mode that New settled on.
func (e *Engine) Mode() Mode { return e.mode }

// Revisions returns the revisions of the bundles that the engine was built with, in the
// order of WithBundle.
func (e *Engine) Revisions() []string { return slices.Clone(e.settings.revisions) }

// Tools returns the names of the registered tools, sorted. Tools in quarantine are
// not among them.
func (e *Engine) Tools() []string { return slices.Clone(e.names) }

// Quarantined returns the names of the tools whose schema cannot be enforced,
// sorted. SchemaFindings has the faults.
func (e *Engine) Quarantined() []string { return slices.Sorted(maps.Keys(e.quarantined)) }

// SchemaFindings returns all faults and warnings about the schema documents, by
// tool.
func (e *Engine) SchemaFindings() []SchemaFinding { return slices.Clone(e.findings) }

// AdvertisedSchema returns a private copy of the schema document that is enforced
// for the tool, byte for byte; ok is false for a tool that is not registered.
func (e *Engine) AdvertisedSchema(name string) (document json.RawMessage, ok bool) {
	t, ok := e.tools[name]
	if !ok {
		return nil, false
	}
	return slices.Clone(t.document), true
}

// Timeout returns the time that one call of the tool may take, as its schema
// declares it in timeoutSeconds; ok is false where none is declared.
func (e *Engine) Timeout(name string) (limit time.Duration, ok bool) {
	t := e.tools[name]
	if t == nil || t.timeout == 0 {
		return 0, false
	}
	return t.timeout, true
}

// Rule describes one deny rule that is loaded.
type Rule struct {
	Name        string
	Title       string
	Description string
	Severity    string // low, medium, high or critical
	File        string // within its policy folder
	Line        int    // of its package clause
	Halts       bool   // as its METADATA has it: the schema does not see a call that it refuses
	BuiltIn     bool
	// Off says why the rule is off for every tool; "" where it is in force.
	Off  string
	Pack bool // it is a pack: off, unless data switches it on
	// Attached has the patterns of places that a rule asks texts of, by tool, "*" for all.
	// It is nil for a rule that asks for none.
	Attached map[string][]string
}

// Rules returns the deny rules that are loaded, by name.
func (e *Engine) Rules() []Rule {
	var rules []Rule
	for _, r := range e.policy.Rules() {
		rule := Rule{Name: r.Name, Title: r.Title, Description: r.Description, Severity: r.Severity, File: r.File, Line: r.Line, Halts: r.Halts, BuiltIn: r.BuiltIn}
		rule.Off = e.reading.WhyDisabled[r.Name]
		rule.Pack = r.BuiltIn && strings.HasPrefix(r.File, "packs/")
		if rule.Off == "" && e.policy.LeftOut(r.Name) {
			rule.Off = "packs/" + r.Name + "/on is not true"
		}
		if selection, asks := e.reading.Selections[r.Name]; asks {
			rule.Attached = map[string][]string{}
			for tool, places := range selection.Attach {
				rule.Attached[tool] = slices.Clone(places)
			}
		}
		rules = append(rules, rule)
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}
