package gateway

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sallyport-mcp/sallyport/server"
)

// Stdio stands between a client on in and out and a command. prepare makes the judge
// while the command starts. It returns the exit code of the command once that has ended,
// the client's input has, or ctx has. A request that the command leaves without an answer
// is answered.
func Stdio(ctx context.Context, c Command, in io.Reader, out io.Writer, prepare func() (*server.Judge, error)) (code int, err error) {
	running, err := c.start()
	if err != nil {
		return 0, err
	}
	judge, err := prepare()
	if err != nil {
		running.stop(ctx.Done())
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	guard := judge.NewStdio(ctx, in, out)
	inputDone := make(chan struct{})
	go func() {
		defer close(inputDone)
		_, _ = io.Copy(running.stdin, guard)
	}()
	outputDone := make(chan error, 1)
	go func() { outputDone <- running.copyOutput(guard) }()
	select {
	case <-running.exited:
	case <-inputDone:
		running.stop(ctx.Done())
	case <-ctx.Done():
		running.stop(ctx.Done())
	case err := <-outputDone: // it says nothing more, whether it has ended or not
		outputDone <- err
		abandon(guard)
		running.stop(ctx.Done())
	}
	err = <-outputDone
	abandon(guard)
	return running.code(), errors.Join(err, closeSoon(guard))
}

// abandon answers what the server has left, as far as the client takes it.
func abandon(guard *server.Stdio) {
	within(afterExit, func() { guard.Abandon("the server has ended") })
}

// closeSoon does not wait for a client that takes nothing.
func closeSoon(guard *server.Stdio) (err error) {
	closed := make(chan error, 1)
	within(afterExit, func() { closed <- guard.Close() })
	select {
	case err = <-closed:
	default:
		err = errors.New("the client does not take the last answers")
	}
	return err
}

// within waits for work, but no longer than that.
func within(d time.Duration, work func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
