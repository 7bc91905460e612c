package server

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// eventWriter rewrites a stream of events (HTML, server-sent events) one event at a
// time. Its caller takes care that one goroutine uses it.
type eventWriter struct {
	ctx     context.Context // of the request, with its caller
	judge   *Judge
	w       http.ResponseWriter
	begun   bool         // the first event has been read
	part    []byte       // of an event that has not ended yet
	scanner eventScanner // of part

	watched  string // key of the id whose answer is waited for
	answered bool   // it has been seen

	endpoint func(uri []byte) []byte       // for the legacy transport; nil without
	pass     func(id, message []byte) bool // whether an answer to this id may pass; nil: any
	later    func(message []byte) bool     // takes a list of tools to be rewritten beside the stream
}

func (e *eventWriter) watch(id []byte) { e.watched = frame.Key(id) }

// Write takes a part of the stream and writes the events that it completes.
func (e *eventWriter) Write(p []byte) (int, error) {
	e.part = append(e.part, p...)
	for {
		end := e.scanner.end(e.part)
		if end == 0 {
			if len(e.part) > MaxAnswerBytes {
				panic(http.ErrAbortHandler)
			}
			return len(p), nil
		}
		if _, err := e.w.Write(e.event(e.part[:end])); err != nil {
			return 0, err
		}
		e.part = append(e.part[:0], e.part[end:]...)
	}
}

// end writes what the stream ended with. Some clients take it for an event.
func (e *eventWriter) end() {
	_, _ = e.w.Write(e.event(e.part))
	e.part = nil
}

// message writes an event of our own between two of the stream.
func (e *eventWriter) message(data []byte) error {
	if _, err := e.w.Write([]byte("event: message\ndata: " + string(data) + "\n\n")); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}

// eventScanner looks for the end of the first event of a stream that grows. It looks at
// each byte once, however the stream comes in parts. The zero value is at the start.
type eventScanner struct{ line, searched int }

// end returns where the event ends, its blank line included, or 0 while it has not. What
// is before that has to be taken off the stream then.
func (s *eventScanner) end(stream []byte) int {
	for {
		length := bytes.IndexAny(stream[s.searched:], "\r\n")
		if length < 0 {
			s.searched = len(stream)
			return 0
		}
		at := s.searched + length
		next := at + 1
		if stream[at] == '\r' {
			if next == len(stream) {
				s.searched = at // a line feed may follow
				return 0
			}
			if stream[next] == '\n' {
				next++
			}
		}
		blank := at == s.line
		s.line, s.searched = next, next
		if blank {
			*s = eventScanner{}
			return next
		}
	}
}

// event returns an event as the client gets it. Some clients read messages from events
// of any type.
func (e *eventWriter) event(text []byte) []byte {
	if !e.begun {
		e.begun = true
		text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")) // no part of the stream
	}
	var name, data []byte
	var others [][]byte
	for line := range bytes.Lines(normalised(text)) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			data = append(append(data, value...), '\n')
			continue
		case "event":
			name = value
		}
		others = append(others, line)
	}
	data = bytes.TrimSuffix(data, []byte("\n"))
	if len(data) == 0 {
		return text
	}
	var rewritten []byte
	switch {
	case string(name) == "endpoint" && e.endpoint != nil:
		rewritten = e.endpoint(data)
	default:
		if id, isAnswer := answeredID(data); isAnswer {
			e.answered = e.answered || e.watched != "" && frame.Key(id) == e.watched
			if e.pass != nil && !e.pass(id, data) {
				return nil
			}
		}
		if e.later != nil && e.later(data) {
			return nil
		}
		rewritten = e.judge.Answer(e.ctx, data)
	}
	switch {
	case rewritten == nil:
		return nil
	case bytes.Equal(rewritten, data):
		return text
	}
	var out []byte
	for _, line := range others {
		if len(line) > 0 {
			out = append(append(out, line...), '\n')
		}
	}
	for line := range bytes.Lines(rewritten) { // one line, unless the server's own has more
		out = append(append(append(out, "data: "...), bytes.TrimSuffix(line, []byte("\n"))...), '\n')
	}
	return append(out, '\n')
}

// eventStream is a stream that the legacy transport answers in.
type eventStream struct {
	guard    *httpGuard
	request  *http.Request // the GET
	caller   Caller
	endpoint atomic.Pointer[url.URL] // to post to, once it is known
	answer   *answer
	pending  *pending
}

// pass says whether an answer of the server is for the client, and in time.
func (s *eventStream) pass(id, message []byte) bool {
	return !s.guard.asked.take(id, message) && s.pending.answered(id)
}

// later rewrites a list of tools beside the stream: the server may have to be asked, and
// its answer has to come through the stream.
func (s *eventStream) later(message []byte) bool {
	if _, about := read(message); about != aboutTools || s.endpoint.Load() == nil || !s.guard.judge.asks() {
		return false
	}
	message = bytes.Clone(message)
	go func() { _ = s.message(s.guard.judge.Answer(s.request.Context(), message)) }()
	return true
}

// message writes an answer of our own into the stream.
func (s *eventStream) message(data []byte) error {
	s.answer.mu.Lock()
	defer s.answer.mu.Unlock()
	if s.answer.closed {
		return http.ErrHandlerTimeout
	}
	return s.answer.events.message(data)
}

// stream serves a GET. Where it turns out to be a stream of the legacy transport, it is
// known by the URI that its first event names until it ends.
func (g *httpGuard) stream(w http.ResponseWriter, r *http.Request) {
	s := &eventStream{guard: g, pending: newPending()}
	s.caller = g.caller(r, nil)
	if g.judge.asks() {
		ask := s.caller.List
		s.caller.List = func(ctx context.Context, cursor string) ([]byte, error) {
			if s.endpoint.Load() != nil {
				return s.list(ctx, cursor)
			}
			return ask(ctx, cursor)
		}
	}
	r = r.WithContext(withCaller(r.Context(), s.caller))
	s.request, s.answer = r, newAnswer(r.Context(), g.judge, w)
	var known []string
	s.answer.events.pass, s.answer.events.later = s.pass, s.later
	s.answer.events.endpoint = func(uri []byte) []byte {
		target, err := g.endpoint(r, string(uri))
		if err != nil {
			g.judge.logger.Error("a stream names an endpoint that is not passed on", zap.Error(err))
			return nil
		}
		s.endpoint.Store(target)
		key := target.RequestURI()
		known = append(known, key)
		g.mu.Lock()
		g.streams[key] = s
		g.mu.Unlock()
		return []byte(key) // the client is to come back to us, however it reads what the server wrote
	}
	defer func() {
		s.answer.close()
		s.pending.stop()
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, key := range known {
			delete(g.streams, key)
		}
	}()
	g.serve(s.answer, r, Decision{})
	s.answer.finish()
}

// endpoint returns where a client is to post to, by the path that it sees.
func (g *httpGuard) endpoint(stream *http.Request, uri string) (*url.URL, error) {
	target, err := stream.URL.Parse(uri)
	if err != nil {
		return nil, err
	}
	if g.prefix != "" && !strings.HasPrefix(target.Path, g.prefix+"/") {
		target.Path, target.RawPath = g.prefix+target.Path, ""
	}
	if strings.HasPrefix(target.RequestURI(), "//") {
		return nil, fmt.Errorf("to a client %.200q would be at another host", uri)
	}
	return target, nil
}

// streamOf returns the stream in which a POST is answered, nil for the transports that
// answer it directly.
func (g *httpGuard) streamOf(r *http.Request) *eventStream {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.streams[r.RequestURI]; s != nil {
		return s
	}
	return g.streams[r.URL.RequestURI()]
}

// expireInStream answers a call of the legacy transport that has taken too long, and
// tells the handler to let go of it.
func (g *httpGuard) expireInStream(r *http.Request, s *eventStream, d Decision) {
	_ = s.message(g.judge.TimeoutReply(d))
	g.tellCancelled(r, d)
}

// tellPatience is how long a handler may take for a cancellation.
const tellPatience = 10 * time.Second

// tellCancelled posts to the handler that nobody waits for an answer to d any more.
// Without sessions the end of the request says so. It does not wait: a handler that has
// let a call hang may let this hang, too.
func (g *httpGuard) tellCancelled(r *http.Request, d Decision) {
	if r.Header.Get("MCP-Protocol-Version") >= firstStateless {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), tellPatience)
	notice := withBody(r.WithContext(ctx), cancellation(d.ID))
	go func() {
		defer cancel()
		serveQuietly(g.next, discard{}, notice)
	}()
}

// discard is where an answer goes that nobody waits for.
type discard struct{}

// Header implements http.ResponseWriter.
func (discard) Header() http.Header { return http.Header{} }

// Write implements http.ResponseWriter.
func (discard) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (discard) WriteHeader(int) {}
