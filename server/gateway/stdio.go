package gateway

import (
	"context"
	"errors"
	"io"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// Options are what all ways to reach a server have in common.
type Options struct {
	// Upstream is the name of the server, for logs and for Inspect.
	Upstream string
	// Engine has the rules and settings, and with FromFiles the tools too.
	Engine *engine.Engine
	// FromFiles takes the tools that Engine has, instead of those that the server lists.
	FromFiles  bool
	Inspect    Inspect // of what the server lists; may be nil
	Rejections server.Rejections
	Logger     *zap.Logger
}

// NewJudge returns the judge of these options.
func (o Options) NewJudge() (*server.Judge, error) {
	options := []server.Option{server.WithLogger(o.Logger.With(zap.String("upstream", o.Upstream)))}
	if o.Rejections != "" {
		options = append(options, server.WithRejections(o.Rejections))
	}
	if o.FromFiles {
		return server.NewJudge(o.Engine, options...)
	}
	learner, err := NewLearner(o.Upstream, o.Engine, o.Inspect, o.Logger)
	if err != nil {
		return nil, err
	}
	return server.NewJudgeFrom(learner, options...)
}

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
