package schema

import (
	"context"
	"runtime"
	"time"
)

// pool lends out copies of one compiled document. A call that finds none waits as long
// as making one takes before it makes one: so a small document is soon there for every
// processor, and a large one is not compiled over and over by a handful of calls.
type pool struct {
	first *instance
	make  func() (*instance, error)
	takes time.Duration // to make a copy

	idle chan *instance
	room chan struct{} // holds one for each copy that may yet be made
}

func newPool(first *instance, another func() (*instance, error), takes time.Duration) *pool {
	copies := runtime.GOMAXPROCS(0)
	p := &pool{first: first, make: another, takes: takes, idle: make(chan *instance, copies), room: make(chan struct{}, copies)}
	p.idle <- first
	for range copies - 1 {
		p.room <- struct{}{}
	}
	return p
}

// take lends out a copy; release has to follow.
func (p *pool) take(ctx context.Context) (*instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case i := <-p.idle:
		return i, nil
	default:
	}
	patience := time.NewTimer(p.takes)
	defer patience.Stop()
	room := chan struct{}(nil)
	for {
		select {
		case i := <-p.idle:
			return i, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-patience.C:
			room = p.room
		case <-room:
			i, err := p.make()
			if err != nil {
				p.room <- struct{}{}
			}
			return i, err
		}
	}
}

// release takes back a copy, or nil for one that is not to be used again.
func (p *pool) release(i *instance) {
	if i == nil {
		p.room <- struct{}{}
		return
	}
	p.idle <- i
}
