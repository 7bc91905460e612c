package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
)

// canaryTool exists for the self-test only; no caller can reach it.
const canaryTool = "canary"

// canaryDocument refuses a member named "refused" and lets all others pass.
var canaryDocument = []byte(`{"type": "object", "additionalProperties": true, "properties": {"refused": false}}`)

// schemaCanary is what the second door calls it.
const schemaCanary = "false schema"

// canary is a call that one rule, or the schema, must refuse.
type canary struct {
	check string // rule or keyword
	call  call
}

// prove has this very engine judge calls whose outcome is known: one per built-in
// rule that must be refused by it, one for the schema, and a clean one that must
// pass. An engine that fails is not handed out.
func (e *Engine) prove(ctx context.Context) error {
	tools, err := e.canaryTools()
	if err != nil {
		return err
	}
	var faults []error
	if len(e.reading.WatchedCodePoints) == 0 && !slices.Contains(e.reading.DisabledRules, "control_characters") {
		faults = append(faults, errors.New("control_characters forbids nothing: disable the rule instead"))
	}
	for _, c := range e.canaries() {
		if slices.Contains(e.reading.DisabledRules, c.check) {
			continue
		}
		j, err := e.judge(ctx, tools, c.call)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("canary of %s: %w", c.check, err))
		case c.check == schemaCanary && e.refusedByOwnRule(j.refusal):
			// A rule of the user's own may halt before the schema.
		case !refusedBy(j.refusal, c.check):
			faults = append(faults, fmt.Errorf("canary of %s: was not refused by it", c.check))
		case j.bypassed:
			faults = append(faults, fmt.Errorf("canary of %s: was rejected and passed in strict mode", c.check))
		}
	}
	if err := e.proveClean(ctx, tools); err != nil {
		faults = append(faults, err)
	}
	if err := e.proveCeilings(ctx); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func (e *Engine) canaryTools() (*registry, error) {
	own := settings{dialect: Draft7, formats: AssertFormats}
	entry, _, err := own.newTool(document{tool: canaryTool, text: canaryDocument}, &e.reading)
	if err != nil {
		return nil, err
	}
	tools := map[string]*tool{canaryTool: entry}
	for name := range e.reading.EnumBindings {
		tools[name] = entry
	}
	return &registry{tools: tools}, nil
}

func (e *Engine) canaries() []canary {
	made := func(check, tool, raw string) canary {
		return canary{check, call{tool: tool, mode: Strict, raw: []byte(raw), counted: true}}
	}
	list := []canary{
		made("unknown_tool", "", `{}`),
		made("unknown_tool", canaryTool+" that is not registered", `{}`),
		made("payload_shape", canaryTool, `null`),
		made("payload_shape", canaryTool, `[{}]`),
		made("payload_shape", canaryTool, `{"a": 1, "\u0061": 2}`),
		made("payload_shape", canaryTool, `{"a": `),
		made("payload_size", canaryTool, `{"a": "`+strings.Repeat("x", e.reading.MaxBytes)+`"}`),
		made("payload_depth", canaryTool, strings.Repeat(`{"a": `, e.reading.MaxDepth+1)+`0`+strings.Repeat(`}`, e.reading.MaxDepth+1)),
		made(schemaCanary, canaryTool, `{"refused": 1}`),
	}
	for _, r := range e.reading.WatchedCodePoints {
		text, _ := json.Marshal(string(rune(r)))
		list = append(list, made("control_characters", canaryTool, fmt.Sprintf(`{"a": %s}`, text)), made("control_characters", canaryTool, fmt.Sprintf(`{%s: 0}`, text)))
	}
	for _, name := range slices.Sorted(maps.Keys(e.reading.EnumBindings)) {
		for _, member := range slices.Sorted(maps.Keys(e.reading.EnumBindings[name])) {
			raw, _ := json.Marshal(map[string]string{member: "no such value"})
			list = append(list, made("role_enum", name, string(raw)))
		}
	}
	return list
}

func (e *Engine) refusedByOwnRule(refusal *ValidationError) bool {
	return refusal != nil && slices.ContainsFunc(refusal.Violations, func(v Violation) bool {
		return v.Stage == StagePolicy && !e.policy.Rules()[v.Rule].BuiltIn
	})
}

func refusedBy(refusal *ValidationError, check string) bool {
	return refusal != nil && slices.ContainsFunc(refusal.Violations, func(v Violation) bool { return v.Check() == check })
}

// proveClean makes sure that the built-in rules let a clean call pass. Rules of
// the user's own may refuse it: they may well allow certain tools only.
func (e *Engine) proveClean(ctx context.Context, tools *registry) error {
	j, err := e.judge(ctx, tools, call{tool: canaryTool, mode: Strict, raw: []byte(`{"a": ["clean", 1.50, null]}`), counted: true})
	if err != nil {
		return fmt.Errorf("clean canary: %w", err)
	}
	if j.refusal == nil {
		return nil
	}
	for _, v := range j.refusal.Violations {
		if v.Stage == StageSchema || e.policy.Rules()[v.Rule].BuiltIn {
			return fmt.Errorf("clean canary: refused by %s: %s", v.Check(), v.Reason)
		}
	}
	return nil
}

// proveCeilings makes sure that what protects the process is refused in
// permissive mode, too, and that missing facts are.
func (e *Engine) proveCeilings(ctx context.Context) error {
	facts := policy.Facts{Registered: true, Type: "object", BytesCounted: true, Stop: "size", Bytes: e.reading.CeilingBytes + 1}
	deep := policy.Facts{Registered: true, Type: "object", BytesCounted: true, Stop: "depth", Bytes: 2, Depth: e.reading.CeilingDepth + 1}
	many := policy.Facts{Registered: true, Type: "object", BytesCounted: true, Stop: "values", Bytes: 2, Values: e.reading.CeilingValues + 1}
	for name, in := range map[string]policy.Input{
		"size ceiling":  {Tool: canaryTool, Mode: string(Permissive), Facts: facts},
		"depth ceiling": {Tool: canaryTool, Mode: string(Permissive), Facts: deep},
		"value ceiling": {Tool: canaryTool, Mode: string(Permissive), Facts: many},
		"missing mode":  {Tool: canaryTool, Facts: facts},
	} {
		verdict, err := e.policy.Evaluate(ctx, in)
		if err != nil {
			return fmt.Errorf("canary of the %s: %w", name, err)
		}
		if len(verdict.Violations) == 0 || verdict.OnRejection != policy.Refuse {
			return fmt.Errorf("canary of the %s: was not refused", name)
		}
	}
	return nil
}
