package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// Bridge serves streamable HTTP (MCP, transports) in front of a command that talks in
// lines. A session has a child of its own. Requests of the revisions without sessions
// have one to themselves while they last, so that nobody sees what belongs to another; the
// one that was used last comes first.
//
// It carries what the judge in front of it forwards.
type Bridge struct {
	command Command
	logger  *zap.Logger
	max     int
	idle    time.Duration

	mu       sync.Mutex
	children int              // running, or being started
	sessions map[string]*link // by Mcp-Session-Id
	spare    []*link          // without a session, used last at the end
	closed   bool
}

// The defaults of a bridge.
const (
	DefaultChildren  = 64
	DefaultChildIdle = 10 * time.Minute
)

// NewBridge returns a bridge to at most so many children, which end once they have been
// idle so long. Close has to follow.
func NewBridge(c Command, children int, idle time.Duration, logger *zap.Logger) *Bridge {
	return &Bridge{command: c, logger: logger, max: orDefault(children, DefaultChildren), idle: orDefault(idle, DefaultChildIdle), sessions: map[string]*link{}}
}

const sessionHeader = "Mcp-Session-Id"

// firstStateless is the first revision of MCP without sessions. Revisions are dates, so
// they compare as text.
const firstStateless = "2026-07-28"

// ServeHTTP implements http.Handler.
func (b *Bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	stateless := r.Header.Get("MCP-Protocol-Version") >= firstStateless
	switch {
	case r.Method == http.MethodPost && stateless:
		b.postAlone(w, r)
	case r.Method == http.MethodPost:
		b.post(w, r)
	case r.Method == http.MethodGet && !stateless:
		b.stream(w, r)
	case r.Method == http.MethodDelete && !stateless:
		b.delete(w, r)
	default:
		w.Header().Set("Allow", "POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// errFull is why there is no child for somebody.
var errFull = errors.New("as many servers run as are allowed")

// start starts a child, if there is room for one. A spare one makes room.
func (b *Bridge) start() (*link, error) {
	for {
		ousted, err := b.reserve()
		if err != nil {
			return nil, err
		}
		if ousted == nil {
			break
		}
		ousted.child.stop(nil)
		<-ousted.gone
	}
	c, err := b.command.start()
	if err != nil {
		b.release()
		return nil, err
	}
	l := newLink(c, b.logger)
	go b.watch(l)
	return l, nil
}

// reserve counts a child that is about to be started. Where there is no room it returns
// one to be ended first.
func (b *Bridge) reserve() (ousted *link, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, errEnded
	case b.children < b.max:
		b.children++
		return nil, nil
	case len(b.spare) > 0:
		ousted, b.spare = b.spare[0], b.spare[1:]
		return ousted, nil
	}
	return nil, errFull
}

func (b *Bridge) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.children--
}

// watch ends a child that has been idle for too long, and forgets one that has ended.
func (b *Bridge) watch(l *link) {
	ticker := time.NewTicker(max(b.idle/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-l.ended:
			b.forget(l)
			l.child.stop(nil)
			b.release()
			close(l.gone)
			return
		case now := <-ticker.C:
			if since, idle := l.idleSince(); idle && now.Sub(since) > b.idle {
				b.forget(l)
				l.child.stop(nil)
			}
		}
	}
}

// forget takes a child out of those that can be had.
func (b *Bridge) forget(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, other := range b.sessions {
		if other == l {
			delete(b.sessions, id)
		}
	}
	for i, other := range b.spare {
		if other == l {
			b.spare = append(b.spare[:i], b.spare[i+1:]...)
			return
		}
	}
}

// Close ends all children.
func (b *Bridge) Close() {
	b.mu.Lock()
	b.closed = true
	links := append([]*link(nil), b.spare...)
	for _, l := range b.sessions {
		links = append(links, l)
	}
	b.mu.Unlock()
	var stopping sync.WaitGroup
	for _, l := range links {
		stopping.Go(func() { l.child.stop(nil) })
	}
	stopping.Wait()
}

// session returns the child of the session that a request names, or answers.
func (b *Bridge) session(w http.ResponseWriter, r *http.Request) *link {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		http.Error(w, "the header "+sessionHeader+" is missing", http.StatusBadRequest)
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.sessions[id]
	if l == nil {
		http.Error(w, "there is no such session", http.StatusNotFound)
	}
	return l
}

// post serves a POST of the revisions with sessions.
func (b *Bridge) post(w http.ResponseWriter, r *http.Request) {
	message, m, ok := readMessage(w, r)
	if !ok {
		return
	}
	if m.Kind == frame.Request && m.Method == "initialize" && r.Header.Get(sessionHeader) == "" {
		b.open(w, r, m, message)
		return
	}
	l := b.session(w, r)
	if l == nil {
		return
	}
	defer l.use()()
	exchange(w, r, l, m, message)
}

// open starts a session.
func (b *Bridge) open(w http.ResponseWriter, r *http.Request, m frame.Message, message []byte) {
	l, err := b.start()
	if err != nil {
		b.unavailable(w, err)
		return
	}
	defer l.use()()
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	id := hex.EncodeToString(random[:])
	b.mu.Lock()
	b.sessions[id] = l
	b.mu.Unlock()
	w.Header().Set(sessionHeader, id)
	exchange(w, r, l, m, message)
}

func (b *Bridge) unavailable(w http.ResponseWriter, err error) {
	b.logger.Error("there is no server for a client", zap.Error(err))
	w.Header().Set("Retry-After", "10")
	http.Error(w, "there is no server to be had at the moment", http.StatusServiceUnavailable)
}

func (b *Bridge) delete(w http.ResponseWriter, r *http.Request) {
	if l := b.session(w, r); l != nil {
		b.forget(l)
		go l.child.stop(nil)
		w.WriteHeader(http.StatusOK)
	}
}

// stream serves a GET: what the server says on its own.
func (b *Bridge) stream(w http.ResponseWriter, r *http.Request) {
	l := b.session(w, r)
	if l == nil {
		return
	}
	defer l.use()()
	q := l.listen()
	defer l.leave(q)
	events(w)
	pump(r.Context(), w, q)
}

// postAlone serves a POST of the revisions without sessions.
func (b *Bridge) postAlone(w http.ResponseWriter, r *http.Request) {
	message, m, ok := readMessage(w, r)
	if !ok {
		return
	}
	if m.Kind == frame.Request && !namesVersion(m) {
		answerError(w, http.StatusBadRequest, m.ID, codeInvalidParams, "_meta has to name the protocol version")
		return
	}
	l, err := b.borrow()
	if err != nil {
		b.unavailable(w, err)
		return
	}
	done := l.use()
	whole := exchange(&byStatus{ResponseWriter: w}, r, l, m, message)
	done()
	if whole {
		b.giveBack(l)
		return
	}
	// Whoever had it left before it was done, and it goes on with what it was asked.
	b.forget(l)
	go l.child.stop(nil)
}

func (b *Bridge) borrow() (*link, error) {
	b.mu.Lock()
	if last := len(b.spare) - 1; last >= 0 {
		l := b.spare[last]
		b.spare = b.spare[:last]
		b.mu.Unlock()
		return l, nil
	}
	b.mu.Unlock()
	return b.start()
}

func (b *Bridge) giveBack(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		go l.child.stop(nil)
		return
	}
	b.spare = append(b.spare, l)
}

func readMessage(w http.ResponseWriter, r *http.Request) (message []byte, m frame.Message, ok bool) {
	message, err := io.ReadAll(io.LimitReader(r.Body, server.MaxMessageBytes+1))
	if err == nil {
		m, err = frame.Read(message)
	}
	if err != nil {
		http.Error(w, "the message cannot be read", http.StatusBadRequest)
		return nil, m, false
	}
	return message, m, true
}

// exchange sends a message to the child, and answers with what comes for it: JSON, where
// the client takes nothing else, or a stream. It says whether the exchange came to its
// end.
func exchange(w http.ResponseWriter, r *http.Request, l *link, m frame.Message, message []byte) (whole bool) {
	if m.Kind != frame.Request {
		if l.send(message) != nil {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusAccepted)
		return true
	}
	p, err := l.request(m, message)
	switch {
	case errors.Is(err, errSameID):
		http.Error(w, err.Error(), http.StatusBadRequest)
		return true
	case err != nil:
		panic(http.ErrAbortHandler) // the judge answers
	}
	defer l.forget(p)
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		events(w)
		whole = pump(r.Context(), w, p.queue)
	} else {
		whole = answerJSON(r.Context(), w, p.queue)
	}
	if !whole && r.Context().Err() == nil {
		panic(http.ErrAbortHandler) // the child is gone: the judge says so
	}
	return whole
}

// events starts a stream of events.
func events(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

// pump writes what comes as events, until an answer has, or nothing comes any more. It
// says whether an answer was the last.
func pump(ctx context.Context, w http.ResponseWriter, q *queue) (answered bool) {
	for {
		items, open := q.take()
		for _, message := range items {
			if _, err := w.Write([]byte("event: message\ndata: " + string(message) + "\n\n")); err != nil {
				return false
			}
			answered = isResponse(message)
		}
		if len(items) > 0 {
			_ = http.NewResponseController(w).Flush()
		}
		if !open {
			return answered
		}
		select {
		case <-q.more:
		case <-ctx.Done():
			return false
		}
	}
}

func isResponse(message []byte) bool {
	m, err := frame.Read(message)
	return err == nil && m.Kind == frame.Response
}

// answerJSON writes the answer alone.
func answerJSON(ctx context.Context, w http.ResponseWriter, q *queue) bool {
	for {
		items, open := q.take()
		for _, message := range items {
			if isResponse(message) {
				w.Header().Set("Content-Type", "application/json")
				_, err := w.Write(message)
				return err == nil
			}
		}
		if !open {
			return false
		}
		select {
		case <-q.more:
		case <-ctx.Done():
			return false
		}
	}
}
