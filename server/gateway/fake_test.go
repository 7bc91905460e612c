package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// fakeVariable has the test binary be a server on its standard streams.
const fakeVariable = "SALLYPORT_TEST_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeVariable); mode == "gateway" {
		os.Exit(gatewayProcess())
	} else if mode != "" {
		(&fake{mode: mode, tools: []string{"echo", "page_two"}}).serve()
		return
	}
	afterEnd, afterTerm = 2*time.Second, time.Second
	os.Exit(m.Run())
}

// fakeCommand starts this binary as a server.
func fakeCommand(mode string) Command {
	return Command{Path: os.Args[0], Env: append(os.Environ(), fakeVariable+"="+mode), Stderr: os.Stderr}
}

// fake is a server with a tool for each thing that can go wrong.
type fake struct {
	mode  string
	tools []string

	writing sync.Mutex
	waiting map[string]json.RawMessage // id of our request -> id of the call it is for
}

type fakeMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params struct {
		Name      string          `json:"name"`
		Cursor    string          `json:"cursor"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result,omitempty"`
}

func (f *fake) serve() {
	f.waiting = map[string]json.RawMessage{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		f.note(lines.Bytes())
		var m fakeMessage
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			fmt.Fprintln(os.Stderr, "fake server:", err)
			os.Exit(9)
		}
		f.handle(m)
	}
	if f.mode == "stubborn" {
		select {}
	}
}

func (f *fake) say(format string, values ...any) {
	f.writing.Lock()
	defer f.writing.Unlock()
	fmt.Printf(format+"\n", values...)
}

func (f *fake) result(id json.RawMessage, result string) {
	f.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func (f *fake) handle(m fakeMessage) {
	switch m.Method {
	case "initialize":
		f.result(m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`)
	case "tools/list":
		if f.mode != "unlisted" {
			f.list(m)
		}
	case "tools/call":
		f.call(m)
	case "":
		if call := f.waiting[string(m.ID)]; call != nil {
			f.result(call, `{"content":[{"type":"text","text":`+strQuote(string(m.Result))+`}]}`)
		}
	case "ping":
		f.result(m.ID, `{}`)
	}
}

func strQuote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// list has one tool on each page.
func (f *fake) list(m fakeMessage) {
	n := 0
	if m.Params.Cursor != "" {
		_, _ = fmt.Sscan(m.Params.Cursor, &n)
	}
	var entries []string
	for _, name := range []string{f.tools[n], "hang", "crash", "flood", "ask", "progress", "grow", "grow_quietly", "faulty"} {
		schema := `{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`
		if name == "faulty" {
			schema = `{"type":"object","reqired":["text"]}`
		}
		if n > 0 && name != f.tools[n] {
			continue
		}
		entries = append(entries, fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, schema))
	}
	cursor := ""
	if n+1 < len(f.tools) {
		cursor = fmt.Sprintf(`,"nextCursor":"%d"`, n+1)
	}
	f.result(m.ID, `{"tools":[`+strings.Join(entries, ",")+`]`+cursor+`}`)
}

func (f *fake) call(m fakeMessage) {
	text := `{"content":[{"type":"text","text":` + strQuote(string(m.Params.Arguments)) + `}]}`
	f.misbehave(string(m.Params.Arguments))
	switch m.Params.Name {
	case "hang":
		return
	case "crash":
		os.Exit(3)
	case "flood":
		for i := range 20_000 {
			f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`, i)
		}
	case "progress":
		f.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.Params.Meta.Token)
	case "ask":
		f.waiting[`"q1"`] = m.ID
		f.say(`{"jsonrpc":"2.0","id":"q1","method":"sampling/createMessage","params":{}}`)
		return
	case "grow":
		f.tools = append(f.tools, "grown")
		f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	case "grow_quietly":
		f.tools = append(f.tools, "grown")
	}
	f.result(m.ID, text)
}

// usualEngine is shared by all tests that want no other: it takes long to make under the
// race detector.
var usualEngine = sync.OnceValues(func() (*engine.Engine, error) { return engine.New(context.Background(), defaults...) })

var defaults = []engine.Option{engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()), engine.WithServerTools(nil)}

func newEngine(t testing.TB, options ...engine.Option) *engine.Engine {
	t.Helper()
	make := usualEngine
	if len(options) > 0 {
		make = func() (*engine.Engine, error) { return engine.New(t.Context(), slices.Concat(defaults, options)...) }
	}
	e, err := make()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// newJudge returns a judge that learns its tools.
func newJudge(t testing.TB) *server.Judge {
	t.Helper()
	side, err := NewSide("fake", Settings{Engine: newEngine(t), Learns: true}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	return side.Judge()
}

func alive(pid int) bool { return exec.Command("kill", "-0", fmt.Sprint(pid)).Run() == nil }

func call(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":"p%d"}}}`, id, tool, arguments, id)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
