package server

import (
	"bytes"
	"context"
	"sync"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// held are the messages of one stream that wait until the tools of the server are known.
type held struct {
	running sync.WaitGroup

	mu    sync.Mutex
	calls map[string]*heldCall // by key of their id
	meta  []byte               // of the last request that had one
}

type heldCall struct {
	id     []byte
	cancel context.CancelFunc
}

func newHeld() *held { return &held{calls: map[string]*heldCall{}} }

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
		earlier.cancel() // the caller uses an id twice; the later call has it now
	}
	h.calls[key] = &heldCall{bytes.Clone(id), cancel}
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
	call, waits := h.calls[key]
	if waits {
		call.cancel()
		delete(h.calls, key)
	}
	return waits
}

// stop cancels all calls, and returns their ids.
func (h *held) stop() (ids [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, call := range h.calls {
		call.cancel()
		ids = append(ids, call.id)
		delete(h.calls, key)
	}
	return ids
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
