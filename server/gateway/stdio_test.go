package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server"
)

// session is a client of a gateway on standard streams.
type session struct {
	t     *testing.T
	in    *io.PipeWriter
	lines chan string
	ended chan outcome

	cancel context.CancelFunc // as a signal does
}

type outcome struct {
	code int
	err  error
}

func openCommand(t *testing.T, c Command, prepare func() (*server.Judge, error)) *session {
	t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	s := &session{t: t, in: in, lines: make(chan string, 100_000), ended: make(chan outcome, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s.cancel = cancel
	go func() {
		scanner := bufio.NewScanner(out)
		scanner.Buffer(nil, 8<<20)
		for scanner.Scan() {
			s.lines <- scanner.Text()
		}
		close(s.lines)
	}()
	go func() {
		code, err := Stdio(ctx, c, fromClient, toClient, prepare)
		_ = toClient.Close()
		s.ended <- outcome{code, err}
	}()
	return s
}

func openFake(t *testing.T, mode string) *session {
	j := newJudge(t)
	s := openCommand(t, fakeCommand(mode), func() (*server.Judge, error) { return j, nil })
	s.send(initialize)
	s.expect(`"serverInfo":{"name":"fake"`)
	return s
}

func (s *session) send(message string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, message+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// expect returns the next line, which has to have these parts.
func (s *session) expect(parts ...string) string {
	s.t.Helper()
	select {
	case line, open := <-s.lines:
		for _, part := range parts {
			if !open || !strings.Contains(line, part) {
				s.t.Fatalf("got %.400q, want one with %s", line, parts)
			}
		}
		return line
	case <-time.After(20 * time.Second):
		s.t.Fatalf("nothing comes, want a line with %s", parts)
	}
	return ""
}

func (s *session) end() outcome {
	s.t.Helper()
	select {
	case o := <-s.ended:
		return o
	case <-time.After(20 * time.Second):
		s.t.Fatal("the gateway does not end")
	}
	return outcome{}
}

func TestStdioCarriesASession(t *testing.T) {
	s := openFake(t, "usual")
	s.send(call(1, "echo", `{"text":"a"}`))
	s.expect(`"id":1`, `{\"text\":\"a\"}`)
	s.send(call(2, "page_two", `{"text":"b"}`))
	s.expect(`"id":2`, `"result"`)
	s.send(call(3, "echo", `{"text":7}`))
	s.expect(`"id":3`, `"code":-32602`, `"path":"/text"`)
	s.send(call(4, "nobody", `{}`))
	s.expect(`"id":4`, `"code":-32601`)
	s.send(call(5, "faulty", `{}`))
	s.expect(`"id":5`, `"code":-32601`, "quarantine")
	s.send(call(6, "progress", `{}`))
	s.expect("notifications/progress", `"p6"`)
	s.expect(`"id":6`, `"result"`)
	s.send(call(7, "ask", `{}`))
	s.expect("sampling/createMessage", `"q1"`)
	s.send(`{"jsonrpc":"2.0","id":"q1","result":{"role":"assistant"}}`)
	s.expect(`"id":7`, "assistant")
	s.send(`{"jsonrpc":"2.0","id":8,"method":"tools/list"}`)
	if line := s.expect(`"id":8`, `"echo"`, `"nextCursor":"1"`); strings.Contains(line, "faulty") {
		t.Errorf("a tool in quarantine is advertised: %s", line)
	}
	s.send(`not JSON`)
	s.expect(`"code":-32700`)
	s.send(call(9, "flood", `{}`))
	for i := range 20_000 {
		s.expect(fmt.Sprintf(`"data":%d}`, i))
	}
	s.expect(`"id":9`)
	_ = s.in.Close()
	if o := s.end(); o.code != 0 || o.err != nil {
		t.Errorf("ends with %+v", o)
	}
}

// The list is asked for again once it has changed, and a list that passes by with other
// tools is as good as a notification.
func TestStdioFollowsTheList(t *testing.T) {
	for _, tool := range []string{"grow", "grow_quietly"} {
		t.Run(tool, func(t *testing.T) {
			s := openFake(t, "usual")
			s.send(call(1, "grown", `{}`))
			s.expect(`"id":1`, `"code":-32601`)
			s.send(call(2, tool, `{}`))
			if tool == "grow" {
				s.expect("list_changed")
			}
			s.expect(`"id":2`)
			s.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"2"}}`)
			s.expect(`"id":3`, `"grown"`)
			s.send(call(4, "grown", `{"text":"x"}`))
			s.expect(`"id":4`, `"result"`)
		})
	}
}

// A call waits for the list, and nothing else does. Without a list it is refused.
func TestStdioWithoutAList(t *testing.T) {
	learner, err := NewLearner("fake", newEngine(t), nil, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	learner.patience = 300 * time.Millisecond
	judge, err := server.NewJudgeFrom(learner)
	if err != nil {
		t.Fatal(err)
	}
	s := openCommand(t, fakeCommand("unlisted"), func() (*server.Judge, error) { return judge, nil })
	s.send(initialize)
	s.expect("serverInfo")
	s.send(call(1, "echo", `{}`))
	s.send(call(2, "echo", `{}`))
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	s.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	s.expect(`"id":3`, `"result":{}`)
	s.expect(`"id":1`, `"code":-32603`, "has not listed its tools")
	s.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	s.expect(`"id":4`)
}

// A command that ends in mid-call leaves no call without an answer, and its exit code is
// handed on.
func TestStdioCommandEnds(t *testing.T) {
	s := openFake(t, "usual")
	s.send(call(1, "hang", `{}`))
	s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crash","arguments":{}}}`)
	got := s.expect("outcome is unknown") + s.expect("outcome is unknown")
	if !strings.Contains(got, `"id":1`) || !strings.Contains(got, `"id":2`) {
		t.Errorf("answered: %s", got)
	}
	if o := s.end(); o.code != 3 || o.err != nil {
		t.Errorf("ends with %+v, want code 3", o)
	}
}

func TestStdioCommandsThatDoNotEnd(t *testing.T) {
	t.Run("at the end of its input", func(t *testing.T) {
		s := openFake(t, "stubborn")
		_ = s.in.Close()
		if o := s.end(); o.code != 128+15 || o.err != nil {
			t.Errorf("ends with %+v, want by TERM", o)
		}
	})
	t.Run("by TERM either, with a child of its own", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pid")
		c := Command{Path: "sh", Args: []string{"-c", `trap "" TERM; sleep 300 & echo $! > "$0"; while :; do sleep 0.1; done`, file}}
		j := newJudge(t)
		s := openCommand(t, c, func() (*server.Judge, error) { return j, nil })
		var pid int
		for deadline := time.Now().Add(10 * time.Second); pid == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			text, _ := os.ReadFile(file)
			pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		_ = s.in.Close()
		if o := s.end(); o.code != 128+9 {
			t.Errorf("ends with %+v, want by KILL", o)
		}
		for deadline := time.Now().Add(10 * time.Second); alive(pid) && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		}
		if pid == 0 || alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	})
}

func TestStdioDoesNotStart(t *testing.T) {
	_, err := Stdio(t.Context(), Command{Path: "/no/such/server"}, strings.NewReader(""), io.Discard, nil)
	if err == nil || !strings.Contains(err.Error(), "/no/such/server") {
		t.Errorf("no such command: %v", err)
	}
	broken := errors.New("no engine")
	_, err = Stdio(t.Context(), fakeCommand("usual"), strings.NewReader(""), io.Discard, func() (*server.Judge, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("no engine: %v", err)
	}
}
