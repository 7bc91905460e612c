package tests

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// calls counts what reaches the handlers of a server.
type calls struct {
	n       atomic.Int64
	reached func() // also told of each; may be nil
}

func (c *calls) count() {
	c.n.Add(1)
	if c.reached != nil {
		c.reached()
	}
}

const text = "done"

// newGoSDK is a server of the official SDK with every tool of the engine, and one that
// the engine does not know.
func newGoSDK(e *engine.Engine, c *calls) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "behind", Version: "1"}, nil)
	for _, name := range append(e.Tools(), "unregistered") {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			c.count()
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	return s
}

// newMCPGo is the same server of another SDK.
func newMCPGo(e *engine.Engine, c *calls) *mcpgoserver.MCPServer {
	s := mcpgoserver.NewMCPServer("behind", "1")
	for _, name := range append(e.Tools(), "unregistered") {
		s.AddTool(mcpgo.NewToolWithRawSchema(name, "", json.RawMessage(`{"type":"object"}`)), func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			c.count()
			return mcpgo.NewToolResultText(text), nil
		})
	}
	return s
}

func newJudge(t *testing.T, options ...server.Option) (*server.Judge, *engine.Engine) {
	t.Helper()
	e, err := engine.New(context.Background(), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()))
	if err != nil {
		t.Fatal(err)
	}
	j, err := server.NewJudge(e, options...)
	if err != nil {
		t.Fatal(err)
	}
	return j, e
}

// carrier takes a message to a server behind a guard and returns what comes back, one
// message per line; nothing where nothing comes back.
type carrier struct {
	name   string
	send   func(t *testing.T, message string) string
	except []string // messages that do not come to the judge as they are
}

const (
	initialize  = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping        = `{"jsonrpc":"2.0","id":"sync-ping","method":"ping"}`
)

// stdioCarrier talks lines to a guard in front of whatever serve runs on.
func stdioCarrier(t *testing.T, name string, j *server.Judge, serve func(in io.Reader, out io.Writer)) carrier {
	t.Helper()
	return lineCarrier(t, name, func(in io.Reader, out io.Writer) {
		guard := j.NewStdio(context.Background(), in, out)
		defer func() { _ = guard.Close() }()
		serve(guard, guard)
	})
}

// lineCarrier talks lines to whatever serve runs on.
func lineCarrier(t *testing.T, name string, serve func(in io.Reader, out io.Writer)) carrier {
	t.Helper()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	go serve(in, out)
	t.Cleanup(func() { _ = client.Close(); _ = answers.Close() })
	lines := make(chan string, 100)
	go func() {
		scanner := bufio.NewScanner(answers)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		close(lines)
	}()
	send := func(t *testing.T, message string) string {
		t.Helper()
		go func() { _, _ = io.WriteString(client, message+"\n"+ping+"\n") }()
		return untilPing(t, lines)
	}
	send(t, initialize)
	send(t, initialized)
	return carrier{name: name, send: send}
}

// untilPing collects what comes before the answer to a ping that was sent last.
func untilPing(t *testing.T, lines <-chan string) string {
	t.Helper()
	var got []string
	pinged := false
	for {
		wait := 20 * time.Second
		if pinged {
			wait = 50 * time.Millisecond // handlers answer in any order
		}
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatal("the session has ended")
			}
			if strings.Contains(line, `"sync-ping"`) {
				pinged = true
			} else {
				got = append(got, line)
			}
		case <-time.After(wait):
			if !pinged {
				t.Fatalf("no answer; so far %q", got)
			}
			return strings.Join(got, "\n")
		}
	}
}

// httpCarrier posts messages to a handler of streamable HTTP.
func httpCarrier(t *testing.T, name string, handler http.Handler) carrier {
	t.Helper()
	front := httptest.NewServer(handler)
	t.Cleanup(front.Close)
	session := ""
	send := func(t *testing.T, message string) string {
		t.Helper()
		request, _ := http.NewRequest(http.MethodPost, front.URL, strings.NewReader(message))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			request.Header.Set("Mcp-Session-Id", session)
			request.Header.Set("MCP-Protocol-Version", "2025-06-18")
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		if id := response.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
			if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
				return ""
			}
			return strings.TrimSpace(string(body))
		}
		var got []string
		for line := range strings.Lines(string(body)) {
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
				got = append(got, data)
			}
		}
		return strings.Join(got, "\n")
	}
	send(t, initialize)
	send(t, initialized)
	return carrier{name: name, send: send}
}

// sseCarrier posts to the endpoint that a stream names, and reads answers from the
// stream.
func sseCarrier(t *testing.T, name string, handler http.Handler, path string) carrier {
	t.Helper()
	front := httptest.NewServer(handler)
	ctx, cancel := context.WithCancel(context.Background())
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, front.URL+path, nil)
	request.Header.Set("Accept", "text/event-stream")
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = stream.Body.Close(); front.CloseClientConnections(); front.Close() })
	lines := make(chan string, 100)
	go func() {
		scanner := bufio.NewScanner(stream.Body)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			if data, ok := strings.CutPrefix(scanner.Text(), "data:"); ok {
				lines <- strings.TrimSpace(data)
			}
		}
		close(lines)
	}()
	endpoint := <-lines
	if !strings.HasPrefix(endpoint, "http") {
		endpoint = front.URL + endpoint
	}
	post := func(t *testing.T, message string) {
		t.Helper()
		response, err := http.Post(endpoint, "application/json", strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	send := func(t *testing.T, message string) string {
		t.Helper()
		post(t, message)
		post(t, ping)
		return untilPing(t, lines)
	}
	send(t, initialize)
	send(t, initialized)
	return carrier{name: name, send: send}
}
