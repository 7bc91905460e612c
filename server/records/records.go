// Package records keeps records of calls that have been judged, as events in the format
// of OPA's decision logs: in a file, a line each, and at an HTTP service, with OPA's own
// plugin. What must not be kept is taken out before.
//
// It knows engine and package server. It must not know configurations, upstreams or
// transports.
package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/open-policy-agent/opa/v1/plugins/logs"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// Settings say where records go. At least one of File and URL is set.
type Settings struct {
	File string // lines are appended to it
	URL  string // events are posted to it, as gzipped JSON arrays
	// Token is sent to URL as a bearer token (RFC 6750); "" for none.
	Token string
	// Delay is how long events are gathered before they are sent, from a second on.
	Delay time.Duration
	// Labels are put on each event.
	Labels map[string]string
}

// Recorder is a server.Recorder. It takes neither the file nor the service for granted: a
// call that cannot be recorded goes on, and is counted and logged.
type Recorder struct {
	redactor *engine.Redactor
	labels   map[string]string
	sinks    []sink
	logger   *zap.Logger

	mu     sync.Mutex
	missed int // calls in a row that could not be recorded
}

// sink takes events.
type sink interface {
	put(context.Context, *logs.EventV1) error
	close(context.Context) error
}

// Open returns a recorder. The error is about the file, or the form of the URL.
func Open(ctx context.Context, s Settings, redactor *engine.Redactor, logger *zap.Logger) (*Recorder, error) {
	r := &Recorder{redactor: redactor, labels: s.Labels, logger: logger}
	if s.File != "" {
		f, err := openFile(s.File)
		if err != nil {
			return nil, err
		}
		r.sinks = append(r.sinks, f)
	}
	if s.URL != "" {
		up, err := newUploads(ctx, s, logger)
		if err != nil {
			_ = r.Close(ctx)
			return nil, err
		}
		r.sinks = append(r.sinks, up)
	}
	if len(r.sinks) == 0 {
		return nil, errors.New("neither a file nor a service is given for records")
	}
	return r, nil
}

// Close sends what has been gathered, as long as ctx lasts.
func (r *Recorder) Close(ctx context.Context) error {
	var faults []error
	for _, s := range r.sinks {
		faults = append(faults, s.close(ctx))
	}
	return errors.Join(faults...)
}

// Record implements server.Recorder.
func (r *Recorder) Record(ctx context.Context, j server.Judged) {
	ctx = context.WithoutCancel(ctx) // the call has been judged, whoever hangs up
	event, err := r.event(ctx, j)
	if err != nil {
		r.count(err)
		return
	}
	var faults []error
	for _, s := range r.sinks { // one that fails keeps nothing from the others
		faults = append(faults, s.put(ctx, event))
	}
	r.count(errors.Join(faults...))
}

// count logs when calls begin to be missed, and when that has ended.
func (r *Recorder) count(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		if r.missed++; r.missed == 1 {
			r.logger.Error("a call cannot be recorded, and goes on", zap.Error(err))
		}
	case r.missed > 0:
		r.logger.Error("calls are recorded again", zap.Int("missed", r.missed))
		r.missed = 0
	}
}

// path is the document that decided, as OPA names it.
const path = "sallyport/main/verdict"

// input is what the rules saw, but for the facts.
type input struct {
	Tool    string          `json:"tool"`
	Mode    engine.Mode     `json:"mode"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// result is what became of the call.
type result struct {
	Outcome    Outcome           `json:"outcome"`
	Code       int               `json:"code,omitempty"`
	Violations []violation       `json:"violations,omitempty"`
	Omitted    int               `json:"omitted,omitempty"`
	Exempted   []engine.Exempted `json:"exempted,omitempty"`
	Repairs    []engine.Repair   `json:"repairs,omitempty"`
	// Fault says that the call could not be judged.
	Fault bool `json:"fault,omitempty"`
}

// Outcome is what became of a call.
type Outcome string

// The outcomes.
const (
	Accepted Outcome = "accepted"
	Bypassed Outcome = "bypassed" // rejected, and passed all the same
	Refused  Outcome = "refused"
)

type violation struct {
	Path   string       `json:"path"`
	Reason string       `json:"reason"`
	Stage  engine.Stage `json:"stage"`
	Check  string       `json:"check"`
}

func (r *Recorder) event(ctx context.Context, j server.Judged) (*logs.EventV1, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, err
	}
	redacted, err := r.redactor.Redact(ctx, j.Tool, j.Arguments)
	if err != nil {
		r.logger.Error("arguments cannot be redacted, and are not recorded", zap.Error(err))
		redacted = engine.Redacted{LeftOut: "the arguments could not be redacted"}
	}
	in, out := inputOf(j, redacted), resultOf(j, redacted)
	custom := map[string]any{}
	if redacted.LeftOut != "" {
		custom["left_out"] = redacted.LeftOut
	}
	if len(redacted.Masked) > 0 {
		custom["masked"] = redacted.Masked
	}
	if j.Session != "" {
		custom["session"] = j.Session
	}
	return &logs.EventV1{
		Labels: r.labels, DecisionID: id.String(), Bundles: bundlesOf(j.Engine), Path: path, Input: &in, Result: &out, Timestamp: time.Now().UTC(), Custom: custom,
	}, nil
}

// bundlesOf names bundles by their place among those of the engine.
func bundlesOf(e *engine.Engine) map[string]logs.BundleInfoV1 {
	bundles := map[string]logs.BundleInfoV1{}
	for i, revision := range e.Revisions() {
		bundles[strconv.Itoa(i)] = logs.BundleInfoV1{Revision: revision}
	}
	return bundles
}

func inputOf(j server.Judged, redacted engine.Redacted) any {
	tool := j.Tool
	if j.Refused != nil {
		tool = j.Refused.Tool // fit to show
	}
	return input{Tool: tool, Mode: j.Engine.Mode(), Payload: redacted.Arguments}
}

func resultOf(j server.Judged, redacted engine.Redacted) any {
	if refused := j.Refused; refused != nil {
		return result{
			Outcome: Refused, Code: refused.Code, Violations: violationsOf(refused, redacted), Omitted: refused.Omitted, Repairs: repairsOf(refused.Repairs, redacted),
			Fault: errors.Is(refused, engine.ErrFault),
		}
	}
	accepted := j.Accepted
	r := result{Outcome: Accepted, Repairs: repairsOf(accepted.Repairs, redacted)}
	for _, x := range accepted.Exempted {
		x.Path, _ = told(x.Path, redacted)
		r.Exempted = append(r.Exempted, x)
	}
	if accepted.Bypassed != nil {
		r.Outcome, r.Code, r.Omitted = Bypassed, accepted.Bypassed.Code, accepted.Bypassed.Omitted
		r.Violations = violationsOf(accepted.Bypassed, redacted)
	}
	return r
}

// violationsOf tells no more of what is masked than where that is: a reason may repeat a
// value, where a rule has it so.
func violationsOf(e *engine.ValidationError, redacted engine.Redacted) []violation {
	list := make([]violation, len(e.Violations))
	for i, v := range e.Violations {
		list[i] = violation{Path: v.Path, Reason: v.Reason, Stage: v.Stage, Check: v.Check()}
		if at, whole := told(v.Path, redacted); !whole {
			list[i].Path, list[i].Reason = at, "(redacted)"
		}
	}
	return list
}

func repairsOf(repairs []engine.Repair, redacted engine.Redacted) []engine.Repair {
	list := slices.Clone(repairs)
	for i := range list {
		list[i].Path, _ = told(list[i].Path, redacted)
	}
	return list
}

// told is as much of a path as may be told: keys are the caller's, too. Where nothing is
// kept that is nothing.
func told(path string, redacted engine.Redacted) (at string, whole bool) {
	if redacted.LeftOut != "" {
		return "", path == ""
	}
	if at, masked := redacted.Covers(path); masked {
		return at, false
	}
	return path, true
}

// marshal writes an event as one line.
func marshal(e *logs.EventV1) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write an event: %w", err)
	}
	if strings.ContainsRune(string(text), '\n') {
		return nil, errors.New("write an event: it has a line feed")
	}
	return append(text, '\n'), nil
}
