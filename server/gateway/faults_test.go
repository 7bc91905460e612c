package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// notesVariable names the file that a fake server writes each line to that it gets, and
// pidVariable the one that it writes its process id to.
const (
	notesVariable = "SALLYPORT_TEST_NOTES"
	pidVariable   = "SALLYPORT_TEST_PID"
)

func (f *fake) note(line []byte) {
	if path := os.Getenv(pidVariable); path != "" {
		_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600)
	}
	path := os.Getenv(notesVariable)
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(append(line[:len(line):len(line)], '\n'))
		_ = file.Close()
	}
	if err != nil {
		panic(err)
	}
}

// misbehave does what the arguments of a call say, before it is answered.
func (f *fake) misbehave(arguments string) {
	switch {
	case strings.Contains(arguments, "close the output"):
		_ = os.Stdout.Close()
		time.Sleep(time.Minute)
	case strings.Contains(arguments, "say rubbish"):
		f.say("%s", "starting up: 3 tools\n\x00\xff\xfe\n{\"jsonrpc\":\n[]\n{\"jsonrpc\":\"2.0\",\"id\":\"nobody\",\"result\":{}}\n")
	case strings.Contains(arguments, "never end a line"):
		chunk := strings.Repeat("x", 1<<20)
		for {
			if _, err := fmt.Print(chunk); err != nil {
				time.Sleep(time.Minute)
			}
		}
	case strings.Contains(arguments, "list unasked"):
		for range 1000 {
			f.list(fakeMessage{ID: []byte(`"nobody"`)})
		}
	case strings.Contains(arguments, "take nothing"):
		f.say(`{"jsonrpc":"2.0","method":"notifications/stuck"}`)
		time.Sleep(time.Minute)
	}
}

// gatewayProcess is a gateway on standard streams in front of a fake server that does not
// end by itself.
func gatewayProcess() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	code, err := Stdio(ctx, fakeCommand("stubborn"), os.Stdin, os.Stdout, func() (*server.Judge, error) {
		e, err := engine.New(ctx, engine.WithLogger(zap.NewNop()))
		if err != nil {
			return nil, err
		}
		return server.NewJudge(e)
	})
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
	}
	return code
}

func misbehaving(text string) string { return call(1, "echo", fmt.Sprintf(`{"text":%q}`, text)) }

// Whatever a command does to its output, each call has an answer, and the gateway ends
// where there is nothing left to say.
func TestStdioFaults(t *testing.T) {
	for fault, code := range map[string]int{"close the output": 128 + 15, "never end a line": 128 + 13} {
		t.Run(fault, func(t *testing.T) {
			s := openFake(t, "usual")
			s.send(call(7, "hang", `{}`))
			s.send(misbehaving(fault))
			got := s.expect("outcome is unknown") + s.expect("outcome is unknown")
			if !strings.Contains(got, `"id":1,`) || !strings.Contains(got, `"id":7,`) {
				t.Errorf("answered: %s", got)
			}
			s.send(call(8, "echo", `{}`))
			s.expect(`"id":8`, `"code":-32603`)
			if o := s.end(); o.code != code {
				t.Errorf("ends with %+v, want code %d", o, code)
			}
		})
	}
	for fault, said := range map[string]string{"say rubbish": `"id":"nobody"`, "list unasked": ""} {
		t.Run(fault, func(t *testing.T) {
			s := openFake(t, "usual")
			s.send(misbehaving(fault))
			if said == "" {
				said = fault
			} else {
				s.expect(`[]`)
				s.expect(said)
			}
			s.expect(`"id":1,"result"`)
			s.send(call(2, "echo", `{"text":"a"}`))
			s.expect(`"id":2,"result"`)
		})
	}
}

// A signal has the gateway end a command that neither the end of its input nor TERM ends,
// before whoever sent it loses patience.
func TestStdioHurries(t *testing.T) {
	if testing.Short() {
		t.Skip("it changes a time that children of other tests still read")
	}
	j := newJudge(t)
	c := Command{Path: "sh", Args: []string{"-c", `trap "" TERM; echo '{}'; while :; do sleep 0.1; done`}}
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan outcome, 1)
	go func() {
		code, err := Stdio(ctx, c, fromClient, toClient, func() (*server.Judge, error) { return j, nil })
		ended <- outcome{code, err}
	}()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "{}\n" {
		t.Fatal(line, err)
	}
	saved := afterEnd
	afterEnd = time.Hour // which the signal cuts short
	defer func() { afterEnd = saved }()
	_ = in.Close()
	time.AfterFunc(50*time.Millisecond, cancel)
	select {
	case o := <-ended:
		if o.code != 128+9 || o.err != nil {
			t.Errorf("ends with %+v", o)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the gateway does not end")
	}
}

// A client that takes nothing, and a command that takes nothing, do not keep the gateway
// from ending.
func TestStdioBlocked(t *testing.T) {
	t.Run("by the client", func(t *testing.T) {
		j := newJudge(t)
		fromClient, in := io.Pipe()
		_, toClient := io.Pipe() // nobody reads
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = Stdio(ctx, fakeCommand("usual"), fromClient, toClient, func() (*server.Judge, error) { return j, nil })
		}()
		_, _ = io.WriteString(in, initialize+"\n"+call(1, "flood", `{}`)+"\n")
		cancel()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatal("the gateway does not end")
		}
	})
	t.Run("by the command", func(t *testing.T) {
		s := openFake(t, "usual")
		s.send(misbehaving("take nothing"))
		s.expect("notifications/stuck")
		go func() {
			big := call(2, "echo", `{"text":"`+strings.Repeat("x", 60_000)+`"}`)
			for {
				if _, err := io.WriteString(s.in, big+"\n"); err != nil {
					return
				}
			}
		}()
		time.Sleep(100 * time.Millisecond) // so that the pipe is full
		s.cancel()
		s.end()
	})
}

// Nothing is left of a gateway that its client asks to end, or kills: clients first close
// the input, then send TERM, then KILL, with two seconds between.
func TestNothingIsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other kernels do not tell a child that its parent has been killed")
	}
	for name, end := range map[string]func(*exec.Cmd, io.Closer){
		"input, TERM": func(cmd *exec.Cmd, in io.Closer) {
			_ = in.Close()
			time.Sleep(100 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGTERM)
		},
		"KILL": func(cmd *exec.Cmd, _ io.Closer) { _ = cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), fakeVariable+"=gateway", pidVariable+"="+file)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(in, initialize+"\n")
			if line, err := bufio.NewReader(out).ReadString('\n'); !strings.Contains(line, "serverInfo") {
				t.Fatal(line, err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(string(text))
			if err != nil || !alive(pid) {
				t.Fatalf("the command has the process %q: %v", text, err)
			}
			end(cmd, in)
			started := time.Now()
			_ = cmd.Wait()
			t.Logf("the gateway has ended after %v", time.Since(started))
			for deadline := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					_ = exec.Command("kill", "-9", strconv.Itoa(pid)).Run()
					t.Fatal("the command is left")
				}
			}
		})
	}
}
