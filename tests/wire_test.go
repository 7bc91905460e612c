package tests

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/mcpsdk"
)

// What has to become of a message.
const (
	reaches  = "reaches the handler"
	passes   = "passes" // to the server, which does with it what it likes
	dropped  = "dropped"
	answered = "answered here"
)

type wireMessage struct {
	message string
	want    string
	code    int    // of the error it is answered with
	id      string // raw, in the answer
	errors  string // what data.errors has to hold; "" where there is no data
}

func call(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

func refusedCall(message, path, reason string) wireMessage {
	entry, _ := json.Marshal(map[string]string{"path": path, "reason": reason})
	return wireMessage{message: message, want: answered, code: -32602, id: `7`, errors: `[` + string(entry) + `]`}
}

func notACall(message string, code int, id string) wireMessage {
	return wireMessage{message: message, want: answered, code: code, id: id}
}

const good = `{"goal":"write the notes"}`

// wireMessages is what every carrier has to treat alike.
func wireMessages() map[string]wireMessage {
	reached := func(message string) wireMessage { return wireMessage{message: message, want: reaches} }
	return map[string]wireMessage{
		"good call":               reached(call("bernstein_run", good)),
		"no arguments":            reached(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"bernstein_status"}}`),
		"escapes in the method":   reached(`{"jsonrpc":"2.0","id":7,"method":"tools\/c\u0061ll","params":{"name":"bernstein_run","arguments":` + good + `}}`),
		"escapes in a key":        reached(`{"jsonrpc":"2.0","id":7,"m\u0065thod":"tools/call","params":{"name":"bernstein_run","\u0061rguments":` + good + `}}`),
		"string id":               reached(`{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"bernstein_run","arguments":` + good + `}}`),
		"white space":             reached(" \t" + strings.Replace(call("bernstein_run", good), ":", " : ", 1) + " "),
		"meta":                    reached(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":"p"},"name":"bernstein_run","arguments":` + good + `}}`),
		"other members":           reached(`{"jsonrpc":"2.0","extra":[1],"id":7,"method":"tools/call","params":{"x":{"y":1},"name":"bernstein_run","arguments":` + good + `}}`),
		"empty string id":         reached(`{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"name":"bernstein_run","arguments":` + good + `}}`),
		"negative id":             reached(`{"jsonrpc":"2.0","id":-3,"method":"tools/call","params":{"name":"bernstein_run","arguments":` + good + `}}`),
		"integral float":          reached(call("bernstein_run", `{"goal":"x","priority":2.0}`)),
		"fraction":                refusedCall(call("bernstein_run", `{"goal":"x","priority":1.5}`), "/priority", "is a number but must be an integer"),
		"lone surrogate":          refusedCall(call("bernstein_run", `{"goal":"\ud800"}`), "/goal", "malformed JSON at byte 9: a surrogate escape has no partner"),
		"huge exponent":           refusedCall(call("bernstein_run", `{"goal":"x","priority":1e999}`), "/priority", "malformed JSON at byte 23: the exponent of a number is beyond 308"),
		"delete character in key": {message: call("bernstein_run", `{"goal":"x","\u007f":1}`), want: answered, code: -32602, id: `7`, errors: `[{"path":"/\\u{7f}","reason":"the key has 1 forbidden control character: U+007F"},{"path":"/\\u{7f}","reason":"unexpected property; the schema allows no others"}]`},
		"unknown role":            refusedCall(call("bernstein_create_subtask", `{"parent_task_id":"p","goal":"g","role":"poet"}`), "/role", `"poet" is not one of adversary, analyst, architect, backend, ci-fixer, data, devops, docs, frontend, manager, ml-engineer, prompt-engineer, qa, resolver, retrieval, reviewer, security, visionary, vp`),
		"ping":                    {message: `{"jsonrpc":"2.0","id":8,"method":"ping"}`, want: passes},
		"unknown method":          {message: `{"jsonrpc":"2.0","id":8,"method":"no/such"}`, want: passes},
		"a notification":          {message: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, want: passes},
		"unknown tool":            {message: call("nobody", `{}`), want: answered, code: -32601, id: `7`, errors: `[{"path":"","reason":"no schema is registered for a tool of this name"}]`},
		"unregistered tool":       {message: call("unregistered", `{}`), want: answered, code: -32601, id: `7`, errors: `[{"path":"","reason":"no schema is registered for a tool of this name"}]`},
		"tool in another case":    {message: call("Bernstein_run", `{}`), want: answered, code: -32601, id: `7`, errors: `[{"path":"","reason":"no schema is registered for a tool of this name"}]`},
		"name is a number":        {message: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}`, want: answered, code: -32601, id: `7`, errors: `[{"path":"","reason":"the tool name is missing, empty or not a string"}]`},
		"no params":               {message: `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, want: answered, code: -32601, id: `7`, errors: `[{"path":"","reason":"the tool name is missing, empty or not a string"}]`},
		"params is a list":        notACall(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["bernstein_run"]}`, -32600, `7`),
		"params is null":          notACall(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":null}`, -32600, `7`),
		"missing member":          refusedCall(call("bernstein_run", `{}`), "/goal", "required property is missing"),
		"too large number":        refusedCall(call("bernstein_run", `{"goal":"x","priority":9}`), "/priority", "is 9 but must be at most 3"),
		"smuggled member":         refusedCall(call("bernstein_run", `{"goal":"x","smuggle":1}`), "/smuggle", "unexpected property; the schema allows no others"),
		"control character":       refusedCall(call("bernstein_run", `{"goal":"\u001b[2J"}`), "/goal", "the string has 1 forbidden control character: U+001B"),
		"null arguments":          refusedCall(call("bernstein_run", `null`), "", "arguments must be a JSON object, not null"),
		"arguments is a list":     refusedCall(call("bernstein_run", `[]`), "", "arguments must be a JSON object, not an array"),
		"arguments is a string":   refusedCall(call("bernstein_run", `"{}"`), "", "arguments must be a JSON object, not a string"),
		"key twice":               refusedCall(call("bernstein_run", `{"goal":"x","goal":"y"}`), "/goal", "malformed JSON at byte 12: this key appears twice in its object"),
		"key twice by escape":     refusedCall(call("bernstein_run", `{"goal":"x","g\u006fal":"y"}`), "/goal", "malformed JSON at byte 12: this key appears twice in its object"),
		"too deep":                refusedCall(call("bernstein_run", strings.Repeat(`{"a":`, 11)+`1`+strings.Repeat(`}`, 11)), "/a/a/a/a/a/a/a/a/a/a/a", "values are nested 11 levels deep but at most 10 are allowed"),
		"too large":               refusedCall(call("bernstein_run", `{"goal":"`+strings.Repeat("x", 65_536)+`"}`), "", "arguments have 65547 bytes but at most 65536 are allowed"),
		"not JSON":                notACall(`hello`, -32700, `null`),
		"cut off":                 notACall(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"bernstein_run"`, -32700, `7`),
		"byte order mark":         notACall("\xef\xbb\xbf"+call("bernstein_run", good), -32700, `7`),
		"not UTF-8":               notACall(call("bernstein_run", "{\"goal\":\"\xff\"}"), -32700, `7`),
		"two values":              notACall(call("bernstein_run", good)+call("bernstein_run", good), -32700, `7`),
		"batch":                   notACall(`[`+call("bernstein_run", good)+`]`, -32600, `null`),
		"empty batch":             notACall(`[]`, -32600, `null`),
		"a number":                notACall(`7`, -32600, `null`),
		"method in another case":  notACall(`{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/call","params":{"name":"bernstein_run","arguments":{}}}`, -32600, `7`),
		"method twice":            notACall(`{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}`, -32600, `7`),
		"method twice by escape":  notACall(`{"jsonrpc":"2.0","id":7,"method":"ping","m\u0065thod":"tools/call"}`, -32600, `7`),
		"id twice":                notACall(`{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, -32600, `null`),
		"name in another case":    notACall(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"bernstein_run","NAME":"bernstein_stop","arguments":`+good+`}}`, -32600, `7`),
		"arguments twice":         notACall(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"bernstein_run","arguments":`+good+`,"arguments":{}}}`, -32600, `7`),
		"arguments with a long s": notACall(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"bernstein_run","arguments":`+good+`,"argumentſ":{}}}`, -32600, `7`),
		"Kelvin sign in a task":   notACall("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"bernstein_run\",\"arguments\":"+good+",\"tas\u212a\":{}}}", -32600, `7`),
		"method is a number":      notACall(`{"jsonrpc":"2.0","id":7,"method":5}`, -32600, `7`),
		"no id":                   {message: `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"bernstein_run","arguments":` + good + `}}`, want: dropped},
		"null id":                 {message: `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"bernstein_run","arguments":` + good + `}}`, want: dropped},
		"object id":               {message: `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"bernstein_run","arguments":` + good + `}}`, want: dropped},
		"boolean id":              {message: `{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{"name":"bernstein_run","arguments":` + good + `}}`, want: dropped},
		"odd id, refused":         {message: `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"bernstein_run"}}`, want: answered, code: -32602, id: `9007199254740993`, errors: `[{"path":"/goal","reason":"required property is missing"}]`},
		"fraction id, refused":    {message: `{"jsonrpc":"2.0","id":1.50,"method":"tools/call","params":{"name":"bernstein_run"}}`, want: answered, code: -32602, id: `1.50`, errors: `[{"path":"/goal","reason":"required property is missing"}]`},
		"escaped id, refused":     {message: `{"jsonrpc":"2.0","id":"\u0061<","method":"tools/call","params":{"name":"bernstein_run"}}`, want: answered, code: -32602, id: `"\u0061<"`, errors: `[{"path":"/goal","reason":"required property is missing"}]`},
	}
}

// wireAnswer is what came back.
type wireAnswer struct {
	ID    json.RawMessage
	Error *struct {
		Code int
		Data struct{ Errors json.RawMessage }
	}
	Result json.RawMessage
}

// check compares what came back, and how many calls reached a handler, with what has to
// become of the message.
func (m wireMessage) check(t *testing.T, reply string, reached int64) {
	t.Helper()
	want := int64(0)
	if m.want == reaches {
		want = 1
	}
	if reached != want {
		t.Errorf("%d calls reached the handler, want %d; the answer is %s", reached, want, reply)
	}
	if m.want == passes {
		return
	}
	if m.want == dropped {
		if reply != "" {
			t.Errorf("answered with %s", reply)
		}
		return
	}
	var a wireAnswer
	if err := json.Unmarshal([]byte(reply), &a); err != nil {
		t.Fatalf("the answer %q: %v", reply, err)
	}
	if m.want == reaches {
		if a.Error != nil || !strings.Contains(string(a.Result), text) {
			t.Errorf("answered with %s", reply)
		}
		return
	}
	if a.Error == nil || a.Error.Code != m.code || string(a.ID) != m.id {
		t.Fatalf("answered with %s, want code %d for id %s", reply, m.code, m.id)
	}
	if diff := cmp.Diff(m.errors, string(a.Error.Data.Errors)); diff != "" {
		t.Errorf("data.errors (-want +got):\n%s", diff)
	}
}

// readBySDK are messages whose envelope the official SDK reads before the adapter: it
// closes the session, answers in its own words, or takes them for another message.
var readBySDK = []string{
	"not JSON", "cut off", "byte order mark", "not UTF-8", "two values", "white space", "batch", "empty batch", "a number",
	"method in another case", "method twice", "method twice by escape", "method is a number", "id twice",
	"null id", "object id", "boolean id", "odd id, refused", "fraction id, refused", "escaped id, refused",
}

// paramsReadBySDK are those whose params it reads before its middleware. And it has its
// own words for every -32601.
var paramsReadBySDK = []string{
	"params is a list", "params is null", "no params", "name is a number", "name in another case", "arguments twice", "arguments with a long s", "Kelvin sign in a task",
	"unknown tool", "unregistered tool", "tool in another case",
}

func TestParity(t *testing.T) {
	j, e := newJudge(t)
	messages := wireMessages()
	t.Run("judge", func(t *testing.T) {
		for name, m := range messages {
			t.Run(name, func(t *testing.T) {
				d := j.Judge(context.Background(), []byte(m.message))
				reply, reached := "", int64(0)
				switch d.Action {
				case server.Forward:
					if string(d.Message) != strings.TrimSpace(m.message) {
						t.Errorf("forwards %s", d.Message)
					}
					reached = 1
					reply = `{"result":"` + text + `"}`
					if m.want == passes {
						return
					}
				case server.Reply:
					reply = string(d.Message)
				case server.Drop:
				}
				m.check(t, reply, reached)
			})
		}
	})
	var c calls
	for _, carrier := range append(gatewayCarriers(j, e, &c), []func(t *testing.T) carrier{
		func(t *testing.T) carrier {
			return stdioCarrier(t, "stdio, go-sdk", j, func(in io.Reader, out io.Writer) {
				_ = newGoSDK(e, &c).Run(context.Background(), &mcp.IOTransport{Reader: io.NopCloser(in), Writer: writeCloser{out}})
			})
		},
		func(t *testing.T) carrier {
			return stdioCarrier(t, "stdio, mcp-go", j, func(in io.Reader, out io.Writer) {
				_ = mcpgoserver.NewStdioServer(newMCPGo(e, &c)).Listen(context.Background(), in, out)
			})
		},
		func(t *testing.T) carrier {
			s := newGoSDK(e, &c)
			return httpCarrier(t, "HTTP with sessions, go-sdk", j.HTTP(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)))
		},
		func(t *testing.T) carrier {
			s := newGoSDK(e, &c)
			return httpCarrier(t, "HTTP without sessions, go-sdk", j.HTTP(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})))
		},
		func(t *testing.T) carrier {
			return httpCarrier(t, "HTTP with sessions, mcp-go", j.HTTP(mcpgoserver.NewStreamableHTTPServer(newMCPGo(e, &c))))
		},
		func(t *testing.T) carrier {
			return httpCarrier(t, "HTTP without sessions, mcp-go", j.HTTP(mcpgoserver.NewStreamableHTTPServer(newMCPGo(e, &c), mcpgoserver.WithStateLess(true))))
		},
		func(t *testing.T) carrier {
			s := newGoSDK(e, &c)
			return sseCarrier(t, "SSE, go-sdk", j.HTTP(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)), "/")
		},
		func(t *testing.T) carrier {
			return sseCarrier(t, "SSE, mcp-go", j.HTTP(mcpgoserver.NewSSEServer(newMCPGo(e, &c))), "/sse")
		},
		func(t *testing.T) carrier {
			c := lineCarrier(t, "transport of the SDK adapter", func(in io.Reader, out io.Writer) {
				_ = newGoSDK(e, &c).Run(context.Background(), mcpsdk.Transport(j, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: writeCloser{out}}))
			})
			c.except = readBySDK
			return c
		},
		func(t *testing.T) carrier {
			s := newGoSDK(e, &c)
			s.AddReceivingMiddleware(mcpsdk.Middleware(j))
			c := httpCarrier(t, "middleware of the SDK adapter", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
			c.except = slices.Concat(readBySDK, paramsReadBySDK)
			return c
		},
	}...) {
		carrier := carrier(t)
		t.Run(carrier.name, func(t *testing.T) {
			for name, m := range messages {
				if slices.Contains(carrier.except, name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					before := c.n.Load()
					reply := carrier.send(t, m.message)
					m.check(t, reply, c.n.Load()-before)
				})
			}
		})
	}
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }
