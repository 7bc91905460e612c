package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/sallyport-mcp/sallyport/server"
)

// recorded is one call of a file.
type recorded struct {
	input     string // file and line, fit to show
	tool      string
	arguments []byte // nil where they are absent; valid until the next call is read
	masked    bool   // a record has replaced some of them
	notKept   error  // a record has none of them; nil where it has
}

// skipped tells of a call that cannot be judged, since its record has no arguments.
func (c recorded) skipped(w io.Writer) bool {
	if c.notKept != nil {
		_, _ = fmt.Fprintf(w, "sallyport: %s: left out: %s\n", c.input, showLine(c.notKept.Error()))
	}
	return c.notKept != nil
}

// eachCall reads files as check does, with tool each as one payload, and calls handle for
// every call. Something that is no call is an error that names its place.
func eachCall(ctx context.Context, files []string, stdin io.Reader, tool *string, handle func(recorded) error) error {
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, name := range files {
		if err := callsOf(ctx, name, stdin, tool, handle); err != nil {
			return err
		}
	}
	return nil
}

func callsOf(ctx context.Context, name string, stdin io.Reader, tool *string, handle func(recorded) error) error {
	in, err := openInput(ctx, name, stdin)
	if err != nil {
		return err
	}
	defer in.close()
	in.read, in.before = new(atomic.Int64), func() error { return nil }
	if tool != nil {
		text, err := io.ReadAll(io.LimitReader(in, server.MaxMessageBytes+1))
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", showName(name), err)
		case len(text) > server.MaxMessageBytes:
			return fmt.Errorf("%s: has more than %d bytes", showName(name), server.MaxMessageBytes)
		}
		return handle(recorded{input: newResult(name, 1).Input, tool: *tool, arguments: text})
	}
	return eachMessage(in, func(m message) error {
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		at := newResult(name, m.line).Input
		if m.tooLong {
			return fmt.Errorf("%s: the line has more than %d bytes", at, server.MaxMessageBytes)
		}
		call, err := server.ReadCall(m.text)
		var unreadable *server.MessageError
		if errors.As(err, &unreadable) {
			return fmt.Errorf("%s: no call: %s", at, showLine(unreadable.Message))
		}
		var notKept *server.NotKeptError
		if errors.As(err, &notKept) {
			return handle(recorded{input: at, tool: notKept.Tool, notKept: notKept})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		return handle(recorded{input: at, tool: call.Tool, arguments: call.Arguments, masked: len(call.Masked) > 0})
	})
}
