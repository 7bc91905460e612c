// Command sallyport judges MCP tool calls from the command line.
//
// It reads input, asks the engine and shows answers; it decides nothing itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitOK      = 0
	exitRefused = 1 // some call was refused
	exitFailed  = 2 // the work could not be done
)

var (
	// errRefused ends a command that did its work and found refused calls.
	errRefused = errors.New("calls were refused")
	// errReported ends a command that has said already what it could not do.
	errReported = errors.New("reported")
)

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

func run(args []string, s streams) int {
	signal.Ignore(syscall.SIGPIPE) // so that a closed pipe is an error of Write
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errRefused):
		return exitRefused
	case errors.Is(err, errReported):
		return exitFailed
	case errors.Is(err, syscall.EPIPE):
		return exitFailed // whoever read the output has gone
	}
	report(s.err, err)
	return exitFailed
}

// report prints an error once; one that holds several is printed as a list.
func report(w io.Writer, err error) {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	_, _ = fmt.Fprintf(w, "sallyport: %s\n", showLine(lines[0]))
	for _, line := range lines[1:] {
		_, _ = fmt.Fprintf(w, "  %s\n", showLine(line))
	}
}
