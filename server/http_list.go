package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
)

// identifying are the headers by which a server tells its callers apart. What it lists
// may depend on them.
var identifying = []string{"Authorization", "Cookie", "Mcp-Session-Id"}

// caller returns on whose behalf a request is judged. body is that of a POST.
func (g *httpGuard) caller(r *http.Request, body []byte) Caller {
	if s := g.streamOf(r); s != nil {
		return s.caller
	}
	session := sessionOf(r)
	if !g.judge.asks() {
		return Caller{Session: session}
	}
	meta := metaOf(body)
	return Caller{Key: callerKeyOf(r), Session: session, List: func(ctx context.Context, cursor string) ([]byte, error) {
		return g.list(ctx, r, cursor, meta)
	}}
}

// sessionOf returns a name for the session of a request that only serves to recognise it.
func sessionOf(r *http.Request) string {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		return ""
	}
	digest := sha256.Sum256([]byte(id))
	return hex.EncodeToString(digest[:4])
}

func callerKeyOf(r *http.Request) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q\n", r.URL.Path)
	for _, name := range identifying {
		_, _ = fmt.Fprintf(h, "%q %q\n", name, r.Header.Values(name))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// list asks the handler for a page of its tools, by a request like that of the caller.
func (g *httpGuard) list(ctx context.Context, like *http.Request, cursor string, meta []byte) ([]byte, error) {
	id, _ := g.asked.next()
	defer g.asked.forget(id)
	ctx, cancel := context.WithCancel(withoutValues{ctx, like.Context()})
	defer cancel()
	a := &listAnswer{id: id, done: cancel, header: http.Header{}}
	serveQuietly(g.next, a, listingRequest(ctx, like, listRequest(id, cursor, meta)))
	return a.result()
}

// withoutValues ends as the first context does, and has the values of the second, which
// may have ended.
type withoutValues struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (c withoutValues) Value(key any) any { return c.values.Value(key) }

// listingRequest is a POST with this body and the session and credentials of another
// request.
func listingRequest(ctx context.Context, like *http.Request, body []byte) *http.Request {
	r := like.Clone(ctx)
	r.Method = http.MethodPost
	for name := range r.Header {
		if strings.HasPrefix(name, "Mcp-Param-") {
			r.Header.Del(name)
		}
	}
	for _, name := range []string{"Last-Event-Id", "Mcp-Name", "Range", "If-None-Match"} {
		r.Header.Del(name)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if r.Header.Get("MCP-Protocol-Version") >= firstStateless {
		r.Header.Set("Mcp-Method", methodList)
	} else {
		r.Header.Del("Mcp-Method")
	}
	return withBody(r, body)
}

// serveQuietly has a handler serve a request of our own. A panic of it is its answer: a
// proxy ends in one where the other side breaks off.
func serveQuietly(h http.Handler, w http.ResponseWriter, r *http.Request) {
	defer func() { _ = recover() }()
	h.ServeHTTP(w, r)
}

// listAnswer takes the answer to a tools/list of our own: JSON, or a stream of events
// that is left once the answer has come.
type listAnswer struct {
	id   []byte
	done func()

	mu      sync.Mutex
	header  http.Header
	status  int
	body    []byte       // JSON, or what of the stream has not ended yet
	scanner eventScanner // of body
	found   []byte
	err     error
}

// Header implements http.ResponseWriter.
func (a *listAnswer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *listAnswer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Flush implements http.Flusher.
func (*listAnswer) Flush() {}

// Write implements http.ResponseWriter.
func (a *listAnswer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.found != nil || a.err != nil {
		return 0, http.ErrHandlerTimeout
	}
	if a.body = append(a.body, p...); len(a.body) > maxListBytes {
		a.err = fmt.Errorf("the answer to tools/list has more than %d bytes", maxListBytes)
		a.done()
		return 0, a.err
	}
	if !a.isStream() {
		return len(p), nil
	}
	for end := a.scanner.end(a.body); end > 0; end = a.scanner.end(a.body) {
		if data := eventData(a.body[:end]); answers(data, a.id) {
			a.found = bytes.Clone(data)
			a.done()
			return len(p), nil
		}
		a.body = append(a.body[:0], a.body[end:]...)
	}
	return len(p), nil
}

// StatusError is an answer to tools/list by HTTP status: the session is over (404), a
// token is wanted (401).
type StatusError struct {
	Status    int
	Challenge []string // the headers WWW-Authenticate
}

// Error says so.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answers tools/list with status %d", e.Status)
}

func (a *listAnswer) isStream() bool {
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return media == "text/event-stream"
}

func (a *listAnswer) result() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.err != nil:
		return nil, a.err
	case a.found != nil:
		return checkList(a.found)
	case a.status == 0:
		return nil, errors.New("the server does not answer tools/list")
	case a.status != http.StatusOK:
		return nil, &StatusError{Status: a.status, Challenge: a.header.Values("WWW-Authenticate")}
	case a.isStream():
		return nil, errors.New("the stream of the server ends without an answer to tools/list")
	case !answers(a.body, a.id):
		return nil, errors.New("the server answers something else than tools/list")
	}
	return checkList(a.body)
}

// answers says whether a message is the answer to the request with this id.
func answers(message, id []byte) bool {
	got, isAnswer := answeredID(message)
	return isAnswer && bytes.Equal(got, id)
}

// eventData returns the data of an event.
func eventData(event []byte) (data []byte) {
	for line := range bytes.Lines(normalised(event)) {
		field, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(":"))
		if string(field) == "data" {
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
	}
	return bytes.TrimSuffix(data, []byte("\n"))
}

// normalised has every line of an event end in a line feed.
func normalised(event []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(event, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}

// list asks the server of a stream of the legacy transport for a page of its tools. The
// answer comes in the stream.
func (s *eventStream) list(ctx context.Context, cursor string) ([]byte, error) {
	endpoint := s.endpoint.Load()
	if endpoint == nil {
		return nil, errors.New("the stream has not named its endpoint yet")
	}
	id, answer := s.guard.asked.next()
	defer s.guard.asked.forget(id)
	post := s.request.Clone(withoutValues{ctx, s.request.Context()})
	post.URL, post.RequestURI = endpoint, endpoint.RequestURI()
	serveQuietly(s.guard.next, discard{}, listingRequest(post.Context(), post, listRequest(id, cursor, nil)))
	select {
	case message := <-answer:
		return checkList(message)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
