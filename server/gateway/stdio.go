package gateway

import (
	"context"
	"errors"
	"io"

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
		running.stop()
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
		running.stop()
	case <-ctx.Done():
		running.stop()
	}
	err = <-outputDone
	guard.Abandon("the server has ended")
	return running.code(), errors.Join(err, guard.Close())
}
