package server

import (
	"context"

	"github.com/sallyport-mcp/sallyport/engine"
)

// Source gives the engine that judges the calls of one caller. It is safe for concurrent
// use.
type Source interface {
	// Ready returns the engine for a caller, if it is there without asking anybody.
	Ready(Caller) (*engine.Engine, bool)
	// Engine returns the engine for a caller. It may ask the server for its tools, and
	// waits for that. With an error no call of the caller can be judged.
	Engine(context.Context, Caller) (*engine.Engine, error)
	// Changed is told that the server says its list of tools has changed (MCP,
	// notifications/tools/list_changed).
	Changed(Caller)
}

// Caller is on whose behalf a server is asked for its tools.
type Caller struct {
	// Key is equal for all to whom the server lists the same tools: it stands for
	// session and credentials, and tells neither.
	Key string
	// Session stands for the session in the log, and does not tell it; "" without.
	Session string
	// List asks the server for one page of its tools (MCP, tools/list), with session and
	// credentials of the caller. cursor is "" for the first page. The answer is a whole
	// JSON-RPC response. It is nil where the server cannot be asked.
	List func(ctx context.Context, cursor string) ([]byte, error)
}

// fixed has one engine for all.
type fixed struct{ engine *engine.Engine }

// Ready implements Source.
func (f fixed) Ready(Caller) (*engine.Engine, bool) { return f.engine, true }

// Engine implements Source.
func (f fixed) Engine(context.Context, Caller) (*engine.Engine, error) { return f.engine, nil }

// Changed implements Source. The tools are what the engine says.
func (fixed) Changed(Caller) {}

type callerKey struct{}

// withCaller says on whose behalf a message is judged.
func withCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
