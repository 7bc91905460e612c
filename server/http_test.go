package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

func newJudge(t *testing.T, options ...server.Option) *server.Judge {
	t.Helper()
	files := fstest.MapFS{
		"greet.json": {Data: []byte(`{"type": "object", "additionalProperties": false, "required": ["name"], "properties": {"name": {"type": "string"}}}`)},
		"slow.json":  {Data: []byte(`{"type": "object", "additionalProperties": false, "timeoutSeconds": 0.2}`)},
	}
	e, err := engine.New(context.Background(), engine.WithSchemas(files), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()))
	if err != nil {
		t.Fatal(err)
	}
	j, err := server.NewJudge(e, options...)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

const (
	pingMessage = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	goodCall    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`
	badCall     = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{}}}`
	modernCall  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"name":"greet","arguments":{"name":"Ada"}}}`
)

// seen is a handler that shows the body it got.
var seen = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("X-Type", r.Header.Get("Content-Type"))
	_, _ = w.Write(body)
})

func TestHTTPRules(t *testing.T) {
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	public := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
	modern := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "greet"}
	with := func(base map[string]string, changes ...string) map[string]string {
		headers := map[string]string{}
		for name, value := range base {
			headers[name] = value
		}
		for i := 0; i < len(changes); i += 2 {
			headers[changes[i]] = changes[i+1]
			if changes[i+1] == "" {
				delete(headers, changes[i])
			}
		}
		return headers
	}
	j := newJudge(t)
	for name, c := range map[string]struct {
		method, host, body string
		local              net.Addr
		headers            map[string]string
		options            []server.HTTPOption
		status             int
		answer             string // a part of it
	}{
		"good call":                   {body: goodCall, status: 200, answer: goodCall},
		"refused call":                {body: badCall, status: 200, answer: `"id":1,"error":{"code":-32602`},
		"no JSON":                     {body: `{`, status: 400, answer: `"id":null,"error":{"code":-32700`},
		"call without an id":          {body: strings.Replace(goodCall, `"id":1,`, "", 1), status: 400, answer: "needs an id"},
		"DELETE passes":               {method: "DELETE", status: 200},
		"GET passes":                  {method: "GET", status: 200},
		"OPTIONS passes":              {method: "OPTIONS", status: 200},
		"PUT":                         {method: "PUT", body: goodCall, status: 405},
		"PATCH":                       {method: "PATCH", body: goodCall, status: 405},
		"no type":                     {body: goodCall, headers: map[string]string{"Content-Type": ""}, status: 415},
		"text":                        {body: goodCall, headers: map[string]string{"Content-Type": "text/plain"}, status: 415},
		"JSON of another kind":        {body: goodCall, headers: map[string]string{"Content-Type": "application/json-patch+json"}, status: 415},
		"UTF-8":                       {body: goodCall, headers: map[string]string{"Content-Type": "application/json; charset=UTF-8"}, status: 200},
		"UTF-7":                       {body: goodCall, headers: map[string]string{"Content-Type": "application/json; charset=utf-7"}, status: 415},
		"UTF-16":                      {body: goodCall, headers: map[string]string{"Content-Type": "application/json; charset=utf-16le"}, status: 415},
		"another parameter":           {body: goodCall, headers: map[string]string{"Content-Type": "application/json; version=2"}, status: 415},
		"gzip":                        {body: goodCall, headers: map[string]string{"Content-Encoding": "gzip"}, status: 415},
		"identity":                    {body: goodCall, headers: map[string]string{"Content-Encoding": "identity"}, status: 415},
		"too long":                    {body: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", server.MaxMessageBytes) + `"}}`, status: 200, answer: `"id":1,"error":{"code":-32600,"message":"the message has more than 4194304 bytes"}`},
		"too long, no id":             {body: `{"x":"` + strings.Repeat("x", server.MaxMessageBytes) + `"}`, status: 400, answer: `"id":null`},
		"loopback by name":            {body: pingMessage, local: loopback, host: "localhost:8080", status: 200},
		"loopback by address":         {body: pingMessage, local: loopback, host: "127.0.0.1:8080", status: 200},
		"loopback by IPv6 address":    {body: pingMessage, local: loopback, host: "[::1]:8080", status: 200},
		"rebound name":                {body: pingMessage, local: loopback, host: "evil.example", status: 403},
		"rebound name, GET":           {method: "GET", local: loopback, host: "evil.example:8080", status: 403},
		"public address":              {body: pingMessage, local: public, host: "mcp.example", status: 200},
		"allowed host":                {body: pingMessage, local: public, host: "mcp.example:80", options: []server.HTTPOption{server.WithAllowedHosts("mcp.example")}, status: 200},
		"other host":                  {body: pingMessage, local: public, host: "evil.example", options: []server.HTTPOption{server.WithAllowedHosts("mcp.example")}, status: 403},
		"same origin":                 {body: pingMessage, host: "mcp.example", headers: map[string]string{"Origin": "https://mcp.example"}, status: 200},
		"other origin":                {body: pingMessage, host: "mcp.example", headers: map[string]string{"Origin": "https://evil.example"}, status: 403},
		"null origin":                 {body: pingMessage, host: "mcp.example", headers: map[string]string{"Origin": "null"}, status: 403},
		"allowed origin":              {body: pingMessage, host: "mcp.example", headers: map[string]string{"Origin": "https://app.example"}, options: []server.HTTPOption{server.WithAllowedOrigins("https://app.example")}, status: 200},
		"modern call":                 {body: modernCall, headers: modern, status: 200, answer: modernCall},
		"name in base64":              {body: modernCall, headers: with(modern, "Mcp-Name", "=?base64?Z3JlZXQ=?="), status: 200},
		"other name in base64":        {body: modernCall, headers: with(modern, "Mcp-Name", "=?base64?Z3JlZXR4?="), status: 400, answer: `"id":1,"error":{"code":-32020,"message":"the header Mcp-Name disagrees with the body"}`},
		"name in broken base64":       {body: modernCall, headers: with(modern, "Mcp-Name", "=?base64?%%?="), status: 400, answer: `-32020`},
		"other name":                  {body: modernCall, headers: with(modern, "Mcp-Name", "other"), status: 400, answer: `-32020`},
		"other method":                {body: modernCall, headers: with(modern, "Mcp-Method", "ping"), status: 400, answer: `"the header Mcp-Method disagrees with the body"`},
		"other version":               {body: modernCall, headers: with(modern, "MCP-Protocol-Version", "2025-11-25"), status: 400, answer: `"the header MCP-Protocol-Version disagrees with the body"`},
		"no name":                     {body: modernCall, headers: with(modern, "Mcp-Name", ""), status: 400, answer: `-32020`},
		"no method":                   {body: modernCall, headers: with(modern, "Mcp-Method", ""), status: 400, answer: `-32020`},
		"no version":                  {body: modernCall, headers: with(modern, "MCP-Protocol-Version", ""), status: 400, answer: `-32020`},
		"version in the header alone": {body: goodCall, headers: modern, status: 400, answer: `-32020`},
		"earlier revision":            {body: goodCall, headers: map[string]string{"MCP-Protocol-Version": "2025-11-25"}, status: 200},
		"earlier, with a wrong name":  {body: goodCall, headers: map[string]string{"MCP-Protocol-Version": "2025-11-25", "Mcp-Name": "other"}, status: 400, answer: `-32020`},
		"an answer of the client":     {body: `{"jsonrpc":"2.0","id":5,"result":{}}`, headers: map[string]string{"MCP-Protocol-Version": "2025-11-25"}, status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			if c.method == "" {
				c.method = "POST"
			}
			r := httptest.NewRequest(c.method, "/mcp", strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/json")
			for name, value := range c.headers {
				if r.Header.Set(name, value); value == "" {
					r.Header.Del(name)
				}
			}
			if c.host != "" {
				r.Host = c.host
			}
			if c.local != nil {
				r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.local))
			}
			w := httptest.NewRecorder()
			j.HTTP(seen, c.options...).ServeHTTP(w, r)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.answer) {
				t.Errorf("%d %.300s, want %d %s", w.Code, w.Body, c.status, c.answer)
			}
			if kind := w.Header().Get("X-Type"); c.method == "POST" && c.status == 200 && kind != "" && kind != "application/json" {
				t.Errorf("the handler gets the type %q", kind)
			}
		})
	}
}

// withheld is what is passed on in the place of a list that cannot be read.
func withheld(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":"the server's list of tools cannot be read, so it is not passed on"}}`
}

// A stream goes through as it comes, but for lists of tools.
func TestEventStreams(t *testing.T) {
	list := `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"greet","inputSchema":{}},{"name":"other","inputSchema":{}}],"ttlMs":5}}`
	enforced := `{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string"}}}`
	j := newJudge(t)
	rewritten := `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"greet","inputSchema":` + enforced + `}],"ttlMs":5}}`
	for name, c := range map[string]struct{ written, want string }{
		"other events":        {"event: message\r\nid: 7\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\r\n\r\n: ping\n\nretry: 5\n\n", ""},
		"a list":              {"event: message\nid: 7\ndata: " + list + "\n\ndata: {}\n\n", "event: message\nid: 7\ndata: " + rewritten + "\n\ndata: {}\n\n"},
		"carriage returns":    {"id: 7\rdata: " + list + "\r\rdata: {}\r\r", "id: 7\ndata: " + rewritten + "\n\ndata: {}\r\r"},
		"in two data lines":   {"data: " + strings.Replace(list, `,"result"`, ",\ndata: \"result\"", 1) + "\n\n", "data: " + strings.Replace(rewritten, `,"result"`, ",\ndata: \"result\"", 1) + "\n\n"},
		"not ended":           {"data: {}", ""},
		"of another type":     {"event: other\ndata: " + list + "\n\ndata: {}\n\n", "event: other\ndata: " + rewritten + "\n\ndata: {}\n\n"},
		"of an empty type":    {"event:\ndata: " + list + "\n\n", "event:\ndata: " + rewritten + "\n\n"},
		"not ended, a list":   {"data: " + list, "data: " + rewritten + "\n\n"},
		"byte order mark":     {"\xef\xbb\xbfdata: " + list + "\n\n", "data: " + rewritten + "\n\n"},
		"mark in the data":    {"data: \xef\xbb\xbf" + list + "\n\n", "data: " + withheld("1") + "\n\n"},
		"no JSON":             {"event: ping\ndata: 2026-12-01\n\n", ""},
		"a list with a fault": {"data: " + strings.Replace(list, `"ttlMs"`, `"tools":[],"ttlMs"`, 1) + "\n\n", "data: " + withheld("1") + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, chunk := range []int{1, 3, 1 << 20} {
				handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					for text := c.written; text != ""; {
						n := min(chunk, len(text))
						_, _ = io.WriteString(w, text[:n])
						w.(http.Flusher).Flush()
						text = text[n:]
					}
				})
				want := c.want
				if want == "" {
					want = c.written
				}
				for _, method := range []string{"POST", "GET"} {
					r := httptest.NewRequest(method, "/mcp", strings.NewReader(pingMessage))
					r.Header.Set("Content-Type", "application/json")
					w := httptest.NewRecorder()
					j.HTTP(handler).ServeHTTP(w, r)
					if got := w.Body.String(); got != want {
						t.Errorf("%s in parts of %d: %q\nwant %q", method, chunk, got, want)
					}
				}
			}
		})
	}
}

// A handler whose time is over may be anywhere; the caller gets one answer.
func TestHTTPTimeouts(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`
	const over = `{"jsonrpc":"2.0","id":1,"error":{"code":-31001,"message":"tool \"slow\" did not answer within its limit of 200ms; the outcome is unknown, it may still take effect"}}`
	const done = `{"jsonrpc":"2.0","id":1,"result":{}}`
	sleep := func(r *http.Request) { <-r.Context().Done(); time.Sleep(10 * time.Millisecond) }
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"before anything": {func(w http.ResponseWriter, r *http.Request) {
			sleep(r)
			_, _ = io.WriteString(w, "too late")
		}, over},
		"within a JSON body": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":`)
			sleep(r)
			_, _ = io.WriteString(w, `"2.0"}`)
		}, over},
		"within a stream": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
			sleep(r)
			_, _ = io.WriteString(w, "data: "+done+"\n\n")
		}, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\nevent: message\ndata: " + over + "\n\n"},
		"after the answer in a stream": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: "+done+"\n\n")
			sleep(r)
		}, "data: " + done + "\n\n"},
		"in time": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, done)
		}, done},
	} {
		t.Run(name, func(t *testing.T) {
			var later atomic.Bool
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !later.Swap(true) { // then comes the cancellation
					c.handler(w, r)
				}
			})
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(call))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			newJudge(t).HTTP(handler).ServeHTTP(w, r)
			time.Sleep(30 * time.Millisecond) // for what the handler writes too late
			if got := w.Body.String(); got != c.want || w.Code != 200 {
				t.Errorf("%d %q\nwant %q", w.Code, got, c.want)
			}
		})
	}
}
