package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-mcp/sallyport/server"
)

// session is a guard with a client and a server at its ends.
type session struct {
	t        *testing.T
	guard    *server.Stdio
	client   io.Writer
	toServer *bufio.Scanner
	toClient *bufio.Scanner
}

func newSession(t *testing.T) *session {
	t.Helper()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	guard := newJudge(t).NewStdio(context.Background(), in, out)
	t.Cleanup(func() { _ = client.Close(); _ = guard.Close(); _ = answers.Close() })
	return &session{t, guard, client, bufio.NewScanner(guard), bufio.NewScanner(answers)}
}

func (s *session) expect(from *bufio.Scanner, want string) {
	s.t.Helper()
	if !from.Scan() {
		s.t.Fatalf("nothing comes, want %s", want)
	}
	if got := from.Text(); got != want {
		s.t.Fatalf("got %s\nwant %s", got, want)
	}
}

func slowCall(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"slow"}}`
}

func tooSlow(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-31001,"message":"tool \"slow\" did not answer within its limit of 200ms; the outcome is unknown, it may still take effect"}}`
}

func TestStdioTimeout(t *testing.T) {
	s := newSession(t)
	go func() { _, _ = io.WriteString(s.client, slowCall(`"\u0061"`)+"\n") }()
	s.expect(s.toServer, slowCall(`"\u0061"`))
	s.expect(s.toClient, tooSlow(`"\u0061"`))
	s.expect(s.toServer, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061","reason":"the time limit of the tool is over"}}`)
	// The answer that comes too late is dropped, however its id is written; the next passes.
	go func() {
		_, _ = io.WriteString(s.guard, `{"jsonrpc":"2.0","id":"a","result":{}}`+"\n"+`{"jsonrpc":"2.0","method":"x"}`+"\n"+`{"jsonrpc":"2.0","id":"a","result":{"second":1}}`+"\n")
	}()
	s.expect(s.toClient, `{"jsonrpc":"2.0","method":"x"}`)
	s.expect(s.toClient, `{"jsonrpc":"2.0","id":"a","result":{"second":1}}`)
}

func TestStdioAnswerInTime(t *testing.T) {
	s := newSession(t)
	go func() { _, _ = io.WriteString(s.client, slowCall("1")+"\n") }()
	s.expect(s.toServer, slowCall("1"))
	go func() { _, _ = io.WriteString(s.guard, `{"jsonrpc":"2.0","id":1.0,"result":{}}`+"\n") }()
	s.expect(s.toClient, `{"jsonrpc":"2.0","id":1.0,"result":{}}`)
	time.Sleep(300 * time.Millisecond)
	go func() { _, _ = io.WriteString(s.client, pingMessage+"\n") }()
	s.expect(s.toServer, pingMessage) // and no cancellation before it
}

func TestStdioCancelledByTheCaller(t *testing.T) {
	s := newSession(t)
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	go func() { _, _ = io.WriteString(s.client, slowCall("1")+"\n"+cancel+"\n") }()
	s.expect(s.toServer, slowCall("1"))
	s.expect(s.toServer, cancel)
	time.Sleep(300 * time.Millisecond)
	go func() { _, _ = io.WriteString(s.guard, `{"jsonrpc":"2.0","method":"x"}`+"\n") }()
	s.expect(s.toClient, `{"jsonrpc":"2.0","method":"x"}`) // and no error before it
}

// A cancellation, an answer and the bound meet in every order.
func TestStdioRaces(t *testing.T) {
	s := newSession(t)
	const n = 200
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range n {
			_, _ = fmt.Fprintf(s.client, "%s\n", slowCall(fmt.Sprint(i)))
			if i%3 == 0 {
				time.Sleep(time.Millisecond)
				_, _ = fmt.Fprintf(s.client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", i)
			}
		}
		_, _ = io.WriteString(s.client, pingMessage+"\n")
	})
	wait.Go(func() {
		for s.toServer.Scan() && s.toServer.Text() != pingMessage {
			line := s.toServer.Text()
			if id, ok := strings.CutPrefix(line, `{"jsonrpc":"2.0","id":`); ok {
				id, _, _ = strings.Cut(id, ",")
				wait.Go(func() {
					time.Sleep(199 * time.Millisecond)
					_, _ = fmt.Fprintf(s.guard, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
				})
			}
		}
	})
	answers := map[string]int{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for s.toClient.Scan() && !strings.Contains(s.toClient.Text(), `"end"`) {
			id, _, _ := strings.Cut(strings.TrimPrefix(s.toClient.Text(), `{"jsonrpc":"2.0","id":`), ",")
			answers[id]++
		}
	}()
	wait.Wait()
	time.Sleep(400 * time.Millisecond)
	_, _ = io.WriteString(s.guard, `{"jsonrpc":"2.0","method":"end"}`+"\n")
	<-done
	for id, times := range answers {
		if times != 1 {
			t.Errorf("%s is answered %d times", id, times)
		}
	}
	if len(answers) < n*2/3 {
		t.Errorf("%d of %d calls are answered", len(answers), n)
	}
}

func TestStdioEnds(t *testing.T) {
	j := newJudge(t)
	guard := j.NewStdio(context.Background(), strings.NewReader(pingMessage), io.Discard)
	text, err := io.ReadAll(guard)
	if err != nil || string(text) != pingMessage+"\n" {
		t.Errorf("%q, %v", text, err)
	}
	broken := errors.New("disk on fire")
	guard = j.NewStdio(context.Background(), io.MultiReader(strings.NewReader(pingMessage+"\n"), failing{broken}), io.Discard)
	if text, err = io.ReadAll(guard); !errors.Is(err, broken) || string(text) != pingMessage+"\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := guard.Close(); err != nil {
		t.Error(err)
	}
	if _, err := guard.Read(make([]byte, 1)); err == nil {
		t.Error("a closed guard can be read")
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
