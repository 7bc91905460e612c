package server

import (
	"context"

	"github.com/sallyport-mcp/sallyport/engine"
)

// Judged is one tools/call and what became of it. It is valid until Record returns.
type Judged struct {
	Engine    *engine.Engine
	Tool      string
	Arguments []byte // as received; nil where they are absent
	// Either of these is set.
	Accepted *engine.ValidatedPayload
	Refused  *engine.ValidationError
	// Session stands for the session, and does not tell it; "" without.
	Session string
}

// Recorder keeps a record of calls. It is safe for concurrent use.
type Recorder interface {
	// Record is told of every call that has been judged, before the call goes on.
	Record(context.Context, Judged)
}

// WithRecorder has every call that is judged recorded.
func WithRecorder(r Recorder) Option { return func(j *Judge) { j.recorder = r } }
