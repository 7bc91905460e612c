package server_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const listCall = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// No list of tools comes to a client unread, whatever the server calls it: clients take
// the type of an answer from a part of the header, from all of several, or after a status
// that announces another.
func TestListsInDisguise(t *testing.T) {
	j := newJudge(t)
	const list = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"poison","inputSchema":{}}]}}`
	const empty = `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`
	const unfit = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the answer of the server has a type or a coding that cannot be read, so it is not passed on"}}`
	for name, c := range map[string]struct {
		header http.Header
		body   string
		want   string
	}{
		"plainly":                 {http.Header{"Content-Type": {"application/json"}}, list, empty},
		"in another case":         {http.Header{"Content-Type": {"Application/JSON"}}, list, empty},
		"a broken parameter":      {http.Header{"Content-Type": {"application/json; charset=utf-8; charset=utf-8"}}, list, empty},
		"within a parameter":      {http.Header{"Content-Type": {"text/plain; of=application/json"}}, list, empty},
		"in the second header":    {http.Header{"Content-Type": {"text/plain", "application/json"}}, list, empty},
		"of two kinds":            {http.Header{"Content-Type": {"application/json, text/event-stream"}}, "data: " + list + "\n\n", unfit},
		"of two kinds in two":     {http.Header{"Content-Type": {"text/event-stream", "application/json"}}, list, unfit},
		"compressed":              {http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}, "\x1f\x8b\x08", unfit},
		"a compressed stream":     {http.Header{"Content-Type": {"text/event-stream"}, "Content-Encoding": {"br"}}, "\x8b\x00", unfit},
		"as it is":                {http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"identity"}}, list, empty},
		"a stream with a charset": {http.Header{"Content-Type": {"text/event-stream;charset=utf-8;charset"}}, "data: " + list + "\n\n", "data: " + empty + "\n\n"},
		"behind a mark":           {http.Header{"Content-Type": {"application/json"}}, "\xef\xbb\xbf" + list, withheld("1")},
		"without an id":           {http.Header{"Content-Type": {"application/json"}}, strings.Replace("["+list+"]", `"id":1,`, "", 1), withheld("1")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, announced := range []int{0, http.StatusContinue, http.StatusEarlyHints} {
				handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if announced != 0 {
						w.WriteHeader(announced)
					}
					for name, values := range c.header {
						w.Header()[name] = values
					}
					_, _ = io.WriteString(w, c.body)
				})
				r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(listCall))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				j.HTTP(handler).ServeHTTP(w, r)
				if w.Code != http.StatusOK || w.Body.String() != c.want {
					t.Errorf("after %d: %d %s, want %s", announced, w.Code, w.Body, c.want)
				}
			}
		})
	}
}

// What the client has agreed with us alone does not go on, and neither does a way past the
// judge in an answer.
func TestHopsEndHere(t *testing.T) {
	j := newJudge(t)
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodOptions} {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"Expect", "Upgrade", "Trailer"} {
				if got := r.Header.Get(name); got != "" {
					t.Errorf("%s: %s: %s goes on", method, name, got)
				}
			}
			http.Redirect(w, r, "http://upstream.example/mcp", http.StatusPermanentRedirect)
		})
		r := httptest.NewRequest(method, "/mcp", strings.NewReader(pingMessage))
		for name, value := range map[string]string{"Content-Type": "application/json", "Expect": "100-continue", "Connection": "Upgrade", "Upgrade": "websocket", "Trailer": "X"} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		j.HTTP(handler).ServeHTTP(w, r)
		if w.Code != http.StatusBadGateway || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d, %v", method, w.Code, w.Header())
		}
	}
}

// The endpoint that a stream names is one of ours, however a client reads it.
func TestEndpoints(t *testing.T) {
	j := newJudge(t)
	for uri, want := range map[string]string{
		"/messages?session=1":                                  "/messages?session=1",
		"messages?session=1":                                   "/messages?session=1",
		"?session=1":                                           "/sse?session=1",
		"http://upstream.example/messages?a=b":                 "/messages?a=b",
		"//upstream.example/messages":                          "/messages",
		`\\upstream.example\messages`:                          "/%5C%5Cupstream.example%5Cmessages",
		strings.Repeat(" ", 1) + "//upstream.example/messages": "/%20//upstream.example/messages",
		"http://here//upstream.example/x":                      "",
		"http://[upstream.example/x":                           "",
		"http:///\x01":                                         "",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: endpoint\ndata: "+uri+"\n\ndata: end\n\n")
			cancel()
		})
		r := httptest.NewRequest(http.MethodGet, "/sse", nil).WithContext(ctx)
		w := httptest.NewRecorder()
		j.HTTP(handler).ServeHTTP(w, r)
		got := ""
		for line := range strings.Lines(w.Body.String()) {
			if data, ok := strings.CutPrefix(line, "data: "); ok && data != "end\n" {
				got = strings.TrimSuffix(data, "\n")
			}
		}
		if got != want {
			t.Errorf("%q becomes %q, want %q", uri, got, want)
		}
	}
}

// A server that has let a call hang may let everything hang, or be gone: the caller has
// his answer all the same, and the process lives on.
func TestTimeoutsOfServersThatAreGone(t *testing.T) {
	j := newJudge(t)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`
	for name, second := range map[string]func(*http.Request){
		"hangs on":   func(r *http.Request) { <-r.Context().Done() },
		"is gone":    func(*http.Request) { panic(http.ErrAbortHandler) },
		"has failed": func(*http.Request) { panic("a fault") },
	} {
		t.Run(name, func(t *testing.T) {
			told := make(chan struct{})
			release, end := context.WithCancel(t.Context())
			defer end()
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				switch {
				case r.Method == http.MethodGet:
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "event: endpoint\ndata: /messages\n\n")
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				case strings.Contains(string(body), "cancelled"):
					close(told)
					inner, stop := context.WithCancel(r.Context())
					defer context.AfterFunc(release, stop)()
					second(r.WithContext(inner))
				case r.URL.Path == "/messages":
					w.WriteHeader(http.StatusAccepted)
				default:
					<-r.Context().Done()
				}
			})
			s := httptest.NewServer(j.HTTP(handler))
			defer s.Close()
			defer s.CloseClientConnections()
			check := func(answer string) {
				t.Helper()
				if !strings.Contains(answer, `"id":1,"error":{"code":-31001`) {
					t.Errorf("answered with %s", answer)
				}
				select {
				case <-told:
				case <-time.After(20 * time.Second):
					t.Error("the server is not told")
				}
				told = make(chan struct{})
			}
			post := func(path string) string {
				response, err := http.Post(s.URL+path, "application/json", strings.NewReader(call))
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = response.Body.Close() }()
				text, _ := io.ReadAll(response.Body)
				return string(text)
			}
			check(post("/mcp"))
			stream, err := http.Get(s.URL + "/sse")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = stream.Body.Close() }()
			lines := bufio.NewScanner(stream.Body)
			for lines.Scan() && lines.Text() != "data: /messages" {
			}
			post("/messages")
			for lines.Scan() && !strings.Contains(lines.Text(), "jsonrpc") {
			}
			check(lines.Text())
		})
	}
}

// A handler that breaks off has the client know.
func TestBrokenAnswers(t *testing.T) {
	j := newJudge(t)
	for name, c := range map[string]struct {
		method, kind, body string
		status             int // 0: the connection breaks, too
	}{
		"nothing yet, DELETE":  {http.MethodDelete, "", "", http.StatusBadGateway},
		"nothing yet, GET":     {http.MethodGet, "", "", http.StatusBadGateway},
		"half of a text":       {http.MethodGet, "text/plain", "half", 0},
		"half of a text, POST": {http.MethodPost, "text/plain", "half", 0},
		"half of JSON, POST":   {http.MethodPost, "application/json", "{", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(j.HTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.kind != "" {
					w.Header().Set("Content-Type", c.kind)
					_, _ = io.WriteString(w, c.body)
				}
				panic(http.ErrAbortHandler)
			})))
			defer s.Close()
			r, _ := http.NewRequestWithContext(t.Context(), c.method, s.URL, strings.NewReader(pingMessage))
			r.Header.Set("Content-Type", "application/json")
			response, err := http.DefaultClient.Do(r)
			if err == nil {
				_, err = io.ReadAll(response.Body)
				_ = response.Body.Close()
			}
			switch {
			case c.status == 0 && err == nil:
				t.Error("the client takes it for whole")
			case c.status != 0 && (err != nil || response.StatusCode != c.status):
				t.Errorf("%v, %v", response, err)
			}
		})
	}
}

// Lines of the server that are no message do not come to the client: one that puts lines
// together would read another message in them.
func TestLinesOfTheServer(t *testing.T) {
	const notJSON = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the answer of the server is not JSON in UTF-8, so it is not passed on"}}`
	for name, c := range map[string]struct{ written, want string }{
		"chatter":                  {"the tools are loaded", ""},
		"a list over two lines":    {"{\"jsonrpc\":\"2.0\",\"id\":1,\n\"result\":{\"tools\":[{\"name\":\"poison\"}]}}", notJSON},
		"not UTF-8":                {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"\xff\"}}", notJSON},
		"a question, cut off":      {`{"jsonrpc":"2.0","id":1,"method":"roots/list"`, ""},
		"a list that nobody wants": {`{"jsonrpc":"2.0","id":99,"result":{"tools":[]}}`, ""},
		"an empty line":            {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			go func() { _, _ = io.WriteString(s.client, pingMessage+"\n") }()
			s.expect(s.toServer, pingMessage)
			go func() {
				_, _ = io.WriteString(s.guard, c.written+"\n"+`{"jsonrpc":"2.0","method":"notifications/end"}`+"\n")
			}()
			if c.want != "" {
				s.expect(s.toClient, c.want)
			}
			s.expect(s.toClient, `{"jsonrpc":"2.0","method":"notifications/end"}`)
		})
	}
}
