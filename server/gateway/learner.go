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
	logger   *zap.Logger
	patience time.Duration // for a whole list
	lifetime time.Duration // of a list that nobody says has changed

	mu      sync.Mutex
	base    *engine.Engine
	inspect Inspect
	callers *lru.Cache[string, *learnt]
	engines *lru.Cache[digest, built]
}

// digest stands for one list of tools.
type digest [sha256.Size]byte

// built is an engine, and the list that it is made of.
type built struct {
	engine *engine.Engine
	list   server.ToolsList
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
	engines, err := lru.New[digest, built](maxEngines)
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
	list   digest         // that it is made of
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
	e, list, err := l.learn(ctx, c)
	switch {
	case err == nil:
		known.mu.Lock()
		known.engine, known.list, known.until = e, list, asked.Add(l.lifetime)
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
func (l *Learner) learn(ctx context.Context, c server.Caller) (*engine.Engine, digest, error) {
	if c.List == nil {
		return nil, digest{}, errors.New("the server cannot be asked for its tools here")
	}
	list, id, err := ListAll(ctx, c.List)
	if err != nil {
		return nil, digest{}, err
	}
	l.mu.Lock()
	known, isKnown := l.engines.Get(id)
	base, inspect := l.base, l.inspect
	l.mu.Unlock()
	if isKnown {
		return known.engine, id, nil
	}
	e, err := l.build(ctx, base, inspect, list)
	if err != nil {
		return nil, digest{}, err
	}
	l.logger.Info("the list of tools is in force", zap.Int("tools", len(e.Tools())), zap.Strings("quarantined", e.Quarantined()))
	l.mu.Lock()
	defer l.mu.Unlock()
	if base != l.base {
		return nil, digest{}, errors.New("the settings have changed in the meantime")
	}
	l.engines.Add(id, built{e, list})
	return e, id, nil
}

func (l *Learner) build(ctx context.Context, base *engine.Engine, inspect Inspect, list server.ToolsList) (*engine.Engine, error) {
	tools := list.Tools
	if inspect != nil {
		var err error
		if tools, err = inspect(ctx, l.upstream, list); err != nil {
			return nil, fmt.Errorf("inspect the list of tools: %w", err)
		}
	}
	e, err := base.ForTools(ctx, tools)
	if err != nil {
		return nil, fmt.Errorf("build an engine of the list of tools: %w", err)
	}
	return e, nil
}

// Rebase puts the rules and settings of another engine into force, and another inspect,
// for every list that is known. With an error everything stays as it was.
func (l *Learner) Rebase(ctx context.Context, base *engine.Engine, inspect Inspect) error {
	l.mu.Lock()
	before := map[digest]built{}
	for _, id := range l.engines.Keys() {
		before[id], _ = l.engines.Peek(id)
	}
	l.mu.Unlock()
	after := map[digest]built{}
	for id, b := range before {
		e, err := l.build(ctx, base, inspect, b.list)
		if err != nil {
			return err
		}
		after[id] = built{e, b.list}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.base, l.inspect = base, inspect
	l.engines.Purge()
	for id, b := range after {
		l.engines.Add(id, b)
	}
	for _, known := range l.callers.Values() {
		known.mu.Lock()
		known.engine = after[known.list].engine // nil: to be learnt anew
		known.mu.Unlock()
	}
	return nil
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

// ListAll asks for all pages of a list of tools (MCP, pagination). The id is equal
// for lists that are equal byte for byte.
func ListAll(ctx context.Context, list func(ctx context.Context, cursor string) ([]byte, error)) (all server.ToolsList, id [sha256.Size]byte, err error) {
	hash := sha256.New()
	seen := map[string]bool{}
	cursor, size := "", 0
	for range maxPages {
		answer, err := list(ctx, cursor)
		if err != nil {
			return server.ToolsList{}, id, err
		}
		page, err := server.ReadToolsList(answer)
		if err != nil {
			return server.ToolsList{}, id, err
		}
		for _, entry := range page.Raw {
			size += len(entry)
			_, _ = fmt.Fprintf(hash, "%d\n%s\n", len(entry), entry)
		}
		if size > maxListedBytes {
			return server.ToolsList{}, id, fmt.Errorf("the list of tools has more than %d bytes", maxListedBytes)
		}
		all.Tools, all.Raw = append(all.Tools, page.Tools...), append(all.Raw, page.Raw...)
		if page.NextCursor == "" {
			hash.Sum(id[:0])
			return all, id, nil
		}
		if seen[page.NextCursor] {
			return server.ToolsList{}, id, errors.New("the list of tools leads in a circle: a cursor comes twice")
		}
		seen[page.NextCursor] = true
		cursor = page.NextCursor
	}
	return server.ToolsList{}, id, fmt.Errorf("the list of tools has more than %d pages", maxPages)
}
