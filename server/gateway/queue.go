package gateway

import "sync"

// maxQueued bounds, in bytes, what waits for one reader that is slower than its server.
const maxQueued = 64 << 20

// queue holds messages until their one reader takes them.
type queue struct {
	mu     sync.Mutex
	items  [][]byte
	bytes  int
	closed bool
	more   chan struct{} // has room for one: there is something new
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// put adds a message, and says whether the queue still takes any. One that is too full
// is closed: its reader has to come back.
func (q *queue) put(message []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	if q.bytes += len(message); q.bytes > maxQueued {
		q.closed = true
	} else {
		q.items = append(q.items, message)
	}
	q.wake()
	return !q.closed
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take returns what there is, and whether more may come.
func (q *queue) take() (items [][]byte, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	items, q.items, q.bytes = q.items, nil, 0
	return items, !q.closed
}
