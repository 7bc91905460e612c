package tests

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf16"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

const listTools = `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`

// carriersTo are the ways to servers of both SDKs behind a judge.
func carriersTo(t *testing.T, j *server.Judge, official func() *mcp.Server, other func() *mcpgoserver.MCPServer) []carrier {
	t.Helper()
	s := official()
	return []carrier{
		stdioCarrier(t, "stdio, go-sdk", j, func(in io.Reader, out io.Writer) {
			_ = official().Run(context.Background(), &mcp.IOTransport{Reader: io.NopCloser(in), Writer: writeCloser{out}})
		}),
		stdioCarrier(t, "stdio, mcp-go", j, func(in io.Reader, out io.Writer) {
			_ = mcpgoserver.NewStdioServer(other()).Listen(context.Background(), in, out)
		}),
		httpCarrier(t, "HTTP, go-sdk", j.HTTP(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))),
		httpCarrier(t, "HTTP as JSON, go-sdk", j.HTTP(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))),
		httpCarrier(t, "HTTP, mcp-go", j.HTTP(mcpgoserver.NewStreamableHTTPServer(other()))),
		sseCarrier(t, "SSE, go-sdk", j.HTTP(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)), "/"),
		sseCarrier(t, "SSE, mcp-go", j.HTTP(mcpgoserver.NewSSEServer(other())), "/sse"),
	}
}

// What is listed are the registered tools, with the schemas that are enforced, whatever
// the server behind has for schemas.
func TestAdvertisedIsEnforced(t *testing.T) {
	j, e := newJudge(t)
	var c calls
	for _, carrier := range carriersTo(t, j, func() *mcp.Server { return newGoSDK(e, &c) }, func() *mcpgoserver.MCPServer { return newMCPGo(e, &c) }) {
		t.Run(carrier.name, func(t *testing.T) {
			var answer struct {
				Result struct {
					Tools []struct {
						Name        string
						InputSchema json.RawMessage
					}
				}
			}
			reply := carrier.send(t, listTools)
			if err := json.Unmarshal([]byte(reply), &answer); err != nil {
				t.Fatalf("%.200s: %v", reply, err)
			}
			if len(answer.Result.Tools) != 25 {
				t.Errorf("%d tools, want 25", len(answer.Result.Tools))
			}
			for _, tool := range answer.Result.Tools {
				enforced, ok := e.AdvertisedSchema(tool.Name)
				if !ok {
					t.Errorf("%s is listed", tool.Name)
					continue
				}
				var oneLine bytes.Buffer
				if err := json.Compact(&oneLine, enforced); err != nil {
					t.Fatal(err)
				}
				if oneLine.String() != string(tool.InputSchema) {
					t.Errorf("%s: listed\n%s\nenforced\n%s", tool.Name, tool.InputSchema, &oneLine)
				}
			}
		})
	}
}

// slowEngine has a tool that may take 0.2 seconds, and one without a bound.
func slowEngine(t *testing.T) *engine.Engine {
	t.Helper()
	files := fstest.MapFS{
		"slow.json":  {Data: []byte(`{"type": "object", "additionalProperties": false, "timeoutSeconds": 0.2}`)},
		"quick.json": {Data: []byte(`{"type": "object", "additionalProperties": false}`)},
	}
	e, err := engine.New(context.Background(), engine.WithSchemas(files), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A call past its bound is cut, its handler is told, and the session lives on.
func TestTimeoutSeconds(t *testing.T) {
	e := slowEngine(t)
	j, err := server.NewJudge(e)
	if err != nil {
		t.Fatal(err)
	}
	cancelled := make(chan struct{}, 100)
	sleep := func(ctx context.Context) {
		select {
		case <-ctx.Done():
			cancelled <- struct{}{}
		case <-time.After(20 * time.Second):
		}
	}
	official := func() *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "behind", Version: "1"}, nil)
		s.AddTool(&mcp.Tool{Name: "slow", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			sleep(ctx)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "too late"}}}, nil
		})
		s.AddTool(&mcp.Tool{Name: "quick", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
		return s
	}
	other := func() *mcpgoserver.MCPServer {
		s := mcpgoserver.NewMCPServer("behind", "1")
		s.AddTool(mcpgo.NewToolWithRawSchema("slow", "", json.RawMessage(`{"type":"object"}`)), func(ctx context.Context, _ mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			sleep(ctx)
			return mcpgo.NewToolResultText("too late"), nil
		})
		s.AddTool(mcpgo.NewToolWithRawSchema("quick", "", json.RawMessage(`{"type":"object"}`)), func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			return mcpgo.NewToolResultText(text), nil
		})
		return s
	}
	for _, carrier := range carriersTo(t, j, official, other) {
		t.Run(carrier.name, func(t *testing.T) {
			reply := carrier.send(t, call("slow", `{}`))
			for range 40 { // on stdio and SSE the answer comes after that to the ping
				if reply != "" {
					break
				}
				reply = carrier.send(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":0}}`)
			}
			want := `{"jsonrpc":"2.0","id":7,"error":{"code":-31001,"message":"tool \"slow\" did not answer within its limit of 200ms; the outcome is unknown, it may still take effect"}}`
			if reply != want {
				t.Errorf("got %s\nwant %s", reply, want)
			}
			if reply = carrier.send(t, strings.Replace(call("quick", `{}`), `"id":7`, `"id":9`, 1)); !strings.Contains(reply, text) {
				t.Errorf("the next call is answered with %s", reply)
			}
		})
	}
	// mcp-go lets go of a call only where its own transport does so.
	for range 4 {
		select {
		case <-cancelled:
		case <-time.After(10 * time.Second):
			t.Fatal("handlers are not told that their time is over")
		}
	}
}

// echo answers each line with its own id and length.
func echo(in io.Reader, out io.Writer) {
	lines := bufio.NewReaderSize(in, 8<<20)
	for {
		line, err := lines.ReadBytes('\n')
		var m struct{ ID json.RawMessage }
		if json.Unmarshal(line, &m) == nil && m.ID != nil {
			_, _ = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"bytes":%d}}`+"\n", m.ID, len(bytes.TrimSpace(line)))
		}
		if err != nil {
			return
		}
	}
}

// padded is a ping of so many bytes.
func padded(id string, size int) string {
	head, tail := `{"jsonrpc":"2.0","id":"`+id+`","method":"x","params":{"pad":"`, `"}}`
	return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
}

func TestLines(t *testing.T) {
	j, _ := newJudge(t)
	const limit = 4 << 20
	var input strings.Builder
	want := map[string]string{}
	for _, size := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, 128 << 10, 1 << 20, limit - 1, limit} {
		id := fmt.Sprintf("n%d", size)
		input.WriteString(padded(id, size) + "\n")
		want[`"`+id+`"`] = fmt.Sprintf(`"result":{"bytes":%d}`, size)
	}
	for _, size := range []int{limit + 1, 5 << 20} {
		id := fmt.Sprintf("n%d", size)
		input.WriteString(padded(id, size) + "\n")
		want[`"`+id+`"`] = `"error":{"code":-32600,"message":"the message has more than 4194304 bytes"}`
	}
	input.WriteString("\n\r\n  \n")
	input.WriteString(`{"jsonrpc":"2.0","id":"crlf","method":"ping"}` + "\r\n")
	want[`"crlf"`] = `"result":{"bytes":45}`
	input.WriteString("{no JSON}\n")
	want[`null`] = `"error":{"code":-32700,"message":"not JSON: unexpected character at byte 1"}`
	input.WriteString(`{"jsonrpc":"2.0","id":"after","method":"ping"}` + "\n")
	want[`"after"`] = `"result":{"bytes":46}`
	input.WriteString(`{"jsonrpc":"2.0","id":"half","met`)
	want[`"half"`] = `"error":{"code":-32700,"message":"not JSON: the message ends too early"}`

	var out safeBuffer
	guard := j.NewStdio(context.Background(), strings.NewReader(input.String()), &out)
	echo(guard, guard)
	_ = guard.Close()
	got := map[string]string{}
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), `{"jsonrpc":"2.0","id":`), "}")
		id, rest, _ := strings.Cut(line, ",")
		got[id] = rest
	}
	for id, rest := range want {
		if got[id] != rest {
			t.Errorf("%s is answered with %q, want %q", id, got[id], rest)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d answers, want %d", len(got), len(want))
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// Every answer has the id of its call, however many there are at a time.
func TestManyCallsOnOneSession(t *testing.T) {
	j, e := newJudge(t)
	var c calls
	const n = 10_000
	in, client := io.Pipe()
	answers, out := io.Pipe()
	guard := j.NewStdio(context.Background(), in, out)
	defer func() { _ = guard.Close() }()
	go func() {
		_ = newGoSDK(e, &c).Run(context.Background(), &mcp.IOTransport{Reader: io.NopCloser(guard), Writer: writeCloser{guard}})
	}()
	go func() {
		_, _ = io.WriteString(client, initialize+"\n"+initialized+"\n")
		for i := range n {
			arguments := good
			if i%3 == 0 {
				arguments = `{}`
			}
			_, _ = fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bernstein_run","arguments":%s}}`+"\n", i, arguments)
		}
	}()
	seen := map[string]bool{}
	scanner := bufio.NewScanner(answers)
	for len(seen) < n && scanner.Scan() {
		var a wireAnswer
		if err := json.Unmarshal(scanner.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if string(a.ID) == `"init"` {
			continue
		}
		var i int
		if err := json.Unmarshal(a.ID, &i); err != nil || seen[string(a.ID)] || (a.Error != nil) != (i%3 == 0) {
			t.Fatalf("%s", scanner.Bytes())
		}
		seen[string(a.ID)] = true
	}
	if got, want := c.n.Load(), int64(n-(n+2)/3); len(seen) != n || got != want {
		t.Errorf("%d answers, %d calls reached the handler, want %d and %d", len(seen), got, n, want)
	}
}

// lenient decodes what Express does: other character sets, and compressed bodies.
func lenient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			if z, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
				body, _ = io.ReadAll(z)
			}
		}
		if strings.Contains(strings.ToLower(r.Header.Get("Content-Type")), "utf-16le") {
			var units []uint16
			for i := 0; i+1 < len(body); i += 2 {
				units = append(units, uint16(body[i])|uint16(body[i+1])<<8)
			}
			body = []byte(string(utf16.Decode(units)))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		r.Header.Set("Content-Type", "application/json")
		next.ServeHTTP(w, r)
	})
}

// Each of these runs a tool that is not registered on a server without the judge, and
// does not with it.
func TestBypasses(t *testing.T) {
	j, e := newJudge(t)
	var c calls
	behind := lenient(mcpgoserver.NewStreamableHTTPServer(newMCPGo(e, &c), mcpgoserver.WithStateLess(true)))
	harmful := call("unregistered", `{}`)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, harmful)
	_ = z.Close()
	var wide []byte
	for _, unit := range utf16.Encode([]rune(harmful)) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	for name, b := range map[string]struct {
		body   string
		header map[string]string
	}{
		"method in another case": {strings.Replace(harmful, `"method":"tools/call"`, `"method":"ping","Method":"tools/call"`, 1), nil},
		"long s in arguments":    {strings.Replace(call("unregistered", `{}`), `"name":"unregistered"`, `"name":"bernstein_run","NAME":"unregistered"`, 1), nil},
		"another character set":  {string(wide), map[string]string{"Content-Type": "application/json; charset=utf-16le"}},
		"compressed":             {zipped.String(), map[string]string{"Content-Encoding": "gzip"}},
	} {
		t.Run(name, func(t *testing.T) {
			send := func(handler http.Handler) (status int, reached int64) {
				before := c.n.Load()
				r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(b.body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Accept", "application/json, text/event-stream")
				for name, value := range b.header {
					r.Header.Set(name, value)
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				return w.Code, c.n.Load() - before
			}
			if _, reached := send(behind); reached != 1 {
				t.Fatalf("without the judge %d calls reach the handler, want 1", reached)
			}
			if status, reached := send(j.HTTP(behind)); reached != 0 {
				t.Errorf("with the judge %d calls reach the handler (status %d)", reached, status)
			}
		})
	}
	t.Run("redirect", func(t *testing.T) {
		redirecting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://upstream.example/mcp", http.StatusTemporaryRedirect)
		})
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			r := httptest.NewRequest(method, "/mcp", strings.NewReader(ping))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			redirecting.ServeHTTP(w, r.Clone(r.Context()))
			if !strings.Contains(w.Header().Get("Location"), "upstream.example") {
				t.Fatalf("without the judge the redirect is %v", w.Header())
			}
			w = httptest.NewRecorder()
			j.HTTP(redirecting).ServeHTTP(w, r)
			if w.Code != http.StatusBadGateway || w.Header().Get("Location") != "" || strings.Contains(w.Body.String(), "upstream.example") {
				t.Errorf("%s: %d, %v, %s", method, w.Code, w.Header(), w.Body)
			}
		}
	})
}
