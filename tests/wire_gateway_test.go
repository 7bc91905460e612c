package tests

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/gateway"
)

// countVariable has the test binary be a server on its standard streams, which adds a
// byte to the file of that name for each call that reaches a handler.
const countVariable = "SALLYPORT_TEST_COUNT"

func TestMain(m *testing.M) {
	name := os.Getenv(countVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	e, err := engine.New(context.Background(), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()))
	if err != nil {
		panic(err)
	}
	c := calls{reached: func() {
		file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString("x")
		}
		if err != nil {
			panic(err)
		}
		_ = file.Close()
	}}
	_ = mcpgoserver.NewStdioServer(newMCPGo(e, &c)).Listen(context.Background(), os.Stdin, os.Stdout)
}

// counting runs this binary as a server, and has c count what reaches its handlers.
func counting(t *testing.T, c *calls, make func(gateway.Command) carrier) carrier {
	t.Helper()
	file := filepath.Join(t.TempDir(), "count")
	count := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	made := make(gateway.Command{Path: os.Args[0], Env: append(os.Environ(), countVariable+"="+file), Stderr: io.Discard})
	send, seen := made.send, count()
	made.send = func(t *testing.T, message string) string {
		t.Helper()
		reply := send(t, message)
		now := count()
		c.n.Add(now - seen)
		seen = now
		return reply
	}
	return made
}

// gatewayCarriers are the ways in which the gateway stands in front of a server.
func gatewayCarriers(j *server.Judge, e *engine.Engine, c *calls) []func(t *testing.T) carrier {
	prepared := func() (*server.Judge, error) { return j, nil }
	proxy := func(t *testing.T, back *httptest.Server, path string) http.Handler {
		t.Helper()
		t.Cleanup(func() { back.CloseClientConnections(); back.Close() })
		target, err := gateway.ParseUpstream(back.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		return gateway.NewProxy(gateway.Upstream{URL: target}, j, zap.NewNop())
	}
	return []func(t *testing.T) carrier{
		func(t *testing.T) carrier {
			return counting(t, c, func(command gateway.Command) carrier {
				return lineCarrier(t, "gateway, command on stdio", func(in io.Reader, out io.Writer) {
					_, _ = gateway.Stdio(context.Background(), command, in, out, prepared)
				})
			})
		},
		func(t *testing.T) carrier {
			return counting(t, c, func(command gateway.Command) carrier {
				bridge := gateway.NewBridge(command, 0, 0, zap.NewNop())
				t.Cleanup(bridge.Close)
				return httpCarrier(t, "gateway, command over HTTP", j.HTTP(bridge))
			})
		},
		func(t *testing.T) carrier {
			s := newGoSDK(e, c)
			back := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
			return httpCarrier(t, "gateway, HTTP with sessions, go-sdk", proxy(t, back, "/"))
		},
		func(t *testing.T) carrier {
			back := httptest.NewServer(mcpgoserver.NewStreamableHTTPServer(newMCPGo(e, c), mcpgoserver.WithStateLess(true)))
			return httpCarrier(t, "gateway, HTTP without sessions, mcp-go", proxy(t, back, "/mcp"))
		},
		func(t *testing.T) carrier {
			back := httptest.NewServer(mcpgoserver.NewSSEServer(newMCPGo(e, c)))
			return sseCarrier(t, "gateway, SSE, mcp-go", proxy(t, back, "/sse"), "/sse")
		},
	}
}
