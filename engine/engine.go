package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
	"github.com/sallyport-mcp/sallyport/policies"
	toolschemas "github.com/sallyport-mcp/sallyport/tool_schemas"
)

// Engine judges calls. It does not change once New has built it and is safe for
// concurrent use.
type Engine struct {
	policy  *policy.Policy
	reading policy.Reading
	limits  payload.Limits
	mode    Mode
	tools   map[string]*tool
	names   []string
	logger  *zap.Logger
}

// New builds an engine: it reads the mode, compiles rules and schemas, and has
// both doors prove themselves on calls that must be refused and on one that must
// pass. The error holds every fault found, each with its file and place; with an
// error there is no engine.
func New(ctx context.Context, options ...Option) (*Engine, error) {
	s := settings{schemas: toolschemas.FS, timeout: defaultTimeout}
	for _, option := range options {
		option(&s)
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	e := &Engine{mode: s.mode, logger: s.logger}
	if err := e.compilePolicy(ctx, s); err != nil {
		return nil, err
	}
	var err error
	if e.tools, err = loadRegistry(s.schemas, e.reading.EnumBindings, e.logger); err != nil {
		return nil, err
	}
	for name := range e.tools {
		e.names = append(e.names, name)
	}
	slices.Sort(e.names)
	if err := e.prove(ctx); err != nil {
		return nil, fmt.Errorf("self-test: %w", err)
	}
	e.announce(s)
	return e, nil
}

func (s *settings) complete() error {
	if s.logger == nil {
		s.logger = defaultLogger()
	}
	if s.mode == "" {
		s.mode = modeFromEnvironment()
	}
	switch {
	case s.mode != Strict && s.mode != Permissive:
		return fmt.Errorf("mode %q is neither %q nor %q", s.mode, Strict, Permissive)
	case s.schemas == nil:
		return errors.New("load schemas: no folder is given")
	case slices.Contains(s.policies, nil):
		return errors.New("load policies: no folder is given")
	case s.timeout <= 0:
		return fmt.Errorf("the timeout is %s but must be above 0", s.timeout)
	case s.maxViolations < 0:
		return fmt.Errorf("the greatest number of violations is %d but must be above 0", s.maxViolations)
	}
	return nil
}

func (e *Engine) compilePolicy(ctx context.Context, s settings) error {
	builtIn, err := readPolicies(policies.FS)
	if err != nil {
		return fmt.Errorf("load built-in policies: %w", err)
	}
	builtIn.BuiltIn = true
	sources := []policy.Source{builtIn}
	for _, fsys := range s.policies {
		source, err := readPolicies(fsys)
		if err != nil {
			return fmt.Errorf("load policies: %w", err)
		}
		sources = append(sources, source)
	}
	config, err := policyConfig(s)
	if err != nil {
		return fmt.Errorf("load built-in policies: %w", err)
	}
	if e.policy, err = policy.New(ctx, append(sources, s.overlay()), config); err != nil {
		return fmt.Errorf("load policies: %w", err)
	}
	e.reading = e.policy.Reading()
	watched, err := payload.NewCodePointSet(e.reading.WatchedCodePoints)
	if err != nil {
		return fmt.Errorf("load policies: watched code points: %w", err)
	}
	e.limits = payload.Limits{
		MaxBytes:        min(e.reading.MaxBytes, e.reading.CeilingBytes),
		MaxDepth:        e.reading.CeilingDepth,
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
	for _, name := range s.allowUnsafeArgs {
		if _, registered := e.tools[name]; !registered {
			e.logger.Warn("a tool is exempt from rules but is not registered: is the name right?", zap.String("tool", printable(name)))
		}
	}
}

// Mode returns the mode that New settled on.
func (e *Engine) Mode() Mode { return e.mode }

// Tools returns the names of the registered tools, sorted.
func (e *Engine) Tools() []string { return slices.Clone(e.names) }

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
	BuiltIn     bool
}

// Rules returns the deny rules that are loaded, by name.
func (e *Engine) Rules() []Rule {
	var rules []Rule
	for _, r := range e.policy.Rules() {
		rules = append(rules, Rule(r))
	}
	slices.SortFunc(rules, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}
