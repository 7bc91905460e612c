package gateway

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/config"
	"github.com/sallyport-mcp/sallyport/server/records"
)

// recording hands calls to the recorder that is in force, if there is one.
type recording struct {
	mu  sync.RWMutex
	now *records.Recorder
}

// Record implements server.Recorder.
func (r *recording) Record(ctx context.Context, j server.Judged) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.now != nil {
		r.now.Record(ctx, j)
	}
}

// lastUpload is how long the last records may take to be sent.
const lastUpload = 5 * time.Second

// take puts another recorder into force; nil for none. The old one sends what it has.
func (r *recording) take(next *records.Recorder, logger *zap.Logger) {
	r.mu.Lock()
	old := r.now
	r.now = next
	r.mu.Unlock()
	if old == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastUpload)
	defer cancel()
	if err := old.Close(ctx); err != nil {
		logger.Error("the last records are lost", zap.Error(err))
	}
}

// instance tells the records of this process from those of others.
var instance = sync.OnceValue(uuid.NewString)

// recorder returns the recorder that a configuration asks for, nil for none.
func (g *Gateway) recorder(ctx context.Context, s *config.Settings, renewed []Settings) (*records.Recorder, error) {
	if !s.Record.On() {
		return nil, nil //nolint:nilnil // no records is a setting
	}
	redactor, err := renewed[0].Engine.NewRedactor(ctx)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	token, err := s.RecordToken()
	if err != nil {
		return nil, fmt.Errorf("record.token: %w", err)
	}
	recorder, err := records.Open(ctx, records.Settings{
		File: s.Record.File, URL: s.Record.URL, Token: token, Delay: s.Record.Delay, Labels: map[string]string{"app": "sallyport", "id": instance()},
	}, redactor, g.logger)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return recorder, nil
}
