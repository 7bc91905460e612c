package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// Inspect looks at the tools that an upstream lists before they come into force, all
// pages of them in one list, and returns them with the Fault set of those that are to be
// withheld.
type Inspect func(ctx context.Context, upstream string, list server.ToolsList) ([]engine.ServerTool, error)

// Learner makes engines of what a server lists as its tools. Callers to whom it lists the
// same have the same engine.
type Learner struct {
	upstream string
	base     *engine.Engine
	inspect  Inspect
	logger   *zap.Logger
	patience time.Duration // for a whole list
	lifetime time.Duration // of a list that nobody says has changed

	mu      sync.Mutex
	callers *lru.Cache[string, *learnt]
	engines *lru.Cache[[sha256.Size]byte, *engine.Engine]
}

const (
	// learnPatience is how long a caller waits until the server has listed its tools.
	learnPatience = 30 * time.Second
	// listLifetime is how long a list is in force that no notification says has changed:
	// not every server sends one.
	listLifetime = 5 * time.Minute
	// maxCallers and maxEngines bound what is remembered. Whoever drops out is asked for
	// again.
	maxCallers = 10_000
	maxEngines = 64
	// maxPages and maxListedBytes bound one list.
	maxPages       = 200
	maxListedBytes = 32 << 20
)

// NewLearner returns a source of engines with the rules and settings of base. inspect may
// be nil.
func NewLearner(upstream string, base *engine.Engine, inspect Inspect, logger *zap.Logger) (*Learner, error) {
	callers, err := lru.New[string, *learnt](maxCallers)
	if err != nil {
		return nil, err
	}
	engines, err := lru.New[[sha256.Size]byte, *engine.Engine](maxEngines)
	if err != nil {
		return nil, err
	}
	return &Learner{
		upstream: upstream, base: base, inspect: inspect, logger: logger.With(zap.String("upstream", upstream)),
		patience: learnPatience, lifetime: listLifetime, callers: callers, engines: engines,
	}, nil
}

// learnt is what is known about the tools of one caller.
type learnt struct {
	turn chan struct{} // held by whoever asks the server

	mu     sync.Mutex
	engine *engine.Engine // nil at first
	until  time.Time      // the list is to be renewed then
}

func (l *learnt) current(now time.Time) (e *engine.Engine, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine, l.engine != nil && now.Before(l.until)
}

func (l *Learner) of(key string) *learnt {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.callers.Get(key)
	if !ok {
		known = &learnt{turn: make(chan struct{}, 1)}
		l.callers.Add(key, known)
	}
	return known
}

// Ready implements server.Source.
func (l *Learner) Ready(c server.Caller) (*engine.Engine, bool) {
	return l.of(c.Key).current(time.Now())
}

// Changed implements server.Source.
func (l *Learner) Changed(c server.Caller) {
	known := l.of(c.Key)
	known.mu.Lock()
	defer known.mu.Unlock()
	known.until = time.Time{}
}

// Engine implements server.Source. Where a list cannot be renewed, the old one stays in
// force, and the log says so.
func (l *Learner) Engine(ctx context.Context, c server.Caller) (*engine.Engine, error) {
	known := l.of(c.Key)
	if e, fresh := known.current(time.Now()); fresh {
		return e, nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	select {
	case known.turn <- struct{}{}:
		defer func() { <-known.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the list of tools: %w", ctx.Err())
	}
	old, fresh := known.current(time.Now())
	if fresh {
		return old, nil
	}
	asked := time.Now()
	e, err := l.learn(ctx, c)
	switch {
	case err == nil:
		known.mu.Lock()
		known.engine, known.until = e, asked.Add(l.lifetime)
		known.mu.Unlock()
		return e, nil
	case old != nil:
		l.logger.Error("the list of tools cannot be renewed, so the old one stays in force", zap.Error(err))
		known.mu.Lock()
		known.until = asked.Add(retryAfter)
		known.mu.Unlock()
		return old, nil
	}
	return nil, err
}

// retryAfter is when a list is asked for again that could not be renewed.
const retryAfter = 5 * time.Second

// learn asks for all pages and builds the engine of what they list.
func (l *Learner) learn(ctx context.Context, c server.Caller) (*engine.Engine, error) {
	if c.List == nil {
		return nil, errors.New("the server cannot be asked for its tools here")
	}
	list, digest, err := ListAll(ctx, c.List)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	e, known := l.engines.Get(digest)
	l.mu.Unlock()
	if known {
		return e, nil
	}
	tools := list.Tools
	if l.inspect != nil {
		if tools, err = l.inspect(ctx, l.upstream, list); err != nil {
			return nil, fmt.Errorf("inspect the list of tools: %w", err)
		}
	}
	if e, err = l.base.ForTools(ctx, tools); err != nil {
		return nil, fmt.Errorf("build an engine of the list of tools: %w", err)
	}
	l.logger.Info("the list of tools is in force", zap.Int("tools", len(e.Tools())), zap.Strings("quarantined", e.Quarantined()))
	l.mu.Lock()
	l.engines.Add(digest, e)
	l.mu.Unlock()
	return e, nil
}

// Forget has every list asked for again before the next call, such as after a tool has
// been approved.
func (l *Learner) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.engines.Purge()
	for _, known := range l.callers.Values() {
		known.mu.Lock()
		known.until = time.Time{}
		known.mu.Unlock()
	}
}

// ListAll asks for all pages of a list of tools (MCP, pagination). The digest is equal
// for lists that are equal byte for byte.
func ListAll(ctx context.Context, list func(ctx context.Context, cursor string) ([]byte, error)) (all server.ToolsList, digest [sha256.Size]byte, err error) {
	hash := sha256.New()
	seen := map[string]bool{}
	cursor, size := "", 0
	for range maxPages {
		answer, err := list(ctx, cursor)
		if err != nil {
			return server.ToolsList{}, digest, err
		}
		page, err := server.ReadToolsList(answer)
		if err != nil {
			return server.ToolsList{}, digest, err
		}
		for _, entry := range page.Raw {
			size += len(entry)
			fmt.Fprintf(hash, "%d\n%s\n", len(entry), entry)
		}
		if size > maxListedBytes {
			return server.ToolsList{}, digest, fmt.Errorf("the list of tools has more than %d bytes", maxListedBytes)
		}
		all.Tools, all.Raw = append(all.Tools, page.Tools...), append(all.Raw, page.Raw...)
		if page.NextCursor == "" {
			hash.Sum(digest[:0])
			return all, digest, nil
		}
		if seen[page.NextCursor] {
			return server.ToolsList{}, digest, errors.New("the list of tools leads in a circle: a cursor comes twice")
		}
		seen[page.NextCursor] = true
		cursor = page.NextCursor
	}
	return server.ToolsList{}, digest, fmt.Errorf("the list of tools has more than %d pages", maxPages)
}
