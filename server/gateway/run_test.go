package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/config"
	"github.com/sallyport-mcp/sallyport/server/pins"
)

// What a configuration says where it says nothing is what the gateway does then.
func TestDefaultsOfTheConfiguration(t *testing.T) {
	s, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Limits{
		BodyBytes: server.MaxMessageBytes, HeaderBytes: DefaultMaxHeaderBytes, HeaderTimeout: DefaultHeaderTimeout, BodyTimeout: DefaultBodyTimeout,
		IdleTimeout: DefaultIdle, ShutdownGrace: DefaultGrace, MaxChildren: DefaultChildren, ChildIdle: DefaultChildIdle,
	}
	if diff := cmp.Diff(want, s.Listen.Limits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Settings change under load: each call has an answer, none passes that must not, and bad
// settings change nothing.
func TestRenewUnderLoad(t *testing.T) {
	back := httptest.NewServer(&upstream{})
	t.Cleanup(back.Close)
	target, err := ParseUpstream(back.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	usual := Settings{Engine: newEngine(t), Learns: true}
	side, err := NewSide("x", usual, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	f := serveFront(t, NewProxy(Upstream{URL: target}, side.Judge(), zap.NewNop()))
	f.with("Mcp-Session-Id", "0").want(call(0, "echo", `{}`), 200, `"result"`) // now there is a list to renew
	broken := errors.New("broken")
	bad := Settings{Engine: usual.Engine, Learns: true, Inspect: func(context.Context, string, server.ToolsList) ([]engine.ServerTool, error) { return nil, broken }}
	done := make(chan struct{})
	var wait sync.WaitGroup
	var answered atomic.Int64
	for worker := range 4 {
		wait.Go(func() {
			mine := f.with("Mcp-Session-Id", fmt.Sprint(worker))
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				mine.want(call(n, "echo", `{"text":"a"}`), 200, fmt.Sprintf(`"id":%d,`, n), `"result"`)
				mine.want(call(n, "echo", `{"text":1}`), 200, fmt.Sprintf(`"id":%d,`, n), `"path":"/text"`)
				answered.Add(2)
			}
		})
	}
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		good := Settings{Engine: newEngine(t, engine.WithMaxViolations(round+1)), Learns: true, Rejections: server.ProtocolErrors}
		if err := side.Renew(t.Context(), good); err != nil {
			t.Error(err)
		}
		if err := side.Renew(t.Context(), bad); !errors.Is(err, broken) {
			t.Errorf("bad settings: %v", err)
		}
	}
	for start := answered.Load(); answered.Load() < start+20; {
		time.Sleep(time.Millisecond)
	}
	close(done)
	wait.Wait()
	files := Settings{Engine: newEngine(t, engine.WithServerTools([]engine.ServerTool{{Name: "hang", InputSchema: []byte(`{"type":"object"}`)}}))}
	if err := side.Renew(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	f.want(call(1, "echo", `{}`), 200, `"code":-32601`)
	t.Logf("%d calls during %d changes", answered.Load(), 2*rounds)
}

// A list by command and over HTTP is what the server says, all pages.
func TestLists(t *testing.T) {
	names := func(list server.ToolsList, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, tool := range list.Tools {
			all = append(all, tool.Name)
		}
		return all
	}
	got := names(ListCommand(t.Context(), fakeCommand("usual"), zap.NewNop()))
	if diff := cmp.Diff([]string{"echo", "hang", "crash", "flood", "ask", "progress", "grow", "grow_quietly", "faulty", "page_two"}, got); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
	f, _ := bridged(t, 1, 0)
	got = names(ListURL(t.Context(), f.url, nil))
	if diff := cmp.Diff([]string{"echo", "hang", "crash", "flood", "ask", "progress", "grow", "grow_quietly", "page_two"}, got); diff != "" {
		t.Errorf("HTTP, behind the bridge (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if list, err := ListCommand(ctx, fakeCommand("unlisted"), zap.NewNop()); err == nil {
		t.Errorf("no list: %v", list)
	}
	if list, err := ListURL(t.Context(), "http://127.0.0.1:1/", nil); err == nil {
		t.Errorf("nobody: %v", list)
	}
}

// A tool that is not as it was when it was pinned is withheld until somebody approves it.
func TestPins(t *testing.T) {
	u := &upstream{}
	back := httptest.NewServer(u)
	t.Cleanup(back.Close)
	target, err := ParseUpstream(back.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "lock.json")
	core, logs := observer.New(zapcore.WarnLevel)
	g := &Gateway{logger: zap.New(core), locks: map[string]*pins.Lock{}}
	settings := Settings{Engine: newEngine(t), Learns: true, Inspect: g.pinned(file)}
	side, err := NewSide("x", settings, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	f := serveFront(t, NewProxy(Upstream{URL: target}, side.Judge(), zap.NewNop()))
	f.want(call(1, "echo", `{}`), 200, `"result"`) // first use
	u.changed.Store(true)
	u.extra.Store(true)
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	anew := f.with("Authorization", "Bearer anew") // whose list has not been asked for
	_, body, _ := anew.post(list)
	if strings.Contains(body, `"echo"`) || strings.Contains(body, `"extra"`) || !strings.Contains(body, `"hang"`) {
		t.Errorf("advertised: %s", body)
	}
	anew.want(call(3, "echo", `{}`), 200, `"code":-32601`, "the tool is in quarantine, since the tool is not what was approved (description changed)")
	anew.want(call(4, "extra", `{}`), 200, `"code":-32601`, "not among those that were approved")
	if logs.FilterMessage("a tool is not as it is pinned").Len() == 0 {
		t.Error("the log does not say so")
	}
	lock := pins.Open(file)
	raw, _, err := ListAll(t.Context(), func(context.Context, string) ([]byte, error) {
		response, err := http.Post(target.String(), "application/json", strings.NewReader(list))
		if err != nil {
			return nil, err
		}
		defer func() { _ = response.Body.Close() }()
		return io.ReadAll(response.Body)
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := lock.Check("x", raw.Raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range found {
		if finding.Tool == "echo" {
			if _, err := lock.Approve("x", raw.Raw, pins.Approval{Tool: "echo", Digest: finding.Digest}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := side.Renew(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	anew.want(call(5, "echo", `{}`), 200, `"result"`)
	anew.want(call(6, "extra", `{}`), 200, `"code":-32601`)
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := side.Renew(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	anew.want(call(7, "hang", `{}`), 200, `"code":-32601`, "was not compared")
	if logs.FilterMessageSnippet("every tool is withheld").Len() == 0 {
		t.Error("the log does not say that the lock file cannot be read")
	}
}
