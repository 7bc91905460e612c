package server

import (
	"context"
	"sync"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// held are the messages of one stream that wait until the tools of the server are known.
type held struct {
	running sync.WaitGroup

	mu    sync.Mutex
	calls map[string]context.CancelFunc // by key of their id
	meta  []byte                        // of the last request that had one
}

func newHeld() *held { return &held{calls: map[string]context.CancelFunc{}} }

// run does work beside the stream.
func (h *held) run(work func()) { h.running.Go(work) }

// wait returns once all of it is done.
func (h *held) wait() { h.running.Wait() }

// call does work for the call with this id, which may be cancelled. claim says, once,
// whether it has not been.
func (h *held) call(ctx context.Context, id []byte, work func(ctx context.Context, claim func() bool)) {
	key := frame.Key(id)
	ctx, cancel := context.WithCancel(ctx)
	h.mu.Lock()
	if earlier := h.calls[key]; earlier != nil {
		earlier() // the caller uses an id twice; the later call has it now
	}
	h.calls[key] = cancel
	h.mu.Unlock()
	h.run(func() {
		defer cancel()
		work(ctx, func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			if ctx.Err() != nil {
				return false
			}
			delete(h.calls, key)
			return true
		})
	})
}

// cancel drops the call with this id, and says whether there was one.
func (h *held) cancel(id []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := frame.Key(id)
	cancel, waits := h.calls[key]
	if waits {
		cancel()
		delete(h.calls, key)
	}
	return waits
}

// note remembers the _meta of a request, nil for one without.
func (h *held) note(meta []byte) {
	if meta == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.meta = meta
}

func (h *held) lastMeta() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.meta
}
