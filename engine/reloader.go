package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"
)

// Reloader holds the engine that is in force, and puts whole new ones in its place. It
// is safe for concurrent use: a call is judged by the engine that it began with.
type Reloader struct {
	current atomic.Pointer[Engine]
	logger  *zap.Logger
	turn    chan struct{} // holds one token: reloads come one after the other
	count   atomic.Uint64
}

// NewReloader returns a Reloader with e in force. The logger gets a line for every
// reload.
func NewReloader(e *Engine, logger *zap.Logger) (*Reloader, error) {
	switch {
	case !e.built():
		return nil, errors.New("a reloader needs an engine that New has built")
	case logger == nil:
		return nil, errors.New("the logger is nil")
	}
	r := &Reloader{logger: logger, turn: make(chan struct{}, 1)}
	r.current.Store(e)
	return r, nil
}

// Engine returns the engine in force. Whoever asks it more than one thing about a call
// keeps it for the length of the call.
func (r *Reloader) Engine() *Engine { return r.current.Load() }

// Validate has the engine in force judge a call; see Engine.Validate.
func (r *Reloader) Validate(ctx context.Context, tool string, raw []byte) (*ValidatedPayload, error) {
	return r.Engine().Validate(ctx, tool, raw)
}

// Reloads returns how many engines have been put in the place of another.
func (r *Reloader) Reloads() uint64 { return r.count.Load() }

// Reload has build make a new engine, mostly by New, which has it prove itself, and puts
// it in the place of the old one. Where build fails, panics or is cancelled the old one
// stays in force, and the error says why; it is logged, too. A reload that comes while
// another is at work waits for it, so that the one that came last is in force last.
func (r *Reloader) Reload(ctx context.Context, build func(context.Context) (*Engine, error)) error {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return r.keep(ctx.Err())
	}
	e, err := attempt(ctx, build)
	if err != nil {
		return r.keep(err)
	}
	r.current.Store(e)
	r.count.Add(1)
	r.logger.Info("a new engine is in force", zap.Int("tools", len(e.names)), zap.String("mode", string(e.mode)))
	return nil
}

// keep reports why the old engine stays.
func (r *Reloader) keep(cause error) error {
	err := fmt.Errorf("reload: the old engine stays in force: %w", cause)
	r.logger.Error("reload failed; the old engine stays in force", zap.Error(cause))
	return err
}

// attempt makes an engine, whatever build does.
func attempt(ctx context.Context, build func(context.Context) (*Engine, error)) (e *Engine, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, err = nil, fmt.Errorf("panic while the engine was built: %v", p)
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e, err = build(ctx)
	switch {
	case err != nil:
		return nil, err
	case !e.built():
		return nil, errors.New("there is no engine that New has built")
	}
	return e, nil
}

// built says that New has handed e out.
func (e *Engine) built() bool { return e != nil && e.policy != nil && e.registry != nil }
