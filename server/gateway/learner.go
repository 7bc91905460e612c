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

	mu       sync.Mutex
	settings int // counts those that have been in force
	base     *engine.Engine
	inspect  Inspect
	callers  *lru.Cache[string, *learnt]
	engines  *lru.Cache[digest, built]
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

	mu      sync.Mutex
	engine  *engine.Engine // nil at first
	list    digest         // that it is made of
	until   time.Time      // the list is to be renewed then
	changed bool           // the server says so
}

// age says whether a list has to be renewed.
type age int

const (
	fresh age = iota
	old       // it is in force while a new one is asked for
	stale     // calls wait for a new one
)

func (k *learnt) current(now time.Time) (*engine.Engine, age) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.engine == nil || k.changed:
		return k.engine, stale
	case now.After(k.until):
		return k.engine, old
	}
	return k.engine, fresh
}

func (k *learnt) set(e *engine.Engine, list digest, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.engine, k.list, k.until, k.changed = e, list, until, false
}

// keep leaves what there is in force.
func (k *learnt) keep(until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.until, k.changed = until, false
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
	e, age := l.of(c.Key).current(time.Now())
	return e, age != stale
}

// Changed implements server.Source.
func (l *Learner) Changed(c server.Caller) {
	known := l.of(c.Key)
	known.mu.Lock()
	defer known.mu.Unlock()
	known.changed = true
}

// Engine implements server.Source. Where a list cannot be renewed, the old one stays in
// force, and the log says so.
func (l *Learner) Engine(ctx context.Context, c server.Caller) (*engine.Engine, error) {
	known := l.of(c.Key)
	e, age := known.current(time.Now())
	switch age {
	case fresh:
		return e, nil
	case old:
		l.renewBeside(ctx, known, c)
		return e, nil
	case stale:
	}
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	select {
	case known.turn <- struct{}{}:
		defer func() { <-known.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the list of tools: %w", ctx.Err())
	}
	if e, age = known.current(time.Now()); age != stale {
		return e, nil
	}
	return l.renew(ctx, known, c)
}

// renewBeside asks for a list while the old one is in force, unless somebody does.
func (l *Learner) renewBeside(ctx context.Context, known *learnt, c server.Caller) {
	select {
	case known.turn <- struct{}{}:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.patience)
	go func() {
		defer func() { <-known.turn }()
		defer cancel()
		_, _ = l.renew(ctx, known, c) // the log says what has failed
	}()
}

// renew asks for a list. Its caller has the turn.
func (l *Learner) renew(ctx context.Context, known *learnt, c server.Caller) (e *engine.Engine, err error) {
	for range maxTurns {
		if e, err = l.learn(ctx, known, c); !errors.Is(err, errSettings) {
			break
		}
	}
	before, _ := known.current(time.Now())
	if err == nil || before == nil {
		return e, err
	}
	l.logger.Error("the list of tools cannot be renewed, so the old one stays in force", zap.Error(err))
	known.keep(time.Now().Add(retryAfter))
	return before, nil
}

const (
	// retryAfter is when a list is asked for again that could not be renewed.
	retryAfter = 5 * time.Second
	// maxTurns bounds how often a list is asked for again because settings have changed.
	maxTurns = 5
)

var errSettings = errors.New("the settings have changed in the meantime")

// learn asks for all pages, builds the engine of what they list, and puts it in force.
func (l *Learner) learn(ctx context.Context, known *learnt, c server.Caller) (*engine.Engine, error) {
	if c.List == nil {
		return nil, errors.New("the server cannot be asked for its tools here")
	}
	asked := time.Now()
	list, id, err := ListAll(ctx, c.List)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	if same, isKnown := l.engines.Get(id); isKnown {
		defer l.mu.Unlock()
		known.set(same.engine, id, asked.Add(l.lifetime))
		return same.engine, nil
	}
	settings, base, inspect := l.settings, l.base, l.inspect
	l.mu.Unlock()
	e, err := l.build(ctx, base, inspect, list)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if settings != l.settings {
		return nil, errSettings
	}
	l.engines.Add(id, built{e, list})
	known.set(e, id, asked.Add(l.lifetime))
	l.logger.Info("the list of tools is in force", zap.Int("tools", len(e.Tools())), zap.Strings("quarantined", e.Quarantined()))
	return e, nil
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
	l.settings++
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
