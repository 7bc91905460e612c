package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// MaxAnswerBytes is how much of a server's answer is held back, in bytes, until it is whole:
// a body of JSON, an event, or a line. A server that sends more has broken off.
const MaxAnswerBytes = 64 << 20

// answer is what a handler writes its answer to. Lists of tools in it are rewritten: in a
// JSON body once it is whole, in a stream of events one by one. Anything else goes
// through as it comes.
type answer struct {
	ctx   context.Context // of the request, with its caller
	judge *Judge
	w     http.ResponseWriter
	id    []byte // of the request, nil where it has none

	mu      sync.Mutex
	header  http.Header // what the handler sets; w's own once it is sent
	started bool        // the status is known
	status  int
	kind    answerKind
	body    []byte       // of a JSON answer
	events  *eventWriter // of a stream
	closed  bool         // cut off: what the handler still writes is lost
}

type answerKind int

const (
	otherAnswer answerKind = iota
	jsonAnswer
	streamAnswer
	lostAnswer // is not passed on, such as a redirect
)

// kindOf goes by what any client may take the type of an answer for: some look whether a
// header contains it, and some join headers that come twice. ok is false where two kinds
// can be seen, or a coding that hides what is in it.
func kindOf(h http.Header) (kind answerKind, ok bool) {
	types := strings.ToLower(strings.Join(h.Values("Content-Type"), ","))
	isJSON, isStream := strings.Contains(types, "application/json"), strings.Contains(types, "text/event-stream")
	switch {
	case isJSON && isStream:
		return otherAnswer, false
	case isJSON:
		kind = jsonAnswer
	case isStream:
		kind = streamAnswer
	default:
		return otherAnswer, true
	}
	coding := strings.Join(h.Values("Content-Encoding"), ",")
	return kind, coding == "" || strings.EqualFold(coding, "identity")
}

func newAnswer(ctx context.Context, j *Judge, w http.ResponseWriter) *answer {
	a := &answer{ctx: ctx, judge: j, w: w, header: http.Header{}}
	a.events = &eventWriter{ctx: ctx, judge: j, w: w}
	return a
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter. A status below 200 announces another and is
// not passed on.
func (a *answer) WriteHeader(status int) {
	if status < http.StatusOK {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.start(status)
}

// start sends status and headers, unless the body has to be whole first.
func (a *answer) start(status int) {
	if a.started || a.closed {
		return
	}
	if status >= 300 && status < 400 && status != http.StatusNotModified {
		// A client that followed it would talk past the judge.
		a.header.Del("Location")
		a.header.Del("Content-Length")
		a.kind, a.started, a.status = lostAnswer, true, http.StatusBadGateway
		a.sendHeader()
		return
	}
	a.started, a.status = true, status
	kind, ok := kindOf(a.header)
	if !ok {
		a.lose("the answer of the server has a type or a coding that cannot be read, so it is not passed on")
		return
	}
	switch a.kind = kind; kind {
	case jsonAnswer:
		return
	case streamAnswer:
		a.header.Del("Content-Length")
	case otherAnswer, lostAnswer:
	}
	a.sendHeader()
}

// lose answers in the place of the handler.
func (a *answer) lose(why string) {
	a.kind = lostAnswer
	a.judge.logger.Error(why)
	if a.id == nil {
		http.Error(a.w, why, http.StatusBadGateway)
		return
	}
	writeJSON(a.w, http.StatusOK, errorReply(a.id, rpcError{Code: codeInternal, Message: why}))
}

func (a *answer) sendHeader() {
	for name, values := range a.header {
		a.w.Header()[name] = values
	}
	a.w.WriteHeader(a.status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, http.ErrHandlerTimeout
	}
	a.start(http.StatusOK)
	switch a.kind {
	case jsonAnswer:
		if len(a.body)+len(p) > MaxAnswerBytes {
			panic(http.ErrAbortHandler) // the caller is told that the server broke off
		}
		a.body = append(a.body, p...)
		return len(p), nil
	case streamAnswer:
		return a.events.Write(p)
	case lostAnswer:
		return len(p), nil
	case otherAnswer:
	}
	return a.w.Write(p)
}

// Flush implements http.Flusher.
func (a *answer) Flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.start(http.StatusOK)
	if a.kind != jsonAnswer {
		_ = http.NewResponseController(a.w).Flush()
	}
}

// SetWriteDeadline is for http.ResponseController.
func (a *answer) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(a.w).SetWriteDeadline(t)
}

// SetReadDeadline is for http.ResponseController.
func (a *answer) SetReadDeadline(t time.Time) error {
	return http.NewResponseController(a.w).SetReadDeadline(t)
}

// close has whatever is still written be lost. Nobody writes once it has returned.
func (a *answer) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
}

// finish sends what has been held back, once the handler is done.
func (a *answer) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.closed = true
	switch {
	case !a.started:
		for name, values := range a.header {
			a.w.Header()[name] = values
		}
	case a.kind == jsonAnswer:
		body := a.judge.answerTo(a.ctx, a.body, a.id)
		a.header.Set("Content-Length", strconv.Itoa(len(body)))
		a.sendHeader()
		_, _ = a.w.Write(body)
	case a.kind == streamAnswer:
		a.events.end()
	}
}

// serveWithin has serve write to a. Past the bound of the call it answers itself, cancels
// the call, and leaves serve to end on its own.
func (a *answer) serveWithin(d Decision, serve, cancel func()) {
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		serve()
	}()
	timer := time.NewTimer(d.Timeout)
	defer timer.Stop()
	select {
	case panicked := <-done:
		if panicked != nil {
			panic(panicked) // net/http knows what to do with it
		}
		a.finish()
	case <-timer.C:
		a.cut(a.judge.TimeoutReply(d))
		cancel()
	}
}

// breakOff ends the answer of a handler that has not come to the end of it.
func (a *answer) breakOff(d Decision) {
	if d.ID != nil {
		a.cut(goneReply(d.ID, "the connection to the server has broken off"))
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.closed = true
	switch {
	case !a.started || a.kind == jsonAnswer:
		http.Error(a.w, "the connection to the server has broken off", http.StatusBadGateway)
	case a.kind == otherAnswer:
		panic(http.ErrAbortHandler) // the client is not to take it for whole
	}
}

// cut ends the answer with a message of our own, unless the stream has answered already.
func (a *answer) cut(message []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.closed = true
	if a.started && a.kind != jsonAnswer {
		switch {
		case a.kind == streamAnswer && !a.events.answered:
			_ = a.events.message(message)
		case a.kind == otherAnswer:
			panic(http.ErrAbortHandler) // the client is not to take it for whole
		}
		return
	}
	writeJSON(a.w, http.StatusOK, message)
}
