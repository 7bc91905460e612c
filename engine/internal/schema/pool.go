package schema

import (
	"context"
	"runtime"
	"sync"
)

// pool lends out copies of one compiled document. It makes a further copy where all
// are lent out, up to a number that keeps every processor busy; beyond that a call
// waits its turn.
type pool struct {
	turns chan struct{}
	make  func() (*instance, error)

	mu   sync.Mutex
	idle []*instance
}

func newPool(first *instance, another func() (*instance, error)) *pool {
	return &pool{turns: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), make: another, idle: []*instance{first}}
}

// take lends out a copy; release has to follow.
func (p *pool) take(ctx context.Context) (*instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	last := len(p.idle) - 1
	if last >= 0 {
		i := p.idle[last]
		p.idle = p.idle[:last]
		p.mu.Unlock()
		return i, nil
	}
	p.mu.Unlock()
	i, err := p.make()
	if err != nil {
		<-p.turns
		return nil, err
	}
	return i, nil
}

// release takes back a copy, or nil for one that is not to be used again.
func (p *pool) release(i *instance) {
	if i != nil {
		p.mu.Lock()
		p.idle = append(p.idle, i)
		p.mu.Unlock()
	}
	<-p.turns
}
