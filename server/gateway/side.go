package gateway

import (
	"context"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// Settings are what can be changed while the gateway works.
type Settings struct {
	// Engine has the rules and settings, and unless Learns the tools too.
	Engine *engine.Engine
	// Learns takes the tools that the server lists, instead of those of Engine.
	Learns     bool
	Inspect    Inspect           // of what the server lists; may be nil
	Rejections server.Rejections // "" for protocol errors
}

// Side is the judge in front of one upstream. Its settings can be changed while it works:
// each call is judged by the old ones or by the new ones as a whole.
type Side struct {
	judge   *server.Judge
	learner *Learner
	current atomic.Pointer[source]
}

// source is either a learner, or an engine for all.
type source struct {
	learner *Learner
	engine  *engine.Engine
}

// NewSide returns the judge of the upstream of this name.
func NewSide(upstream string, s Settings, logger *zap.Logger, options ...server.Option) (*Side, error) {
	learner, err := NewLearner(upstream, s.Engine, s.Inspect, logger)
	if err != nil {
		return nil, err
	}
	side := &Side{learner: learner}
	side.current.Store(side.sourceOf(s))
	options = append(options, server.WithLogger(logger.With(zap.String("upstream", upstream))))
	if side.judge, err = server.NewJudgeFrom(side, options...); err != nil {
		return nil, err
	}
	return side, side.setRejections(s)
}

func (s *Side) sourceOf(settings Settings) *source {
	if settings.Learns {
		return &source{learner: s.learner}
	}
	return &source{engine: settings.Engine}
}

func (s *Side) setRejections(settings Settings) error {
	if settings.Rejections == "" {
		settings.Rejections = server.ProtocolErrors
	}
	return s.judge.SetRejections(settings.Rejections)
}

// Judge returns the judge.
func (s *Side) Judge() *server.Judge { return s.judge }

// Renew puts other settings into force. With an error the old ones stay.
func (s *Side) Renew(ctx context.Context, settings Settings) error {
	if settings.Learns {
		if err := s.learner.Rebase(ctx, settings.Engine, settings.Inspect); err != nil {
			return err
		}
	}
	s.current.Store(s.sourceOf(settings))
	return s.setRejections(settings)
}

// Ready implements server.Source.
func (s *Side) Ready(c server.Caller) (*engine.Engine, bool) {
	now := s.current.Load()
	if now.learner == nil {
		return now.engine, true
	}
	return now.learner.Ready(c)
}

// Engine implements server.Source.
func (s *Side) Engine(ctx context.Context, c server.Caller) (*engine.Engine, error) {
	now := s.current.Load()
	if now.learner == nil {
		return now.engine, nil
	}
	return now.learner.Engine(ctx, c)
}

// Changed implements server.Source.
func (s *Side) Changed(c server.Caller) {
	if now := s.current.Load(); now.learner != nil {
		now.learner.Changed(c)
	}
}
