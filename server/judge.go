package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// Rejections says in which form a refused call is answered.
type Rejections string

// The two forms. Unknown tools are a protocol error in both.
const (
	// ProtocolErrors answers with a JSON-RPC error whose data lists what is wrong.
	ProtocolErrors Rejections = "protocol_error"
	// ToolResults answers as MCP advises since 2025-11-25 (SEP-1303): a result with
	// isError, which clients show to the model.
	ToolResults Rejections = "tool_result"
)

// Judge decides what becomes of messages. It is safe for concurrent use.
type Judge struct {
	source     Source
	rejections atomic.Value // Rejections
	logger     *zap.Logger
	recorder   Recorder // nil: none
}

// Option sets one thing about a new judge.
type Option func(*Judge)

// WithRejections sets the form in which a refused call is answered; the default is
// ProtocolErrors.
func WithRejections(r Rejections) Option { return func(j *Judge) { j.rejections.Store(r) } }

// SetRejections changes the form in which refused calls are answered from now on.
func (j *Judge) SetRejections(r Rejections) error {
	if err := r.check(); err != nil {
		return err
	}
	j.rejections.Store(r)
	return nil
}

func (r Rejections) check() error {
	if r != ProtocolErrors && r != ToolResults {
		return fmt.Errorf("rejections %q is neither %q nor %q", r, ProtocolErrors, ToolResults)
	}
	return nil
}

// WithLogger sets where the judge records what it refuses and drops. By default that is
// lost; the engine has a logger of its own.
func WithLogger(logger *zap.Logger) Option { return func(j *Judge) { j.logger = logger } }

// NewJudge returns a judge that puts calls to e.
func NewJudge(e *engine.Engine, options ...Option) (*Judge, error) {
	if e == nil {
		return nil, errors.New("a judge needs an engine")
	}
	return NewJudgeFrom(fixed{e}, options...)
}

// NewJudgeFrom returns a judge that puts calls to the engine that s has for their caller.
func NewJudgeFrom(s Source, options ...Option) (*Judge, error) {
	j := &Judge{source: s, logger: zap.NewNop()}
	j.rejections.Store(ProtocolErrors)
	for _, option := range options {
		option(j)
	}
	switch {
	case s == nil:
		return nil, errors.New("a judge needs a source of engines")
	case j.logger == nil:
		return nil, errors.New("the logger is nil")
	}
	if err := j.rejections.Load().(Rejections).check(); err != nil {
		return nil, err
	}
	return j, nil
}

// asks says whether judging may have to wait for an answer of the server.
func (j *Judge) asks() bool {
	_, isFixed := j.source.(fixed)
	return !isFixed
}

// Action is what becomes of a message.
type Action int

// The actions.
const (
	Drop    Action = iota // nobody gets it, nor an answer
	Forward               // the server gets Decision.Message
	Reply                 // the client gets Decision.Message
)

// Decision is what becomes of one message from a client.
type Decision struct {
	Action Action
	// Message is what to forward, or to reply with. What is forwarded are the bytes that
	// came, without white space around them, unless the engine repaired the arguments. A
	// reply has no line feed in it.
	Message []byte
	// ID is the raw id of a request, nil where there is none.
	ID []byte
	// Tool and Timeout are set for a call that is forwarded: past Timeout the caller
	// gets TimeoutReply. 0 means that the tool has no bound.
	Tool    string
	Timeout time.Duration
	// Cancels is the raw id of the request that a forwarded notification cancels.
	Cancels []byte
	// Refused is how the server refuses to list its tools to the caller of a call, over HTTP;
	// nil otherwise. It says better than the reply what the caller has to do.
	Refused *StatusError
	// Code is the JSON-RPC error code of a reply that is an error, or that of a refusal
	// that is answered as a result; 0 for what is forwarded.
	Code int
}

// Judge decides about one raw message from a client. It forwards whatever is no
// tools/call byte for byte.
func (j *Judge) Judge(ctx context.Context, message []byte) (d Decision) {
	defer func() {
		if r := recover(); r != nil {
			j.logger.Error("panic while a message was judged", zap.Any("panic", r))
			d = j.refuse(frame.ID(message), codeInternal, "the message could not be judged because of an internal fault, so it is refused")
		}
	}()
	if len(message) > MaxMessageBytes {
		return j.TooLong(ctx, message)
	}
	message = bytes.Trim(message, " \t\r\n") // no part of the message; some servers stumble over it
	m, err := frame.Read(message)
	if err != nil {
		var refused *frame.Error
		if !errors.As(err, &refused) {
			return j.refuse(m.ID, codeInternal, "the message could not be read")
		}
		return j.refuse(m.ID, refused.Code, refused.Message)
	}
	if m.Method != methodCall {
		d := Decision{Action: Forward, Message: message, Cancels: cancelled(m)}
		if m.Kind == frame.Request {
			d.ID = m.ID
		}
		return d
	}
	if m.ID == nil {
		j.logger.Warn("a tools/call without a usable id is dropped")
		return Decision{Action: Drop}
	}
	return j.call(ctx, message, m)
}

// codeInternal is the JSON-RPC code of a fault of our own (section 5.1 there).
const codeInternal = -32603

// TooLong refuses a message above MaxMessageBytes, of which beginning is as much as was
// kept. It needs no context, and has one to be used in the place of Judge.
func (j *Judge) TooLong(_ context.Context, beginning []byte) Decision {
	return j.tooLong(beginning, MaxMessageBytes)
}

func (j *Judge) tooLong(beginning []byte, limit int) Decision {
	return j.refuse(frame.ID(beginning), frame.CodeInvalidRequest, fmt.Sprintf("the message has more than %d bytes", limit))
}

func (j *Judge) refuse(id []byte, code int, message string) Decision {
	return Decision{Action: Reply, ID: id, Code: code, Message: errorReply(id, rpcError{Code: code, Message: message})}
}

func (j *Judge) call(ctx context.Context, message []byte, m frame.Message) Decision {
	var params frame.Members
	if m.Params != nil {
		if m.Params[0] != '{' {
			return j.refuse(m.ID, frame.CodeInvalidRequest, "params of tools/call must be an object")
		}
		var err error
		if params, err = frame.Object(m.Params, frame.CallNames); err != nil {
			return j.refuse(m.ID, frame.CodeInvalidRequest, err.Error())
		}
	}
	eng, err := j.source.Engine(ctx, callerOf(ctx))
	if err != nil {
		return j.unlisted(ctx, m.ID, err)
	}
	tool, _ := frame.String(params["name"])
	accepted, err := eng.Validate(ctx, tool, params["arguments"])
	if err != nil {
		var refusal *engine.ValidationError
		if !errors.As(err, &refusal) {
			return j.refuse(m.ID, codeInternal, "the call could not be judged, so it is refused")
		}
		j.log(ctx, m.ID, refusal)
		j.record(ctx, Judged{Engine: eng, Tool: tool, Arguments: params["arguments"], Refused: refusal})
		return Decision{Action: Reply, ID: m.ID, Code: refusal.Code, Message: j.refusal(m.ID, params, refusal)}
	}
	j.record(ctx, Judged{Engine: eng, Tool: tool, Arguments: params["arguments"], Accepted: accepted})
	timeout, _ := eng.Timeout(tool)
	return Decision{Action: Forward, Message: forwarded(message, params["arguments"], accepted), ID: m.ID, Tool: tool, Timeout: timeout}
}

func (j *Judge) record(ctx context.Context, judged Judged) {
	if j.recorder != nil {
		judged.Session = callerOf(ctx).Session
		j.recorder.Record(ctx, judged)
	}
}

// log tells of a refused call in one line: what found what at which place, and no value of
// the arguments.
func (j *Judge) log(ctx context.Context, id []byte, refusal *engine.ValidationError) {
	checks := make([]string, len(refusal.Violations))
	for i, v := range refusal.Violations {
		checks[i] = v.Path + " " + v.Check()
	}
	fields := []zap.Field{
		zap.String("tool", refusal.Tool), zap.Int("code", refusal.Code), zap.Strings("violations", checks), zap.Int("omitted", refusal.Omitted),
		zap.ByteString("request", id[:min(len(id), longestLoggedID)]),
	}
	if session := callerOf(ctx).Session; session != "" {
		fields = append(fields, zap.String("session", session))
	}
	j.logger.Info("call refused", fields...)
}

// longestLoggedID bounds, in bytes, what the log has of an id that a caller made.
const longestLoggedID = 64

// unlisted refuses a call while it is not known which tools there are.
func (j *Judge) unlisted(ctx context.Context, id []byte, err error) Decision {
	if ctx.Err() != nil {
		return Decision{Action: Drop} // nobody waits any more
	}
	j.logger.Error("the tools of the server are not known, so a call is refused", zap.Error(err))
	d := j.refuse(id, codeInternal, "the call cannot be judged, since the server has not listed its tools; try again")
	_ = errors.As(err, &d.Refused)
	return d
}

// forwarded puts repaired arguments in the place of those that came.
func forwarded(message, arguments []byte, accepted *engine.ValidatedPayload) []byte {
	if len(accepted.Repairs) == 0 {
		return message
	}
	start := frame.Offset(message, arguments)
	return slices.Concat(message[:start], accepted.Raw, message[start+len(arguments):])
}

// cancelled returns the id that a notifications/cancelled names.
func cancelled(m frame.Message) []byte {
	if m.Kind != frame.Notification || m.Method != "notifications/cancelled" || len(m.Params) == 0 || m.Params[0] != '{' {
		return nil
	}
	params, err := frame.Object(m.Params, nil)
	if err != nil {
		return nil
	}
	return params["requestId"]
}

// goneReply answers a request that the server has left without an answer.
func goneReply(id []byte, why string) []byte {
	return errorReply(id, rpcError{Code: codeInternal, Message: why + " without an answer; the outcome is unknown, the request may have taken effect"})
}

// TimeoutReply answers a forwarded call that has taken longer than its Timeout.
func (j *Judge) TimeoutReply(d Decision) []byte {
	text := fmt.Sprintf("tool %q did not answer within its limit of %s; the outcome is unknown, it may still take effect", d.Tool, d.Timeout)
	return errorReply(d.ID, rpcError{Code: codeTimeout, Message: text})
}

// codeTimeout is a JSON-RPC code of our own: what MCP does not define has to lie outside
// of -32768 to -32000 (MCP 2026-07-28, error codes).
const codeTimeout = -31001
