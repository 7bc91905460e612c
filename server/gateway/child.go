package gateway

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Command is a server that talks in lines on its standard streams (MCP, transports,
// stdio).
type Command struct {
	Path   string // looked up in PATH if it has no slash
	Args   []string
	Env    []string  // of the form name=value; nil for that of this process
	Dir    string    // "" for that of this process
	Stderr io.Writer // nil for that of this process
}

// The times that a child has to end, one after the other: once its input has ended, and
// once it has been asked to. They are shorter where we have been asked to end ourselves:
// clients kill what has not ended two seconds later, and would leave the child behind.
var (
	afterEnd    = 5 * time.Second
	afterTerm   = 3 * time.Second
	hurriedEnd  = 500 * time.Millisecond
	hurriedTerm = time.Second
	// afterExit is how long output is read on that a child has left behind.
	afterExit = time.Second
)

// child is a command that runs, with all that it starts in a process group of its own.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	exited chan struct{} // closed once the command itself has ended
}

func (c Command) start() (*child, error) {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env, cmd.Dir, cmd.Stderr = c.Env, c.Dir, c.Stderr
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	ownGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: that is closed when the command ends, read or not.
	stdout, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = writer
	running := &child{cmd: cmd, stdin: stdin, stdout: stdout, exited: make(chan struct{})}
	err = running.run()
	_ = writer.Close()
	if err != nil {
		_ = stdout.Close()
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return running, nil
}

// run starts the command and waits for its end on a thread of its own: what the kernel
// calls the parent of a process is the thread that has started it.
func (c *child) run() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // the code is in ProcessState
			close(c.exited)
		}
	}()
	return <-started
}

// stop ends the child in order: its input, then TERM, then KILL, to all that it has
// started. It returns once the child has ended. hurry is closed when there is less time;
// nil for never.
func (c *child) stop(hurry <-chan struct{}) {
	_ = c.stdin.Close()
	if !c.endsWithin(afterEnd, hurriedEnd, hurry) {
		c.signal(terminate)
		if !c.endsWithin(afterTerm, hurriedTerm, hurry) {
			c.signal(kill)
		}
		<-c.exited
	}
	c.signal(kill) // what it left behind
}

func (c *child) endsWithin(d, hurried time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-c.exited:
			return true
		case <-timer.C:
			return false
		case <-hurry:
			hurry = nil
			timer.Reset(min(d, hurried))
		}
	}
}

// code is what the shell would call the exit code: that of the command, or 128 and the
// signal that ended it.
func (c *child) code() int {
	state := c.cmd.ProcessState
	if state == nil {
		return 1
	}
	if n, bySignal := signalOf(state); bySignal {
		return 128 + n
	}
	return state.ExitCode()
}

// copyOutput writes the child's output to w until it ends, or until a while after the
// child has ended: somebody else may have kept it open.
func (c *child) copyOutput(w io.Writer) error {
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(w, c.stdout)
		done <- err
	}()
	select {
	case err := <-done:
		_ = c.stdout.Close()
		return err
	case <-c.exited:
	}
	timer := time.NewTimer(afterExit)
	defer timer.Stop()
	select {
	case err := <-done:
		_ = c.stdout.Close()
		return err
	case <-timer.C:
		_ = c.stdout.Close()
		return errors.New("the server has ended, and something that it started keeps its output open")
	}
}
