package mcpsdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/mcpsdk"
)

const (
	greet = `{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string","maxLength":5},"tags":{"type":"array"}}}`
	sleep = `{"type":"object","additionalProperties":false,"timeoutSeconds":0.15}`
)

func newEngine(t *testing.T, schemas map[string]string, options ...engine.Option) *engine.Engine {
	t.Helper()
	files := fstest.MapFS{}
	for name, schema := range schemas {
		files[name+".json"] = &fstest.MapFile{Data: []byte(schema)}
	}
	options = append(options, engine.WithSchemas(files), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()))
	e, err := engine.New(context.Background(), options...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// embedded is a server with a judge in it, and a client that talks to it.
type embedded struct {
	client *mcp.ClientSession
	calls  atomic.Int64
	last   atomic.Value // the arguments of the last call
}

func (m *embedded) server(t *testing.T, e *engine.Engine) *mcp.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "embedded", Version: "1"}, nil)
	handle := func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		m.calls.Add(1)
		m.last.Store(string(request.Params.Arguments))
		if request.Params.Name == "sleep" {
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Second):
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
	}
	for _, name := range e.Tools() {
		if err := mcpsdk.AddTool(s, e, &mcp.Tool{Name: name}, handle); err != nil {
			t.Fatal(err)
		}
	}
	s.AddTool(&mcp.Tool{Name: "hidden", InputSchema: json.RawMessage(`{"type":"object"}`)}, handle)
	return s
}

// connect puts the judge in one of its two places.
func connect(t *testing.T, place string, e *engine.Engine, options ...server.Option) *embedded {
	t.Helper()
	j, err := server.NewJudge(e, options...)
	if err != nil {
		t.Fatal(err)
	}
	m := &embedded{}
	s := m.server(t, e)
	near, far := mcp.NewInMemoryTransports()
	transport := mcp.Transport(far)
	if place == "transport" {
		transport = mcpsdk.Transport(j, far)
	} else {
		s.AddReceivingMiddleware(mcpsdk.Middleware(j))
	}
	ctx := context.Background()
	session, err := s.Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.client, err = mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.client.Close(); _ = session.Wait() })
	return m
}

func eachPlace(t *testing.T, test func(t *testing.T, place string)) {
	for _, place := range []string{"transport", "middleware"} {
		t.Run(place, func(t *testing.T) { test(t, place) })
	}
}

func (m *embedded) call(tool, arguments string) (*mcp.CallToolResult, error) {
	return m.client.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
}

func TestCalls(t *testing.T) {
	e := newEngine(t, map[string]string{"greet": greet})
	eachPlace(t, func(t *testing.T, place string) {
		m := connect(t, place, e)
		result, err := m.call("greet", `{"name":"Ada"}`)
		if err != nil || result.IsError || m.calls.Load() != 1 {
			t.Fatalf("%v, %v, %d calls", result, err, m.calls.Load())
		}
		if got := m.last.Load(); got != `{"name":"Ada"}` {
			t.Errorf("the handler sees %s", got)
		}
		_, err = m.call("greet", `{"name":"Ada Lovelace","x":1}`)
		var refused *jsonrpc.Error
		if !errors.As(err, &refused) || refused.Code != -32602 {
			t.Fatalf("%v", err)
		}
		var data struct{ Errors []engine.Violation }
		if err := json.Unmarshal(refused.Data, &data); err != nil {
			t.Fatal(err)
		}
		want := []engine.Violation{{Path: "/name", Reason: "has 12 characters but at most 5 are allowed"}, {Path: "/x", Reason: "unexpected property; the schema allows no others"}}
		if diff := cmp.Diff(want, data.Errors, cmp.Comparer(func(a, b engine.Violation) bool { return a.Path == b.Path && a.Reason == b.Reason })); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		_, err = m.call("hidden", `{}`)
		if !errors.As(err, &refused) || refused.Code != -32601 {
			t.Fatalf("a tool that is not registered: %v", err)
		}
		// The SDK keeps the data of this code only below it, see the package comment.
		if keeps := strings.Contains(string(refused.Data), "no schema is registered"); keeps != (place == "transport") {
			t.Errorf("data of an unknown tool: %s", refused.Data)
		}
		if n := m.calls.Load(); n != 1 {
			t.Errorf("%d calls reached a handler, want 1", n)
		}
	})
}

func TestRefusalsAsToolResults(t *testing.T) {
	e := newEngine(t, map[string]string{"greet": greet})
	eachPlace(t, func(t *testing.T, place string) {
		m := connect(t, place, e, server.WithRejections(server.ToolResults))
		result, err := m.call("greet", `{}`)
		if err != nil || !result.IsError {
			t.Fatalf("%v, %v", result, err)
		}
		text, _ := json.Marshal(result.Content)
		structured, _ := json.Marshal(result.StructuredContent)
		if !strings.Contains(string(text), "/name: required property is missing") || string(structured) != `{"errors":[{"path":"/name","reason":"required property is missing"}],"tool":"greet"}` {
			t.Errorf("%s, %s", text, structured)
		}
		var refused *jsonrpc.Error
		if _, err := m.call("hidden", `{}`); !errors.As(err, &refused) || refused.Code != -32601 {
			t.Errorf("a tool that is not registered: %v", err)
		}
	})
}

func TestRepairedArgumentsReachTheHandler(t *testing.T) {
	e := newEngine(t, map[string]string{"greet": greet}, engine.WithUnwrapJSONStrings("greet"))
	eachPlace(t, func(t *testing.T, place string) {
		m := connect(t, place, e)
		if _, err := m.call("greet", `{"name":"Ada","tags":"[1.50]"}`); err != nil {
			t.Fatal(err)
		}
		if got := m.last.Load(); got != `{"name":"Ada","tags":[1.50]}` {
			t.Errorf("the handler sees %s", got)
		}
	})
}

func TestListedToolsAreTheRegisteredOnes(t *testing.T) {
	e := newEngine(t, map[string]string{"greet": greet, "sleep": sleep})
	eachPlace(t, func(t *testing.T, place string) {
		m := connect(t, place, e)
		list, err := m.client.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if tool.Name == "sleep" {
				if schema, _ := tool.InputSchema.(map[string]any); schema["timeoutSeconds"] != 0.15 {
					t.Errorf("sleep has the schema %v", tool.InputSchema)
				}
			}
		}
		if diff := cmp.Diff([]string{"greet", "sleep"}, names); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestTimeouts(t *testing.T) {
	e := newEngine(t, map[string]string{"greet": greet, "sleep": sleep})
	eachPlace(t, func(t *testing.T, place string) {
		m := connect(t, place, e)
		_, err := m.call("sleep", `{}`)
		want := `tool "sleep" did not answer within its limit of 150ms; the outcome is unknown, it may still take effect`
		var refused *jsonrpc.Error
		if !errors.As(err, &refused) || refused.Message != want {
			t.Fatalf("got %v", err)
		}
		if _, err := m.call("greet", `{"name":"Ada"}`); err != nil {
			t.Errorf("the next call: %v", err)
		}
		// A caller that cancels while the bound runs out.
		for range 20 {
			ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
			_, err := m.client.CallTool(ctx, &mcp.CallToolParams{Name: "sleep", Arguments: json.RawMessage(`{}`)})
			cancel()
			if err == nil {
				t.Fatal("a call that sleeps has a result")
			}
		}
		if _, err := m.call("greet", `{"name":"Ada"}`); err != nil {
			t.Errorf("the last call: %v", err)
		}
	})
}

func TestAddTool(t *testing.T) {
	e := newEngine(t, map[string]string{"greet": greet})
	s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	if err := mcpsdk.AddTool(s, e, &mcp.Tool{Name: "nobody"}, nil); err == nil || err.Error() != `tool "nobody" is not registered with the engine` {
		t.Errorf("%v", err)
	}
	if err := mcpsdk.AddTool(s, e, &mcp.Tool{Name: "greet", InputSchema: json.RawMessage(`{}`)}, nil); err == nil || err.Error() != `tool "greet": leave InputSchema to the engine` {
		t.Errorf("%v", err)
	}
}

func TestCheckParity(t *testing.T) {
	handler := func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil }
	for name, c := range map[string]struct {
		enforced, served map[string]string
		want             string
	}{
		"alike":                   {map[string]string{"a": greet, "b": sleep}, map[string]string{"a": greet, "b": sleep}, ""},
		"not served":              {map[string]string{"a": greet, "b": sleep}, map[string]string{"a": greet}, `tool "b" has a schema but is not served`},
		"without a schema":        {map[string]string{"a": greet}, map[string]string{"a": greet, "b": sleep}, `tool "b" is served but has no schema`},
		"tightened in the engine": {map[string]string{"a": strings.Replace(greet, `"maxLength":5`, `"maxLength":4`, 1)}, map[string]string{"a": greet}, `tool "a": the advertised schema is not the enforced one: widened /properties/name/maxLength: maxLength raised from 4 to 5`},
		"tightened in the server": {map[string]string{"a": greet}, map[string]string{"a": strings.Replace(greet, `"maxLength":5`, `"maxLength":4`, 1)}, `tool "a": the advertised schema is not the enforced one: narrowed /properties/name/maxLength: maxLength lowered from 5 to 4`},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, c.enforced)
			s := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
			for tool, schema := range c.served {
				s.AddTool(&mcp.Tool{Name: tool, InputSchema: json.RawMessage(schema)}, handler)
			}
			got := ""
			if err := mcpsdk.CheckParity(context.Background(), s, e); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
