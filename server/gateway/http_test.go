package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server"
)

// upstream is a server over HTTP. It lists one tool more to those who bring the token
// "admin", and counts what it is asked.
type upstream struct {
	calls, lists, cancelled atomic.Int64
	extra                   atomic.Bool // lists one more tool to all
	changed                 atomic.Bool // says something else of each tool
	slow                    chan struct{}
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/mcp":
	case "/away/mcp":
		http.Redirect(w, r, "http://"+r.Host+"/mcp", http.StatusTemporaryRedirect)
		return
	default:
		http.NotFound(w, r)
		return
	}
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return
	}
	var m fakeMessage
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		http.Error(w, "bad", http.StatusBadRequest)
		return
	}
	answer := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch m.Method {
	case "tools/list":
		u.lists.Add(1)
		names := []string{"echo", "die", "hang", "slow", "rubbish", "half", "stream", "endless", "endless_event"}
		if r.Header.Get("Authorization") == "Bearer admin" {
			names = append(names, "admin")
		}
		if u.extra.Load() {
			names = append(names, "extra")
		}
		var entries []string
		for _, name := range names {
			entries = append(entries, fmt.Sprintf(`{"name":%q,"description":"v%t","inputSchema":{"type":"object","additionalProperties":false,"properties":{"text":{"type":"string"}}}}`, name, u.changed.Load() && name != "hang"))
		}
		answer(`{"tools":[` + strings.Join(entries, ",") + `]}`)
	case "tools/call":
		u.calls.Add(1)
		u.call(w, r, m, answer)
	default:
		answer(`{}`)
	}
}

func (u *upstream) call(w http.ResponseWriter, r *http.Request, m fakeMessage, answer func(string)) {
	breakOff := func(beginning string) {
		conn, buffer, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = buffer.WriteString(beginning)
			_ = buffer.Flush()
			_ = conn.Close()
		}
	}
	switch m.Params.Name {
	case "die":
		breakOff("")
	case "half":
		breakOff("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\"")
	case "rubbish":
		breakOff("SSH-2.0-rubbish\r\n\r\n")
	case "stream":
		breakOff("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3b\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\r\n\r\n\r\n")
	case "endless", "endless_event":
		kind := "application/json"
		if m.Params.Name == "endless_event" {
			kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", kind)
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	case "hang":
		<-r.Context().Done()
		u.cancelled.Add(1)
	case "slow":
		<-u.slow
		answer(`{"content":[]}`)
	default:
		answer(`{"content":[{"type":"text","text":` + strQuote(string(m.Params.Arguments)) + `}]}`)
	}
}

type front struct {
	t      testing.TB
	url    string
	header http.Header
}

// serveFront serves a handler as the gateway does.
func serveFront(t testing.TB, h http.Handler) *front {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &front{t: t, url: s.URL + "/mcp", header: http.Header{}}
}

func proxied(t testing.TB, u *upstream, path string) *front {
	t.Helper()
	back := httptest.NewServer(u)
	t.Cleanup(back.Close)
	target, err := ParseUpstream(back.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	f := serveFront(t, NewProxy(Upstream{URL: target}, newJudge(t), zap.NewNop()))
	f.url = strings.TrimSuffix(f.url, "/mcp") + path
	return f
}

// with is a front that sends one more header.
func (f *front) with(name, value string) *front {
	other := *f
	other.header = f.header.Clone()
	other.header.Set(name, value)
	return &other
}

func (f *front) request(ctx context.Context, method, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, f.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = f.header.Clone()
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	return http.DefaultClient.Do(r)
}

// post returns status and body of an answer.
func (f *front) post(body string) (status int, answer string, header http.Header) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	response, err := f.request(ctx, http.MethodPost, body)
	if err != nil {
		f.t.Error(err)
		return 0, err.Error(), nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		f.t.Errorf("%s: %v after %q", body, err, text)
	}
	return response.StatusCode, string(text), response.Header
}

func (f *front) want(body string, status int, parts ...string) {
	f.t.Helper()
	got, answer, _ := f.post(body)
	for _, part := range parts {
		if !strings.Contains(answer, part) {
			f.t.Errorf("%s: %s, want a part %s", body, answer, part)
		}
	}
	if got != status {
		f.t.Errorf("%s: status %d (%s), want %d", body, got, answer, status)
	}
}

func TestProxy(t *testing.T) {
	u := &upstream{}
	f := proxied(t, u, "/mcp")
	f.want(call(1, "echo", `{"text":"a"}`), 200, `"id":1`, `{\"text\":\"a\"}`)
	f.want(call(2, "echo", `{"text":1}`), 200, `"code":-32602`, `"path":"/text"`)
	f.want(call(3, "nobody", `{}`), 200, `"code":-32601`)
	f.want(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`, 200, `"echo"`)
	if u.calls.Load() != 1 {
		t.Errorf("the upstream has seen %d calls, want 1", u.calls.Load())
	}
	if u.lists.Load() != 2 {
		t.Errorf("the upstream has been asked for its tools %d times, want once by us and once by the client", u.lists.Load())
	}
}

// Whatever the upstream does, each call has an answer that names it, and the next works.
func TestProxyUpstreamFails(t *testing.T) {
	u := &upstream{}
	f := proxied(t, u, "/mcp")
	for i, tool := range []string{"die", "half", "rubbish", "stream", "endless", "endless_event"} {
		f.want(call(i, tool, `{}`), 200, fmt.Sprintf(`"id":%d`, i), `"code":-32603`, "outcome is unknown")
		f.want(call(100, "echo", `{}`), 200, `"result"`)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if response, err := f.request(ctx, http.MethodPost, call(5, "hang", `{}`)); err == nil {
		_ = response.Body.Close()
		t.Error("a call that hangs was answered")
	}
	for deadline := time.Now().Add(10 * time.Second); u.cancelled.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the upstream is not told that nobody waits any more")
		}
	}
}

func TestProxyUpstreamIsNotThere(t *testing.T) {
	nobody, err := ParseUpstream("http://127.0.0.1:1/mcp")
	if err != nil {
		t.Fatal(err)
	}
	f := serveFront(t, NewProxy(Upstream{URL: nobody}, newJudge(t), zap.NewNop()))
	f.want(`{"jsonrpc":"2.0","id":"a","method":"ping"}`, 200, `"id":"a"`, `"code":-32603`)
	f.want(call(1, "echo", `{}`), 200, `"id":1`, `"code":-32603`, "has not listed its tools")
	f.want(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, http.StatusBadGateway)
}

func TestProxyPassesNoRedirect(t *testing.T) {
	f := proxied(t, &upstream{}, "/away/mcp")
	for _, method := range []string{"POST", "GET", "DELETE", "OPTIONS"} {
		response, err := f.request(t.Context(), method, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadGateway || response.Header.Get("Location") != "" || strings.Contains(string(body), "http://") {
			t.Errorf("%s: %d %v %s", method, response.StatusCode, response.Header, body)
		}
	}
}

// Nothing that is no judged POST reaches the upstream with a body.
func TestProxyRefusesOtherWays(t *testing.T) {
	u := &upstream{}
	f := proxied(t, u, "/mcp")
	bad := call(1, "echo", `{"text":1}`)
	for name, c := range map[string]struct {
		method, header, value string
		status                int
	}{
		"PUT":                  {"PUT", "", "", 405},
		"PATCH":                {"PATCH", "", "", 405},
		"CONNECT by another":   {"TRACE", "", "", 405},
		"method override":      {"PUT", "X-HTTP-Method-Override", "POST", 405},
		"another type":         {"POST", "Content-Type", "text/plain", 415},
		"another charset":      {"POST", "Content-Type", "application/json; charset=utf-7", 415},
		"a compression":        {"POST", "Content-Encoding", "gzip", 415},
		"another origin":       {"POST", "Origin", "https://evil.example", 403},
		"header for a method":  {"POST", "Mcp-Method", "ping", 400},
		"header for a name":    {"POST", "Mcp-Name", "nobody", 400},
		"name in base64":       {"POST", "Mcp-Name", "=?base64?bm9ib2R5?=", 400},
		"two versions":         {"POST", "Mcp-Protocol-Version", "2026-07-28", 400},
		"GET with a body":      {"GET", "", "", 0},
		"DELETE with a body":   {"DELETE", "", "", 0},
		"OPTIONS with a body":  {"OPTIONS", "", "", 0},
		"an ordinary refusal":  {"POST", "X-Other", "y", 200},
		"a list of two values": {"POST", "Content-Type", "application/json, text/plain", 415},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		front := f
		if c.header != "" {
			front = f.with(c.header, c.value)
		}
		response, err := front.request(ctx, c.method, bad)
		if err == nil {
			if c.status != 0 && response.StatusCode != c.status {
				t.Errorf("%s: status %d, want %d", name, response.StatusCode, c.status)
			}
			_ = response.Body.Close()
		} else if c.status != 0 {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	if u.calls.Load() != 0 {
		t.Errorf("the upstream has seen %d calls", u.calls.Load())
	}
}

// No request becomes a tunnel, whatever the upstream agrees to.
func TestProxySwitchesNoProtocol(t *testing.T) {
	asked := make(chan string, 10)
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Upgrade")
		conn, buffer, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = buffer.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\ntunnel")
		_ = buffer.Flush()
		_ = conn.Close()
	}))
	t.Cleanup(back.Close)
	target, _ := ParseUpstream(back.URL + "/mcp")
	f := serveFront(t, NewProxy(Upstream{URL: target}, newJudge(t), zap.NewNop())).with("Connection", "Upgrade").with("Upgrade", "websocket")
	for _, method := range []string{"GET", "OPTIONS", "DELETE", "POST"} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		response, err := f.request(ctx, method, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if err == nil {
			if response.StatusCode == http.StatusSwitchingProtocols {
				t.Errorf("%s becomes a tunnel", method)
			}
			_ = response.Body.Close()
		}
		cancel()
		if got := <-asked; got != "" {
			t.Errorf("%s asks the upstream for %s", method, got)
		}
	}
}

// A list may depend on who asks for it, and comes anew once it has other tools.
func TestProxyListsByCaller(t *testing.T) {
	u := &upstream{}
	f := proxied(t, u, "/mcp")
	admin, guest := f.with("Authorization", "Bearer admin"), f.with("Authorization", "Bearer guest")
	admin.want(call(1, "admin", `{}`), 200, `"result"`)
	guest.want(call(2, "admin", `{}`), 200, `"code":-32601`)
	guest.want(call(3, "echo", `{}`), 200, `"result"`)
	u.extra.Store(true)
	guest.want(call(4, "extra", `{}`), 200, `"code":-32601`)
	guest.want(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`, 200, `"extra"`)
	guest.want(call(6, "extra", `{}`), 200, `"result"`)
}

// Where a list cannot be renewed the old one stays in force.
func TestOldListStaysInForce(t *testing.T) {
	learner, err := NewLearner("x", newEngine(t), nil, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	works := true
	c := server.Caller{List: func(context.Context, string) ([]byte, error) {
		if !works {
			return nil, io.ErrUnexpectedEOF
		}
		return []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}`), nil
	}}
	first, err := learner.Engine(t.Context(), c)
	if err != nil || len(first.Tools()) != 1 {
		t.Fatal(first, err)
	}
	works = false
	learner.Changed(c)
	if again, err := learner.Engine(t.Context(), c); err != nil || again != first {
		t.Errorf("%v, %v", again, err)
	}
	if _, err := learner.Engine(t.Context(), server.Caller{Key: "another", List: c.List}); err == nil {
		t.Error("a caller without a list has an engine")
	}
}

func TestListAllEnds(t *testing.T) {
	page := func(next string) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"nextCursor":%q}}`, next)
	}
	for want, list := range map[string]func(context.Context, string) ([]byte, error){
		"leads in a circle":   func(context.Context, string) ([]byte, error) { return page("a"), nil },
		"more than 200 pages": func(_ context.Context, cursor string) ([]byte, error) { return page(cursor + "a"), nil },
		"more than 33554432 bytes": func(_ context.Context, cursor string) ([]byte, error) {
			return bytes.Replace(page(cursor+"a"), []byte("[]"), []byte(`["`+strings.Repeat("x", 9<<20)+`"]`), 1), nil
		},
		"not an answer": func(context.Context, string) ([]byte, error) { return []byte("{}"), nil },
	} {
		if _, _, err := ListAll(t.Context(), list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	one, two := httptest.NewServer(&upstream{}), httptest.NewServer(&upstream{})
	t.Cleanup(one.Close)
	t.Cleanup(two.Close)
	mux := &Mux{}
	for prefix, back := range map[string]string{"/one": one.URL, "/two": two.URL} {
		u, _ := url.Parse(back + "/mcp")
		if !mux.Handle(prefix, NewProxy(Upstream{URL: u, Prefix: prefix}, newJudge(t), zap.NewNop())) {
			t.Fatal("taken")
		}
	}
	if mux.Handle("/one", nil) {
		t.Error("a prefix was given twice")
	}
	f := serveFront(t, mux)
	base := strings.TrimSuffix(f.url, "/mcp")
	for path, status := range map[string]int{"/one": 200, "/one/": 200, "/two/mcp": 200, "/onetwo": 404, "/": 404, "/mcp": 404, "/two/other": 404} {
		f.url = base + path
		f.want(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, status)
	}
}

// In the legacy transport the answer to our own list comes in the client's stream. The
// endpoint that the client gets is one of ours.
func TestLegacyTransport(t *testing.T) {
	messages := make(chan string, 100)
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: endpoint\ndata: /messages?session=1\n\n")
			for {
				_ = http.NewResponseController(w).Flush()
				select {
				case message := <-messages:
					_, _ = io.WriteString(w, "event: message\ndata: "+message+"\n\n")
				case <-r.Context().Done():
					return
				}
			}
		}
		var m fakeMessage
		_ = json.NewDecoder(r.Body).Decode(&m)
		result := `{"content":[]}`
		if m.Method == "tools/list" {
			result = `{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},{"name":"faulty","inputSchema":{"type":"object","reqired":[]}}]}`
		}
		messages <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(back.CloseClientConnections)
	target, _ := url.Parse(back.URL + "/sse")
	f := serveFront(t, NewProxy(Upstream{URL: target, Prefix: "/files"}, newJudge(t), zap.NewNop()))
	base := strings.TrimSuffix(f.url, "/mcp")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	f.url = base + "/files/sse"
	stream, err := f.request(ctx, http.MethodGet, "")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	events := bufio.NewScanner(stream.Body)
	next := func() string {
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return data
			}
		}
		return "the stream has ended"
	}
	endpoint := next()
	if endpoint != "/files/messages?session=1" {
		t.Fatalf("endpoint %q", endpoint)
	}
	f.url = base + endpoint
	f.want(call(1, "echo", `{"text":"a"}`), http.StatusAccepted)
	if got := next(); !strings.Contains(got, `"id":1`) || !strings.Contains(got, `"result"`) {
		t.Errorf("good call: %s", got)
	}
	f.want(call(2, "echo", `{"text":1}`), http.StatusAccepted)
	if got := next(); !strings.Contains(got, `"id":2`) || !strings.Contains(got, `-32602`) {
		t.Errorf("bad call: %s", got)
	}
	f.want(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, http.StatusAccepted)
	if got := next(); !strings.Contains(got, `"id":3`) || !strings.Contains(got, "echo") || strings.Contains(got, "faulty") {
		t.Errorf("list: %s", got)
	}
}

func TestListen(t *testing.T) {
	for name, l := range map[string]Listen{
		"no port":             {Address: "127.0.0.1"},
		"others, no token":    {Address: "0.0.0.0:0"},
		"any, no token":       {Address: ":0"},
		"a key without a":     {Address: "127.0.0.1:0", KeyFile: "k"},
		"no such certificate": {Address: "127.0.0.1:0", KeyFile: "k", CertFile: "c"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := l.Serve(ctx, http.NotFoundHandler(), zap.NewNop(), func(net.Addr) {})
		if cancel(); err == nil {
			t.Errorf("%s: it serves", name)
		}
	}
}

// A token is asked for, taken off, and compared as a whole.
func TestToken(t *testing.T) {
	seen := make(chan string, 1)
	h := withToken("0123456789abcdef", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("Authorization") }))
	for header, status := range map[string]int{
		"Bearer 0123456789abcdef": 200, "": 401, "Bearer 0123456789abcde": 401, "Bearer 0123456789abcdefg": 401, "Basic 0123456789abcdef": 401, "bearer 0123456789abcdef": 401,
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%q: %d, want %d", header, w.Code, status)
		}
		if status == 200 {
			if got := <-seen; got != "" {
				t.Errorf("the token goes on as %q", got)
			}
		}
	}
}

// At the end calls in flight finish, streams do not hold it up, and nothing new begins.
func TestShutdown(t *testing.T) {
	u := &upstream{slow: make(chan struct{})}
	back := httptest.NewServer(u)
	defer back.Close()
	target, _ := url.Parse(back.URL + "/mcp")
	ctx, end := context.WithCancel(t.Context())
	defer end()
	address, done := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		l := Listen{Address: "127.0.0.1:0"}
		done <- l.Serve(ctx, NewProxy(Upstream{URL: target}, newJudge(t), zap.NewNop()), zap.NewNop(), func(a net.Addr) { address <- a })
	}()
	f := &front{t: t, url: "http://" + (<-address).String() + "/mcp", header: http.Header{}}
	stream, err := f.request(t.Context(), http.MethodGet, "")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	answered := make(chan string, 1)
	go func() {
		_, body, _ := f.post(call(1, "slow", `{}`))
		answered <- body
	}()
	for u.calls.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	end()
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Logf("the stream ends with %v", err)
	}
	close(u.slow)
	if got := <-answered; !strings.Contains(got, `"result"`) {
		t.Errorf("the call in flight is answered with %s", got)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the gateway does not end")
	}
	if response, err := f.request(t.Context(), http.MethodPost, call(2, "echo", `{}`)); err == nil {
		_ = response.Body.Close()
		t.Error("a call after the end was answered")
	}
}

// 5,000 calls of 50 sessions at once: each answer is for its own call, good or bad.
func TestManySessions(t *testing.T) {
	sessions, calls := 50, 100
	if testing.Short() {
		sessions, calls = 10, 20
	}
	f := proxied(t, &upstream{}, "/mcp")
	var wait sync.WaitGroup
	for s := range sessions {
		wait.Go(func() {
			mine := f.with("Mcp-Session-Id", fmt.Sprint("session-", s))
			for n := range calls {
				text := fmt.Sprintf(`"%d of %d"`, n, s)
				want := fmt.Sprintf(`{\"text\":\"%d of %d\"}`, n, s)
				if n%7 == 0 {
					text, want = fmt.Sprint(n), `"path":"/text"`
				}
				_, body, _ := mine.post(call(n, "echo", `{"text":`+text+`}`))
				if !strings.Contains(body, fmt.Sprintf(`"id":%d,`, n)) || !strings.Contains(body, want) {
					t.Errorf("session %d, call %d: %s", s, n, body)
				}
			}
		})
	}
	wait.Wait()
}
