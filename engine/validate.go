package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
	"github.com/sallyport-mcp/sallyport/engine/internal/schema"
)

// Validate judges one call of tool with arguments, the raw bytes of that member
// as received. nil arguments mean that the member is absent, which counts as {};
// an empty slice that is not nil is malformed.
//
// The error is a *ValidationError: the call is refused. In permissive mode a
// rejected call yields a payload that is marked as bypassed. A call that cannot
// be judged, for whatever reason, is refused in every mode. Validate keeps
// neither arguments nor the context.
func (e *Engine) Validate(ctx context.Context, tool string, arguments []byte) (*ValidatedPayload, error) {
	if arguments == nil {
		arguments = []byte("{}")
	}
	return e.decide(ctx, e.registry, call{tool: tool, mode: e.mode, raw: arguments, counted: true})
}

// ValidateReader judges the arguments that r holds, to its end. It reads no more
// than it has to: past the size limit of the tool it stops.
func (e *Engine) ValidateReader(ctx context.Context, tool string, r io.Reader) (*ValidatedPayload, error) {
	c := call{tool: tool, mode: e.mode}
	err := e.read(ctx, &c, r)
	if err != nil {
		return nil, e.report(e.faultError(tool, fmt.Errorf("read arguments: %w", err)))
	}
	return e.decide(ctx, e.registry, c)
}

// call is one call on its way through the doors.
type call struct {
	tool    string
	mode    Mode
	raw     []byte
	counted bool // raw is the whole value, not only its beginning
}

// judgement is what came of it.
type judgement struct {
	payload  map[string]any
	raw      []byte             // what payload was decoded from
	repairs  []Repair           // what was changed in it before
	refusal  *ValidationError   // nil: accepted by both doors
	bypassed bool               // the policy lets the call pass all the same
	exempted []Exempted         // findings of the rules that do not count
	broken   []schema.Violation // what the schema found
	ruled    bool               // the rules found something
}

func (e *Engine) decide(ctx context.Context, r *registry, c call) (*ValidatedPayload, error) {
	j, err := e.judge(ctx, r, c)
	if err != nil {
		return nil, e.report(e.faultError(c.tool, err))
	}
	e.noteExempted(c.tool, &j)
	if j.refusal != nil && !j.bypassed {
		return nil, j.refusal
	}
	accepted := &ValidatedPayload{Tool: c.tool, Payload: j.payload, Raw: j.raw, Repairs: j.repairs, Exempted: j.exempted, Bypassed: j.refusal}
	if j.refusal != nil {
		e.logger.Warn("call bypasses validation", zap.String("tool", j.refusal.Tool), zap.Int("code", j.refusal.Code),
			zap.Any("violations", j.refusal.Violations), zap.Int("omitted", j.refusal.Omitted))
	}
	if len(j.repairs) > 0 {
		e.logger.Warn("arguments were repaired before they were judged", zap.String("tool", printable(c.tool)), zap.Any("repairs", j.repairs))
	}
	return accepted, nil
}

// report logs the fault behind a refusal, since the caller is not told it.
func (e *Engine) report(refusal *ValidationError) error {
	e.logger.Error("call could not be judged and is refused", zap.String("tool", refusal.Tool), zap.String("cause", printable(refusal.fault.Error())))
	return refusal
}

// judge takes one call through both doors, and repairs it where that is allowed and
// helps. An error means that there is no judgement.
func (e *Engine) judge(ctx context.Context, r *registry, c call) (j judgement, err error) {
	defer func() {
		if r := recover(); r != nil {
			j, err = judgement{}, fmt.Errorf("panic: %v", r)
		}
	}()
	j, err = e.judgeAsIs(ctx, r, c)
	if err != nil || j.ruled || len(j.broken) == 0 {
		return j, err
	}
	if l := e.leniencyFor(c.tool); l != (leniency{}) {
		return e.judgeRepaired(ctx, r, c, l, j)
	}
	return j, nil
}

// judgeAsIs takes one call through both doors.
func (e *Engine) judgeAsIs(ctx context.Context, r *registry, c call) (judgement, error) {
	if err := ctx.Err(); err != nil {
		return judgement{}, err
	}
	called := r.tools[c.tool]
	in, decoded, err := e.measure(ctx, r, c)
	if err != nil {
		return judgement{}, err
	}
	verdict, err := e.policy.Evaluate(ctx, in)
	if err != nil {
		return judgement{}, err
	}
	object, isObject := decoded.(map[string]any)
	var broken []schema.Violation
	if !verdict.Halt {
		if called == nil || !isObject {
			return judgement{}, errors.New("the rules passed a call that the schema cannot see")
		}
		if broken, err = called.schema.Validate(ctx, object); err != nil {
			return judgement{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return judgement{}, err
	}
	if len(verdict.Violations) == 0 && len(broken) == 0 {
		if verdict.Halt || verdict.Omitted > 0 {
			return judgement{}, errors.New("the rules halted the call without a violation")
		}
		return judgement{payload: object, raw: c.raw, exempted: e.exemptedOf(verdict)}, nil
	}
	list, err := e.merge(verdict.Violations, broken)
	if err != nil {
		return judgement{}, err
	}
	if object == nil {
		object = map[string]any{}
	}
	return judgement{
		payload:  object,
		raw:      c.raw,
		refusal:  e.refusal(c.tool, verdict.Code, list, verdict.Omitted),
		bypassed: bypasses(verdict, broken),
		exempted: e.exemptedOf(verdict),
		broken:   broken,
		ruled:    len(verdict.Violations) > 0,
	}, nil
}

// bypasses says whether the policy lets pass what the rules or the schema reject.
func bypasses(verdict policy.Verdict, broken []schema.Violation) bool {
	return (len(verdict.Violations) == 0 || verdict.OnRejection == policy.Bypass) &&
		(len(broken) == 0 || verdict.OnSchemaRejection == policy.Bypass)
}

// measure decodes the payload as far as the policy wants it read.
func (e *Engine) measure(ctx context.Context, r *registry, c call) (policy.Input, any, error) {
	result := payload.Decode(c.raw, e.limits)
	in := e.inputOf(r, c, result)
	if result.Facts.Stop != "size" || !c.counted {
		return in, result.Value, nil
	}
	limit, err := e.policy.ReadBytes(ctx, in)
	if err != nil {
		return in, nil, err
	}
	if limit <= e.limits.MaxBytes {
		return in, nil, nil
	}
	limits := e.limits
	limits.MaxBytes = limit
	result = payload.Decode(c.raw, limits)
	return e.inputOf(r, c, result), result.Value, nil
}

func (e *Engine) inputOf(r *registry, c call, result payload.Result) policy.Input {
	f := result.Facts
	facts := policy.Facts{
		Registered:   r.tools[c.tool] != nil,
		Quarantine:   r.quarantined[c.tool],
		Type:         f.Type,
		Bytes:        f.Bytes,
		BytesCounted: c.counted,
		Values:       f.Values,
		Complete:     f.Complete,
		Stop:         f.Stop,
		Depth:        f.Depth,
		Deepest:      f.Deepest,
		StringsTotal: f.ControlCharacters.Total,
	}
	for _, s := range f.ControlCharacters.Strings {
		facts.Strings = append(facts.Strings, policy.StringFact(s))
	}
	if f.Fault != nil {
		facts.Fault = &policy.Fault{Code: f.Fault.Code, Path: f.Fault.Path, Offset: f.Fault.Offset}
	}
	object, _ := result.Value.(map[string]any)
	if object != nil && facts.Registered {
		facts.Selected = e.selections.in(c.tool, object, e.reading.MaxSelectedStrings)
	}
	return policy.Input{Tool: c.tool, Mode: string(c.mode), Today: e.days.today(), Payload: object, Facts: facts}
}

// read fills c.raw from r, up to one byte past the limit. White space around the
// value is no part of it.
func (e *Engine) read(ctx context.Context, c *call, r io.Reader) error {
	limit := e.limits.MaxBytes
	if err := c.readTo(r, limit); err != nil || c.counted {
		return err
	}
	in := e.inputOf(e.registry, *c, payload.Decode(c.raw, e.limits))
	limit, err := e.policy.ReadBytes(ctx, in)
	if err != nil {
		return err
	}
	return c.readTo(r, limit)
}

const jsonSpace = " \t\n\r"

// readTo goes on reading until the value has more than limit bytes or r ends. A
// run of white space at the end is only kept as long as the value may go on.
func (c *call) readTo(r io.Reader, limit int) error {
	chunk := make([]byte, 64<<10)
	for len(c.raw) <= limit {
		n, err := r.Read(chunk[:min(len(chunk), limit+1-len(c.raw))])
		c.raw = append(c.raw, chunk[:n]...)
		if len(c.raw) == n {
			c.raw = bytes.TrimLeft(c.raw, jsonSpace)
		}
		if err == io.EOF {
			c.counted = true
			return nil
		}
		if err != nil {
			return err
		}
		if len(c.raw) == limit+1 {
			c.raw = bytes.TrimRight(c.raw, jsonSpace)
		}
	}
	return nil
}
