package records_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/records"
)

// fixture has an engine, a judge that records, and what is logged.
type fixture struct {
	*records.Recorder
	judge *server.Judge
	log   *observer.ObservedLogs
}

func newFixture(t *testing.T, s records.Settings, options ...engine.Option) *fixture {
	t.Helper()
	eng, err := engine.New(t.Context(), append(options, engine.WithLogger(zap.NewNop()))...)
	if err != nil {
		t.Fatal(err)
	}
	redactor, err := eng.NewRedactor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	core, log := observer.New(zapcore.WarnLevel)
	f := &fixture{log: log}
	if f.Recorder, err = records.Open(t.Context(), s, redactor, zap.New(core)); err != nil {
		t.Fatal(err)
	}
	if f.judge, err = server.NewJudge(eng, server.WithRecorder(f.Recorder)); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) call(ctx context.Context, tool, arguments string) {
	f.judge.Judge(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`))
}

func (f *fixture) end(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return f.Close(ctx)
}

// event is what is told of an event, without what differs from run to run.
func event(t *testing.T, line []byte) string {
	t.Helper()
	var e map[string]any
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&e); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	stamp, _ := e["timestamp"].(string)
	if _, err := time.Parse(time.RFC3339Nano, stamp); err != nil {
		t.Error(err)
	}
	if id, _ := e["decision_id"].(string); len(id) != 36 {
		t.Errorf("decision_id %q", id)
	}
	if e["path"] != "sallyport/main/verdict" {
		t.Errorf("path %v", e["path"])
	}
	told := map[string]any{}
	for _, member := range []string{"input", "result", "custom", "bundles"} {
		if e[member] != nil {
			told[member] = e[member]
		}
	}
	text, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var found []string
	for s := bufio.NewScanner(file); s.Scan(); {
		found = append(found, event(t, s.Bytes()))
	}
	return found
}

// echo has a rule of one's own whose reason repeats what was sent.
func echo() engine.Option {
	return engine.WithPolicies(os.DirFS("testdata/echo"))
}

// Every outcome has its record, and no secret is in it.
func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "records.jsonl")
	f := newFixture(t, records.Settings{File: name}, echo())
	ctx, cancel := context.WithCancel(t.Context())
	f.call(ctx, "bernstein_run", `{"goal":"a","priority":1.0}`)
	f.call(ctx, "bernstein_run", `{"goal":"a","priority":9,"token":"s3cr3t"}`)
	f.call(ctx, "bernstein_run", `{"goal":"a","goal":"s3cr3t"}`)
	f.call(ctx, "bernstein_status", `{"password":"s3cr3t"}`)
	f.call(ctx, "no\u202ebody", `{}`)
	cancel()
	f.call(ctx, "bernstein_run", `{"goal":"late"}`) // the caller has gone
	if err := f.end(t); err != nil {
		t.Error(err)
	}
	want := []string{
		`{"input":{"mode":"strict","payload":{"goal":"a","priority":1.0},"tool":"bernstein_run"},"result":{"outcome":"accepted"}}`,
		`{"custom":{"masked":["/token"]},"input":{"mode":"strict","payload":{"goal":"a","priority":9,"token":"(redacted)"},"tool":"bernstein_run"},"result":{"code":-32602,"outcome":"refused","violations":[{"check":"maximum","path":"/priority","reason":"is 9 but must be at most 3","stage":"schema"},{"check":"additionalProperties","path":"/token","reason":"(redacted)","stage":"schema"}]}}`,
		`{"custom":{"left_out":"the arguments are not one JSON object"},"input":{"mode":"strict","tool":"bernstein_run"},"result":{"code":-32602,"outcome":"refused","violations":[{"check":"payload_shape","path":"","reason":"(redacted)","stage":"policy"}]}}`,
		`{"custom":{"masked":["/password"]},"input":{"mode":"strict","payload":{"password":"(redacted)"},"tool":"bernstein_status"},"result":{"code":-32602,"outcome":"refused","violations":[{"check":"echo","path":"/password","reason":"(redacted)","stage":"policy"},{"check":"additionalProperties","path":"/password","reason":"(redacted)","stage":"schema"}]}}`,
		`{"input":{"mode":"strict","payload":{},"tool":"no\\u{202e}body"},"result":{"code":-32601,"outcome":"refused","violations":[{"check":"unknown_tool","path":"","reason":"no schema is registered for a tool of this name","stage":"policy"}]}}`,
		`{"input":{"mode":"strict","payload":{"goal":"late"},"tool":"bernstein_run"},"result":{"code":-32602,"fault":true,"outcome":"refused","violations":[{"check":"inspection","path":"","reason":"the call could not be judged because of an internal fault, so it is refused","stage":"policy"}]}}`,
	}
	if diff := cmp.Diff(want, lines(t, name)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(name)
	if err != nil || strings.Contains(string(text), "s3cr3t") {
		t.Errorf("%s, %v", text, err)
	}
	if f.log.Len() > 0 {
		t.Errorf("logged: %v", f.log.All())
	}
}

// What is recorded can be judged again, with the bytes that came.
func TestRecordsAreCalls(t *testing.T) {
	name := filepath.Join(t.TempDir(), "records.jsonl")
	f := newFixture(t, records.Settings{File: name}, engine.WithMode(engine.Permissive))
	f.call(t.Context(), "bernstein_run", `{"goal": "\u00e9", "priority": 9.0e0, "secret": [1]}`)
	f.call(t.Context(), "bernstein_run", `[]`)
	if err := f.end(t); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(string(text), "\n")
	call, err := server.ReadCall([]byte(all[0]))
	want := server.Call{Tool: "bernstein_run", Arguments: []byte(`{"goal":"\u00e9","priority":9.0e0,"secret":[]}`), Masked: []string{"/secret"}}
	if diff := cmp.Diff(want, call); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if !strings.Contains(all[0], `"outcome":"bypassed"`) {
		t.Error(all[0])
	}
	_, err = server.ReadCall([]byte(all[1]))
	var notKept *server.NotKeptError
	if !errors.As(err, &notKept) || *notKept != (server.NotKeptError{Tool: "bernstein_run", Why: "the arguments are not one JSON object"}) {
		t.Errorf("%v", err)
	}
}

// A line that was cut off does not spoil the next one, and what was there stays.
func TestAppends(t *testing.T) {
	name := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.WriteFile(name, []byte("{\"half\": "), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f := newFixture(t, records.Settings{File: name})
		f.call(t.Context(), "bernstein_run", `{"goal":"a"}`)
		if err := f.end(t); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Split(string(text), "\n"); len(all) != 4 || all[0] != `{"half": ` || all[3] != "" {
		t.Errorf("%q", all)
	}
}

func TestLinesOfManyAreWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "records.jsonl")
	two := []*fixture{newFixture(t, records.Settings{File: name}), newFixture(t, records.Settings{File: name})}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 25 {
				two[i%2].call(t.Context(), "bernstein_run", `{"goal":"`+strings.Repeat("a", 5000)+`"}`)
			}
		})
	}
	group.Wait()
	for _, f := range two {
		if err := f.end(t); err != nil {
			t.Error(err)
		}
	}
	if n := len(lines(t, name)); n != 200 {
		t.Errorf("%d lines", n)
	}
}

func TestWhatCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct {
		settings records.Settings
		want     string
	}{
		"folder":    {records.Settings{File: folder}, "is not a file"},
		"no folder": {records.Settings{File: filepath.Join(folder, "a", "b")}, "no such file"},
		"no URL":    {records.Settings{URL: "http://[::1"}, "missing ']'"},
		"nothing":   {records.Settings{}, "neither a file nor a service"},
	} {
		if _, err := records.Open(t.Context(), c.settings, nil, zap.NewNop()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Calls go on where they cannot be recorded; it is logged once, and once when that is over.
func TestFileThatCannotBeWritten(t *testing.T) {
	if _, err := os.Stat("/dev/full"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no /dev/full")
	}
	name := filepath.Join(t.TempDir(), "records.jsonl")
	f := newFixture(t, records.Settings{File: name})
	if err := f.end(t); err != nil { // from now on writing is an error
		t.Fatal(err)
	}
	for range 3 {
		d := f.judge.Judge(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bernstein_run","arguments":{"goal":"a"}}}`))
		if d.Action != server.Forward {
			t.Errorf("%+v", d)
		}
	}
	if got := f.log.FilterMessage("a call cannot be recorded, and goes on"); got.Len() != 1 {
		t.Errorf("logged: %v", f.log.All())
	}
}

// service takes decision logs.
type service struct {
	sync.Mutex
	status   int
	requests []string
	events   []string
}

func (s *service) handler(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.Lock()
		defer s.Unlock()
		s.requests = append(s.requests, fmt.Sprint(r.Method, " ", r.URL, " ", r.Header.Get("Authorization"), " ", r.Header.Get("Content-Encoding")))
		if s.status != 0 {
			w.WriteHeader(s.status)
			return
		}
		body, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		var events []json.RawMessage
		if err := json.NewDecoder(body).Decode(&events); err != nil {
			t.Error(err)
		}
		for _, e := range events {
			s.events = append(s.events, event(t, e))
		}
	}
}

func (s *service) set(status int) {
	s.Lock()
	defer s.Unlock()
	s.status = status
}

func (s *service) seen() (requests, events []string) {
	s.Lock()
	defer s.Unlock()
	return append([]string(nil), s.requests...), append([]string(nil), s.events...)
}

// The service gets what the file has, with the token, also what came last.
func TestService(t *testing.T) {
	s := &service{}
	to := httptest.NewServer(s.handler(t))
	defer to.Close()
	name := filepath.Join(t.TempDir(), "records.jsonl")
	f := newFixture(t, records.Settings{File: name, URL: to.URL + "/a/logs?b=c", Token: "a token", Delay: time.Hour})
	f.call(t.Context(), "bernstein_run", `{"goal":"a","priority":12345678901234567890}`)
	f.call(t.Context(), "bernstein_run", `{"goal":"a","token":"s3cr3t"}`)
	if err := f.end(t); err != nil {
		t.Error(err)
	}
	requests, events := s.seen()
	if diff := cmp.Diff([]string{"POST /a/logs?b=c Bearer a token gzip"}, requests); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(lines(t, name), events); diff != "" {
		t.Errorf("(-file +service):\n%s", diff)
	}
}

// A service that is away loses nothing, as long as there is room, and is told of in the log.
func TestServiceThatIsAway(t *testing.T) {
	s := &service{status: http.StatusServiceUnavailable}
	to := httptest.NewServer(s.handler(t))
	defer to.Close()
	f := newFixture(t, records.Settings{URL: to.URL, Delay: time.Second})
	f.call(t.Context(), "bernstein_run", `{"goal":"a"}`)
	wait(t, func() bool { return f.log.FilterLevelExact(zapcore.ErrorLevel).Len() > 0 })
	s.set(0)
	wait(t, func() bool { _, events := s.seen(); return len(events) == 1 })
	s.set(http.StatusInternalServerError)
	f.call(t.Context(), "bernstein_run", `{"goal":"b"}`)
	if err := f.end(t); err == nil || !strings.Contains(err.Error(), "could not be sent before the end") {
		t.Errorf("the end: %v", err)
	}
}

// Records and token go to the service alone.
func TestNoRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s comes to another server", r.Method, r.URL)
	}))
	defer other.Close()
	to := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer to.Close()
	f := newFixture(t, records.Settings{URL: to.URL, Token: "a token", Delay: time.Second})
	f.call(t.Context(), "bernstein_run", `{"goal":"a"}`)
	wait(t, func() bool { return f.log.FilterLevelExact(zapcore.ErrorLevel).Len() > 0 })
	if err := f.end(t); err == nil {
		t.Error("no error at the end")
	}
}

func wait(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come about")
		}
	}
}
