package gateway

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

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
