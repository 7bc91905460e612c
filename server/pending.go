package server

import (
	"bytes"
	"sync"
	"time"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// pending holds the requests of one stream that have no answer yet, with their time
// bounds.
type pending struct {
	mu      sync.Mutex
	calls   map[string]*pendingCall // by key of their id
	stopped bool
}

type pendingCall struct {
	id      []byte
	timer   *time.Timer // nil without a bound
	expired bool        // answered by us; the server's answer is to be dropped
}

func newPending() *pending { return &pending{calls: map[string]*pendingCall{}} }

// start calls expire once the request of d has been without an answer for its bound, if
// it has one. It says whether an answer is still to be expected.
func (p *pending) start(d Decision, expire func()) bool {
	key := frame.Key(d.ID)
	call := &pendingCall{id: bytes.Clone(d.ID)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	if earlier := p.calls[key]; earlier != nil {
		earlier.stop() // the caller uses an id twice; the later call has it now
	}
	p.calls[key] = call
	if d.Timeout <= 0 {
		return true
	}
	call.timer = time.AfterFunc(d.Timeout, func() {
		p.mu.Lock()
		current := p.calls[key] == call
		call.expired = current
		p.mu.Unlock()
		if current {
			expire()
		}
	})
	return true
}

func (c *pendingCall) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
}

// waits says whether the request with this id has no answer yet.
func (p *pending) waits(id []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[frame.Key(id)] != nil
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
	call.stop()
	delete(p.calls, key)
	return !call.expired
}

// forget ends the bound of a call that its caller has cancelled.
func (p *pending) forget(id []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := frame.Key(id)
	if call := p.calls[key]; call != nil && !call.expired {
		call.stop()
		delete(p.calls, key)
	}
}

// stop ends all bounds, and returns the ids of the requests that nobody has answered.
func (p *pending) stop() (unanswered [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for key, call := range p.calls {
		call.stop()
		if !call.expired {
			unanswered = append(unanswered, call.id)
		}
		delete(p.calls, key)
	}
	return unanswered
}
