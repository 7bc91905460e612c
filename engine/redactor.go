package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
	"github.com/sallyport-mcp/sallyport/policies"
)

// Redactor takes out of recorded arguments what must not be kept, as the policy says
// (policies/redaction.rego). It is safe for concurrent use.
type Redactor struct {
	redaction *policy.Redaction
	limits    payload.Limits
	selected  *selections
	most      int // strings that are looked at
	maxPath   int // bytes
}

// Redacted is what a record may keep of the arguments of one call.
type Redacted struct {
	// Arguments are the raw bytes, but for what is masked; nil where nothing is kept.
	Arguments json.RawMessage
	// Masked has the RFC 6901 pointers of what was replaced, sorted and fit to show as a
	// Violation's is: a string by "(redacted)", a number by 0, a boolean by false, an
	// object or array by an empty one. None of them leads into another.
	Masked []string
	// LeftOut says why nothing is kept; "" where something is.
	LeftOut string
}

// NewRedactor returns a redactor that has the data of this engine.
func (e *Engine) NewRedactor(ctx context.Context) (*Redactor, error) {
	sources, err := e.settings.sources()
	if err != nil {
		return nil, err
	}
	config, err := policyConfig(e.settings)
	if err != nil {
		return nil, fmt.Errorf("load built-in policies: %w", err)
	}
	redaction, err := policy.NewRedaction(ctx, sources, config)
	if err != nil {
		return nil, errors.Join(prefixed("load policies: ", err)...)
	}
	reading := redaction.Reading()
	r := &Redactor{redaction: redaction, limits: e.limits, most: e.reading.MaxSelectedStrings, maxPath: e.reading.MaxPathBytes}
	r.limits.MaxBytes = min(reading.MaxBytes, e.reading.CeilingBytes)
	r.selected = newSelections(map[string]policy.Selection{policy.SelectedAs: reading.Selection})
	return r, nil
}

// Redact returns what may be kept of the arguments of one call of tool. With an error
// that is nothing.
func (r *Redactor) Redact(ctx context.Context, tool string, arguments []byte) (redacted Redacted, err error) {
	defer func() {
		if r := recover(); r != nil {
			redacted, err = Redacted{}, fmt.Errorf("panic: %v", r)
		}
	}()
	if err := ctx.Err(); err != nil {
		return Redacted{}, err
	}
	if arguments == nil {
		arguments = []byte("{}")
	}
	decoded := payload.Decode(arguments, r.limits)
	object, _ := decoded.Value.(map[string]any)
	facts := policy.Facts{Bytes: decoded.Facts.Bytes, Complete: decoded.Facts.Complete}
	if object != nil {
		facts.Selected = r.selected.in(tool, object, r.most)
	}
	kept, err := r.redaction.Kept(ctx, policy.Input{Tool: tool, Payload: object, Facts: facts})
	if err != nil || kept.LeftOut != "" {
		return Redacted{LeftOut: kept.LeftOut}, err
	}
	if object == nil {
		return Redacted{}, errors.New("the policy keeps arguments that cannot be read")
	}
	root := &place{}
	result := Redacted{}
	slices.Sort(kept.Masked)
	for _, pointer := range kept.Masked {
		tokens, ok := pointerTokens(pointer)
		if !ok {
			return Redacted{}, fmt.Errorf("the policy masks %q, which is no RFC 6901 pointer", printable(pointer))
		}
		root.to(tokens, true).edit = redact
		shown := pointerOf(tokens, r.maxPath)
		if _, known := result.Covers(shown); !known { // a key may be what must not be kept
			result.Masked = append(result.Masked, shown)
		}
	}
	result.Arguments, err = rewrite(arguments, root)
	return result, err
}

// Covers says whether an RFC 6901 pointer leads to something that is masked, or into it,
// and at which of Masked.
func (r Redacted) Covers(pointer string) (at string, masked bool) {
	for _, m := range r.Masked {
		if pointer == m || strings.HasPrefix(pointer, m+"/") {
			return m, true
		}
	}
	return "", false
}

// sources are the rules and data of an engine, later ones laid over earlier ones.
func (s *settings) sources() ([]policy.Source, error) {
	builtIn, err := readPolicies(policies.FS)
	if err != nil {
		return nil, fmt.Errorf("load built-in policies: %w", err)
	}
	builtIn.BuiltIn = true
	sources := []policy.Source{builtIn}
	for _, read := range s.policies {
		source, err := read()
		if err != nil {
			return nil, fmt.Errorf("load policies: %w", err)
		}
		sources = append(sources, source)
	}
	return append(sources, s.overlay()), nil
}
