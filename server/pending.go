package server

import (
	"sync"
	"time"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// pending holds the calls of one stream that have a time bound and no answer yet.
type pending struct {
	mu    sync.Mutex
	calls map[string]*pendingCall // by key of their id
}

type pendingCall struct {
	timer   *time.Timer
	expired bool // answered by us; the server's answer is to be dropped
}

func newPending() *pending { return &pending{calls: map[string]*pendingCall{}} }

// start calls expire once the call of d has been without an answer for its bound.
func (p *pending) start(d Decision, expire func()) {
	key := frame.Key(d.ID)
	call := &pendingCall{}
	p.mu.Lock()
	defer p.mu.Unlock()
	if earlier := p.calls[key]; earlier != nil && earlier.timer != nil {
		earlier.timer.Stop() // the caller uses an id twice; the later call has it now
	}
	p.calls[key] = call
	call.timer = time.AfterFunc(d.Timeout, func() {
		p.mu.Lock()
		current := p.calls[key] == call
		call.expired = current
		p.mu.Unlock()
		if current {
			expire()
		}
	})
}

// any says whether there are calls with a bound.
func (p *pending) any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls) > 0
}

// answered says whether an answer to the id may pass. It may once.
func (p *pending) answered(id []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := frame.Key(id)
	call := p.calls[key]
	if call == nil {
		return true
	}
	call.timer.Stop()
	delete(p.calls, key)
	return !call.expired
}

// forget ends the bound of a call that its caller has cancelled.
func (p *pending) forget(id []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := frame.Key(id)
	if call := p.calls[key]; call != nil && !call.expired {
		call.timer.Stop()
		delete(p.calls, key)
	}
}

// stop ends all bounds.
func (p *pending) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, call := range p.calls {
		call.timer.Stop()
		delete(p.calls, key)
	}
}
