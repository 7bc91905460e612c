package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

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
could not be done.`,
		Example: `  sallyport check calls.jsonl
  sallyport check --output json - < calls.jsonl
  echo '{"goal": "write the notes"}' | sallyport check --tool bernstein_run
  sallyport check --schemas ./tool_schemas --policies ./rules --fail-fast calls.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	cmd.Flags().StringVar(&c.tool, "tool", "", "judge each file as one payload of this tool")
	_ = cmd.RegisterFlagCompletionFunc("tool", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return c.settings.toolNames(cmd, s.err)
	})
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

// errStop ends the reading after the first refused call.
var errStop = errors.New("stop")

func (c *checker) run(ctx context.Context, files []string) (err error) {
	if c.eng, err = c.settings.engine(ctx, c.stderr); err != nil {
		return err
	}
	c.buffer = bufio.NewWriterSize(c.stdout, 64<<10)
	c.out = newOutput(c.format.value, c.buffer, wantsColour(c.stdout), c.eng)
	if len(files) == 0 {
		files = []string{"-"}
	}
	c.progress = startProgress(c.stderr)
	unreadable := c.files(ctx, files)
	c.progress.stop()
	if errors.Is(unreadable, errStop) {
		c.summary.stopped, unreadable = true, nil
	}
	if err := errors.Join(c.out.close(c.summary), c.buffer.Flush()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	switch {
	case unreadable != nil:
		return unreadable
	case c.summary.refused > 0:
		return errRefused
	}
	return nil
}

// files judges one file after the other. One that cannot be read does not keep
// the others from being judged.
func (c *checker) files(ctx context.Context, files []string) error {
	var faults []error
	for _, file := range files {
		err := c.file(ctx, file)
		switch {
		case errors.Is(err, errStop):
			return errors.Join(append(faults, err)...)
		case ctx.Err() != nil:
			return errors.New("interrupted")
		case err != nil:
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

func (c *checker) file(ctx context.Context, name string) error {
	var r io.Reader
	if name == "-" {
		r = c.stdin
		if isTerminal(r) {
			_, _ = fmt.Fprintln(c.stderr, "sallyport: reading calls from the terminal; end with Ctrl-D")
		}
	} else {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		r = file
	}
	r = c.progress.count(r)
	if c.asPayload {
		payload := &faultyReader{r: r}
		accepted, err := c.eng.ValidateReader(ctx, c.tool, payload)
		if payload.err != nil {
			return fmt.Errorf("%s: %w", showName(name), payload.err)
		}
		return c.answer(ctx, newResult(name, 1, c.tool), accepted, err)
	}
	err := eachMessage(r, func(m message) error { return c.message(ctx, name, m) })
	if err != nil && !errors.Is(err, errStop) {
		return fmt.Errorf("%s: %w", showName(name), err)
	}
	return err
}

// faultyReader remembers why reading failed: then the input is at fault, not the
// call.
type faultyReader struct {
	r   io.Reader
	err error
}

// Read reads.
func (f *faultyReader) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

func (c *checker) message(ctx context.Context, file string, m message) error {
	r := newResult(file, m.line, "")
	if m.tooLong {
		r.unreadable(-32600, fmt.Sprintf("the line has more than %d bytes", server.MaxMessageBytes))
		return c.show(r)
	}
	call, err := server.ReadCall(m.text)
	var unreadable *server.MessageError
	if errors.As(err, &unreadable) {
		r.unreadable(unreadable.Code, unreadable.Message)
		return c.show(r)
	}
	r.Tool = call.Tool
	accepted, err := c.eng.Validate(ctx, call.Tool, call.Arguments)
	return c.answer(ctx, r, accepted, err)
}

// unreadable fills in why a line is no call.
func (r *result) unreadable(code int, reason string) {
	r.Verdict, r.Code, r.Message = verdictRefused, code, reason
	r.Errors = []engine.Violation{{Reason: reason}}
}

func (c *checker) answer(ctx context.Context, r result, accepted *engine.ValidatedPayload, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var refusal *engine.ValidationError
	switch {
	case errors.As(err, &refusal):
		r.rejected(verdictRefused, refusal)
	case err != nil:
		return err
	case accepted.Bypassed != nil:
		r.rejected(verdictBypassed, accepted.Bypassed)
	}
	return c.show(r)
}

func (c *checker) show(r result) error {
	c.summary.add(r.Verdict)
	c.progress.calls.Add(1)
	if err := c.out.call(r); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	// Whoever feeds calls one by one waits for each answer.
	if r.file == "-" || isTerminal(c.stdout) {
		if err := c.buffer.Flush(); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	if c.failFast && r.Verdict == verdictRefused {
		return errStop
	}
	return nil
}
