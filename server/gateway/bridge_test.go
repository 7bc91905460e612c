package gateway

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
)

func bridged(t *testing.T, children int, idle time.Duration) (*front, *Bridge) {
	t.Helper()
	b := NewBridge(fakeCommand("usual"), children, idle, zap.NewNop())
	t.Cleanup(b.Close)
	return serveFront(t, newJudge(t).HTTP(b)), b
}

// enter opens a session and returns a front that belongs to it.
func (f *front) enter() *front {
	f.t.Helper()
	status, body, header := f.post(initialize)
	id := header.Get(sessionHeader)
	if status != 200 || id == "" || !strings.Contains(body, "serverInfo") {
		f.t.Fatalf("initialize: %d %s", status, body)
	}
	return f.with(sessionHeader, id)
}

func (b *Bridge) running() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.children
}

// inFlight is how many tool calls wait for a child.
func (b *Bridge) inFlight() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.sessions {
		l.mu.Lock()
		for _, p := range l.posts {
			if p.token != "" {
				n++
			}
		}
		l.mu.Unlock()
	}
	return n
}

func (b *Bridge) becomes(t *testing.T, children int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); b.running() != children; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d children run, want %d", b.running(), children)
		}
	}
}

func TestBridgeSessions(t *testing.T) {
	f, b := bridged(t, 0, 0)
	one, two := f.enter(), f.enter()
	if b.running() != 2 {
		t.Errorf("%d children for 2 sessions", b.running())
	}
	one.want(call(1, "echo", `{"text":"a"}`), 200, `"id":1`, `{\"text\":\"a\"}`)
	one.want(call(2, "page_two", `{}`), 200, `"id":2`, `"result"`)
	one.want(call(3, "echo", `{"text":1}`), 200, `"code":-32602`)
	one.want(call(4, "faulty", `{}`), 200, "quarantine")
	one.want(call(5, "progress", `{}`), 200, "notifications/progress", `"p5"`, `"id":5`)
	one.want(call(6, "grow", `{}`), 200, "list_changed")
	one.want(call(7, "grown", `{}`), 200, `"result"`)
	two.want(call(8, "grown", `{}`), 200, `"code":-32601`)
	one.want(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202)
	f.want(call(9, "echo", `{}`), 400)
	f.with(sessionHeader, "no such session").want(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, 404)
	f.with(sessionHeader, "no such session").want(call(1, "echo", `{}`), 404, `"id":1`)
	response, err := one.request(t.Context(), http.MethodDelete, "")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	_ = response.Body.Close()
	one.want(`{"jsonrpc":"2.0","id":10,"method":"ping"}`, 404)
	two.want(call(11, "echo", `{}`), 200, `"result"`)
	b.becomes(t, 1)
}

// What the server asks comes in the stream of the call that it is about, or in that of
// the session; the client's answer is a POST.
func TestBridgeServerAsks(t *testing.T) {
	f, _ := bridged(t, 0, 0)
	s := f.enter()
	response, err := s.request(t.Context(), http.MethodPost, call(1, "ask", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	var seen []string
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if seen = append(seen, data); strings.Contains(data, "createMessage") {
				s.want(`{"jsonrpc":"2.0","id":"q1","result":{"role":"assistant"}}`, 202)
			}
		}
	}
	if len(seen) != 2 || !strings.Contains(seen[1], `"id":1`) || !strings.Contains(seen[1], "assistant") {
		t.Errorf("%q", seen)
	}
}

// A child that ends leaves no call without an answer; its session is over, and a new one
// works.
func TestBridgeChildEnds(t *testing.T) {
	f, b := bridged(t, 0, 0)
	s := f.enter()
	hanging := make(chan string, 1)
	go func() {
		_, body, _ := s.post(call(1, "hang", `{}`))
		hanging <- body
	}()
	for deadline := time.Now().Add(20 * time.Second); b.inFlight() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the call never comes to the child")
		}
	}
	s.want(call(2, "echo", `{}`), 200, `"result"`)
	s.want(call(3, "crash", `{}`), 200, `"id":3`, `"code":-32603`, "outcome is unknown")
	if got := <-hanging; !strings.Contains(got, `"id":1`) || !strings.Contains(got, "outcome is unknown") {
		t.Errorf("the other call: %s", got)
	}
	b.becomes(t, 0)
	s.want(`{"jsonrpc":"2.0","id":4,"method":"ping"}`, 404)
	f.enter().want(call(5, "echo", `{}`), 200, `"result"`)
}

func TestBridgeBounds(t *testing.T) {
	f, b := bridged(t, 2, 2*time.Second)
	f.enter().want(call(1, "echo", `{}`), 200, `"result"`) // the list is known from now on
	f.enter()
	f.want(initialize, http.StatusServiceUnavailable)
	b.becomes(t, 0) // idle ones end
	f.enter().want(call(1, "echo", `{}`), 200, `"result"`)
}

// Without sessions each request has a child to itself while it lasts.
func TestBridgeStateless(t *testing.T) {
	f, b := bridged(t, 6, 0) // three calls, and who asks for the list
	modern := f.with("MCP-Protocol-Version", firstStateless)
	request := func(id int, method, more string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}}`, id, method, more, firstStateless)
	}
	tool := func(id int, name, arguments string) {
		t.Helper()
		modern.with("Mcp-Method", "tools/call").with("Mcp-Name", name).want(request(id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s,`, name, arguments)), 200, fmt.Sprintf(`"id":%d`, id))
	}
	var wait sync.WaitGroup
	for id := range 30 {
		wait.Go(func() { tool(id, "echo", fmt.Sprintf(`{"text":"%d"}`, id)) })
		if id%3 == 2 {
			wait.Wait() // three at once have children of their own
		}
	}
	wait.Wait()
	if b.running() > 6 {
		t.Errorf("%d children run", b.running())
	}
	tool(100, "crash", `{}`)
	tool(101, "echo", `{}`)
	modern.with("Mcp-Method", "ping").want(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, 400, "-32602")
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		response, err := modern.request(t.Context(), method, "")
		if err != nil {
			t.Fatal(err)
		}
		if _ = response.Body.Close(); response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: status %d", method, response.StatusCode)
		}
	}
}

// A reader that is too slow loses its stream, and nobody else anything.
func TestQueueIsBounded(t *testing.T) {
	q := newQueue()
	big := make([]byte, maxQueued/2)
	for i, want := range []bool{true, true, false, false} {
		message := big
		if i > 1 {
			message = []byte("x")
		}
		if got := q.put(message); got != want {
			t.Errorf("message %d: taken %t, want %t", i, got, want)
		}
	}
	if items, open := q.take(); len(items) != 2 || open {
		t.Errorf("%d items, open %t", len(items), open)
	}
}
