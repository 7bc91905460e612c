package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

func newCheck(s streams) *cobra.Command {
	c := checker{stdin: s.in, stdout: s.out, stderr: s.err, format: choice{value: "text", allowed: []string{"text", "json", "junit", "sarif"}}}
	cmd := &cobra.Command{
		Use:   "check [FILE|-]...",
		Short: "Judge recorded calls and print a verdict for each",
		Long: `Judge recorded calls and print a verdict for each.

Without --tool, each line of a file (or a file as a whole) is a JSON-RPC
tools/call request or its params object {"name": ..., "arguments": ...}. With
--tool, a file is one payload, judged byte for byte. "-" is standard input, and
the default.

Exit code 0: all calls accepted or bypassed; 1: some call refused; 2: the work
could not be done: a bad flag, schema or rule, an input that cannot be read, an
output that cannot be written, a call that could not be judged (it counts as
refused), an interrupt. 2 beats 1.`,
		Example: `  sallyport check calls.jsonl
  sallyport check --output json - < calls.jsonl
  echo '{"goal": "write the notes"}' | sallyport check --tool bernstein_run
  sallyport check --schemas ./tool_schemas --policies ./rules --fail-fast calls.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	cmd.Flags().StringVar(&c.tool, "tool", "", "judge each file as one payload of this tool")
	_ = cmd.RegisterFlagCompletionFunc("tool", c.settings.completeTool)
	c.settings.registerAll(cmd)
	c.format.register(cmd, "output", "form of the answer")
	cmd.Flags().BoolVar(&c.failFast, "fail-fast", false, "stop at the first refused call")
	cmd.PreRun = func(cmd *cobra.Command, _ []string) { c.asPayload = cmd.Flags().Changed("tool") }
	return cmd
}

// checker is one run of the check command.
type checker struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	settings  engineFlags
	format    choice
	tool      string
	asPayload bool // --tool is given, be it empty
	failFast  bool

	eng      *engine.Engine
	out      output
	buffer   *bufio.Writer
	progress *progress
	summary  summary
}

// enoughToWrite is how many bytes of output are gathered, unless a read comes
// first. The buffer has room for one more call, so that lines are written whole.
const enoughToWrite = 64 << 10

// errStop ends the reading after the first refused call.
var errStop = errors.New("stop")

// writeError is about the output: with it, reading on is of no use.
type writeError struct{ cause error }

// Error says what went wrong.
func (e *writeError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *writeError) Unwrap() error { return e.cause }

func written(err error) error {
	if err == nil {
		return nil
	}
	return &writeError{err}
}

func (c *checker) run(ctx context.Context, files []string) (err error) {
	if c.eng, err = c.settings.engine(ctx, c.stderr); err != nil {
		return err
	}
	c.progress = startProgress(c.stderr)
	defer c.progress.stop()
	c.buffer = bufio.NewWriterSize(c.progress.above(c.stdout), 4*enoughToWrite)
	c.out = newOutput(c.format.value, c.buffer, wantsColour(c.stdout), c.eng)
	if len(files) == 0 {
		files = []string{"-"}
	}
	err = c.files(ctx, files)
	c.progress.stop()
	if err == nil {
		err = written(c.out.close(c.summary))
	}
	if err == nil {
		err = written(c.buffer.Flush())
	}
	switch {
	case err != nil:
		return err
	case c.summary.interrupted:
		return errors.New("interrupted")
	case c.summary.unreadable > 0 || c.summary.unjudged > 0:
		return errReported
	case c.summary.refused > 0:
		return errRefused
	}
	return nil
}

// files judges one file after the other. One that cannot be read does not keep
// the others from being judged.
func (c *checker) files(ctx context.Context, files []string) error {
	for _, file := range files {
		if err := written(c.out.begin(showName(file))); err != nil {
			return err
		}
		err := c.file(ctx, file)
		var unwritable *writeError
		switch {
		case errors.As(err, &unwritable):
			return unwritable
		case errors.Is(err, errStop):
			c.summary.stopped = true
			return nil
		case ctx.Err() != nil:
			c.summary.interrupted = true
			return nil
		case err != nil:
			c.summary.unreadable++
			report(c.progress.above(c.stderr), err)
			if err := written(c.out.unreadable(err)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) file(ctx context.Context, name string) error {
	if name == "-" && isTerminal(c.stdin) {
		waiting := "calls, one per line,"
		if c.asPayload {
			waiting = "a payload"
		}
		_, _ = fmt.Fprintf(c.stderr, "sallyport: reading %s from the terminal; end with Ctrl-D\n", waiting)
	}
	in, err := openInput(ctx, name, c.stdin)
	if err != nil {
		return err
	}
	defer in.close()
	// An interrupt ends a read, and waits for a verdict: that takes milliseconds.
	in.read = &c.progress.bytes
	in.before = func() error { return written(c.buffer.Flush()) }
	if c.asPayload {
		accepted, err := c.eng.ValidateReader(context.WithoutCancel(ctx), c.tool, in)
		if in.fault != nil { // the input is at fault, not the call
			return fmt.Errorf("%s: %w", showName(name), in.fault)
		}
		return c.answer(newResult(name, 1), accepted, err)
	}
	err = eachMessage(in, func(m message) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return c.message(ctx, name, m)
	})
	if err != nil && !errors.Is(err, errStop) {
		return fmt.Errorf("%s: %w", showName(name), err)
	}
	return err
}

func (c *checker) message(ctx context.Context, file string, m message) error {
	r := newResult(file, m.line)
	if m.tooLong {
		r.noCall(&server.MessageError{Code: -32600, Message: fmt.Sprintf("the line has more than %d bytes", server.MaxMessageBytes)})
		return c.show(r)
	}
	call, err := server.ReadCall(m.text)
	var unreadable *server.MessageError
	var notKept *server.NotKeptError
	if errors.As(err, &notKept) {
		err = &server.MessageError{Code: -32600, Message: showLine(notKept.Error())}
	}
	if errors.As(err, &unreadable) {
		r.noCall(unreadable)
		return c.show(r)
	}
	if err != nil {
		return err
	}
	accepted, err := c.eng.Validate(context.WithoutCancel(ctx), call.Tool, call.Arguments)
	return c.answer(r, accepted, err)
}

func (c *checker) answer(r result, accepted *engine.ValidatedPayload, err error) error {
	var refusal *engine.ValidationError
	switch {
	case errors.As(err, &refusal):
		r.rejected(verdictRefused, refusal)
	case err != nil:
		return err
	case accepted.Bypassed != nil:
		r.rejected(verdictBypassed, accepted.Bypassed)
		r.Exempted = accepted.Exempted
	default:
		r.Tool, r.Repairs, r.Exempted = showName(accepted.Tool), accepted.Repairs, accepted.Exempted
	}
	if errors.Is(err, engine.ErrFault) {
		c.summary.unjudged++
		report(c.progress.above(c.stderr), fmt.Errorf("%s: %w", r.Input, errors.Unwrap(refusal)))
	}
	return c.show(r)
}

func (c *checker) show(r result) error {
	c.summary.add(r.Verdict)
	c.progress.calls.Add(1)
	if err := written(c.out.call(r)); err != nil {
		return err
	}
	if c.buffer.Buffered() > enoughToWrite {
		if err := written(c.buffer.Flush()); err != nil {
			return err
		}
	}
	if c.failFast && r.Verdict == verdictRefused {
		return errStop
	}
	return nil
}
