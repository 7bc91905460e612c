package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// HTTPOption sets one thing about a guard for HTTP.
type HTTPOption func(*httpGuard)

// WithAllowedOrigins sets which values of the header Origin may pass besides that of the
// host itself, such as "https://app.example".
func WithAllowedOrigins(origins ...string) HTTPOption {
	return func(g *httpGuard) { g.origins = append(g.origins, origins...) }
}

// WithAllowedHosts sets which values of the header Host may pass, with or without a
// port. By default any may, except on a loopback address, where it has to name the
// loopback: else a web page could rebind its own name to it (DNS rebinding).
func WithAllowedHosts(hosts ...string) HTTPOption {
	return func(g *httpGuard) { g.hosts = append(g.hosts, hosts...) }
}

// WithPathPrefix says below which path the guard serves, for a handler that is mounted
// elsewhere and names its endpoints without it (legacy transport).
func WithPathPrefix(prefix string) HTTPOption {
	return func(g *httpGuard) { g.prefix = prefix }
}

// WithMaxBody bounds the body of a POST, in bytes; MaxMessageBytes is the default and the
// most that can be.
func WithMaxBody(n int) HTTPOption {
	return func(g *httpGuard) { g.maxBody = min(n, MaxMessageBytes) }
}

// HTTP stands in front of a handler that serves MCP over HTTP: streamable HTTP of every
// revision, with and without sessions, and the legacy transport of HTTP and SSE. The
// judge sees every POST body; the handler sees those that it forwards.
func (j *Judge) HTTP(next http.Handler, options ...HTTPOption) http.Handler {
	g := &httpGuard{judge: j, next: next, maxBody: MaxMessageBytes, asked: newAsked(), streams: map[string]*eventStream{}}
	for _, option := range options {
		option(g)
	}
	return g
}

type httpGuard struct {
	judge   *Judge
	next    http.Handler
	origins []string
	hosts   []string
	prefix  string
	maxBody int // bytes
	asked   *asked

	mu      sync.Mutex
	streams map[string]*eventStream // of the legacy transport, by the URI to post to
}

// ServeHTTP implements http.Handler.
func (g *httpGuard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.fromAllowedHost(r) || !g.fromAllowedOrigin(r) {
		http.Error(w, "host or origin not allowed", http.StatusForbidden)
		return
	}
	// After a change of protocol nobody would see what goes through.
	for _, name := range []string{"Upgrade", "Connection", "Http2-Settings"} {
		r.Header.Del(name)
	}
	switch r.Method {
	case http.MethodPost:
		g.post(w, r)
	case http.MethodGet:
		g.stream(w, withoutBody(r))
	case http.MethodDelete, http.MethodOptions:
		g.pass(w, withoutBody(r))
	default:
		w.Header().Set("Allow", "GET, POST, DELETE, OPTIONS")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

func (g *httpGuard) fromAllowedHost(r *http.Request) bool {
	name := hostName(r.Host)
	if len(g.hosts) > 0 {
		return slices.Contains(g.hosts, r.Host) || slices.Contains(g.hosts, name)
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil || !isLoopback(hostName(local.String())) {
		return true
	}
	return isLoopback(name)
}

func (g *httpGuard) fromAllowedOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(g.origins, origin) {
		return len(r.Header.Values("Origin")) <= 1
	}
	parsed, err := url.Parse(origin)
	return err == nil && parsed.Host == r.Host && len(r.Header.Values("Origin")) == 1
}

func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

func isLoopback(name string) bool {
	return strings.EqualFold(name, "localhost") || net.ParseIP(name).IsLoopback()
}

// post judges the body of a POST.
func (g *httpGuard) post(w http.ResponseWriter, r *http.Request) {
	if problem := unreadableBody(r.Header); problem != "" {
		http.Error(w, problem, http.StatusUnsupportedMediaType)
		return
	}
	body, tooLong, err := readBody(r.Body, g.maxBody)
	body = bytes.Trim(body, " \t\r\n")
	if err != nil {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	judge := g.judge.Judge
	if tooLong {
		judge = func(_ context.Context, beginning []byte) Decision { return g.judge.tooLong(beginning, g.maxBody) }
	}
	if !tooLong {
		if problem := disagreement(r.Header, body); problem != "" {
			writeJSON(w, http.StatusBadRequest, errorReply(frame.ID(body), rpcError{Code: codeHeaderMismatch, Message: problem}))
			return
		}
	}
	r = r.WithContext(withCaller(r.Context(), g.caller(r, body)))
	d := judge(r.Context(), body)
	switch d.Action {
	case Forward:
		g.forward(w, r, d)
	case Reply:
		g.reply(w, r, d)
	case Drop:
		http.Error(w, "a tools/call needs an id that is a string or a number", http.StatusBadRequest)
	}
}

// unreadableBody refuses what the handler could decode into other bytes than the judge
// sees: another character set, a compression, another type.
func unreadableBody(h http.Header) string {
	types := h.Values("Content-Type")
	if len(types) != 1 {
		return "Content-Type must be application/json"
	}
	media, params, err := mime.ParseMediaType(types[0])
	if err != nil || media != "application/json" {
		return "Content-Type must be application/json"
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return "Content-Type must be application/json in UTF-8"
		}
	}
	if len(h.Values("Content-Encoding")) > 0 {
		return "Content-Encoding is not supported"
	}
	return ""
}

// readBody reads a body up to one byte past the limit, and reads the rest away.
func readBody(r io.Reader, limit int) (body []byte, tooLong bool, err error) {
	body, err = io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil || len(body) <= limit {
		return body, false, err
	}
	const drained = 64 << 20 // more than that, and the connection may as well break
	if _, err := io.CopyN(io.Discard, r, drained); err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	return body[:limit], true, nil
}

// reply answers in place of the handler: in the answer to the POST, or in the stream
// that the legacy transport answers in. With an id the status is 200, since clients throw
// away the body of an error status.
func (g *httpGuard) reply(w http.ResponseWriter, r *http.Request, d Decision) {
	if stream := g.streamOf(r); stream != nil {
		if err := stream.message(d.Message); err == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
	}
	status := http.StatusOK
	switch {
	case d.Refused != nil && d.Refused.Status >= 400 && d.Refused.Status < 500:
		status = d.Refused.Status
		w.Header()["Www-Authenticate"] = d.Refused.Challenge
	case d.ID == nil:
		status = http.StatusBadRequest
	}
	writeJSON(w, status, d.Message)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// forward hands the judged bytes on.
func (g *httpGuard) forward(w http.ResponseWriter, r *http.Request, d Decision) {
	stream := g.streamOf(r)
	if stream != nil && d.Cancels != nil {
		stream.pending.forget(d.Cancels)
	}
	ctx := r.Context()
	out := newAnswer(ctx, g.judge, w)
	switch {
	case d.Timeout > 0 && stream != nil: // the answer comes in the stream
		stream.pending.start(d, func() { g.expireInStream(r, stream, d) })
	case d.Timeout > 0:
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		forwarded := withBody(r.WithContext(ctx), d.Message)
		out.serveWithin(d, func() { g.serve(out, forwarded, d) }, func() {
			cancel()
			g.tellCancelled(r, d) // with sessions, the end of a request means nothing to some handlers
		})
		return
	}
	g.serve(out, withBody(r.WithContext(ctx), d.Message), d)
	out.finish()
}

// serve has the handler answer. One that breaks off, as a proxy does where its server is
// gone, leaves a request without an answer: then it gets one here.
func (g *httpGuard) serve(out *answer, r *http.Request, d Decision) {
	if out.id = d.ID; d.ID != nil {
		out.events.watch(d.ID)
	}
	defer func() {
		switch failure := recover(); failure {
		case nil:
		case http.ErrAbortHandler:
			out.breakOff(d)
		default:
			panic(failure)
		}
	}()
	g.next.ServeHTTP(out, r)
}

// pass hands on a request that is not judged.
func (g *httpGuard) pass(w http.ResponseWriter, r *http.Request) {
	out := newAnswer(r.Context(), g.judge, w)
	g.serve(out, r, Decision{})
	out.finish()
}

// withBody is r with the judged bytes as its body.
func withBody(r *http.Request, body []byte) *http.Request {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.TransferEncoding = nil
	onceOnly(r.Header)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return r
}

// withoutBody is r without a body that nobody has judged.
func withoutBody(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength, r.TransferEncoding = http.NoBody, 0, nil
	onceOnly(r.Header)
	r.Header.Del("Content-Length")
	r.Header.Del("Content-Type")
	return r
}

// onceOnly takes off what is agreed with us alone: the whole body has come.
func onceOnly(h http.Header) {
	h.Del("Expect")
	h.Del("Trailer")
}
