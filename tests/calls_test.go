// Package tests holds what crosses packages: recorded calls, parity of what is
// advertised and enforced, and the shapes that benchmarks share.
package tests

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

func newEngine(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.New(context.Background(), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// outcome is one line of calls.expected.tsv.
type outcome struct{ Line, Tool, Verdict, Code, Found string }

// The recorded calls, good and bad ones for every tool, against verdicts that
// were written by hand from the specification.
func TestRecordedCalls(t *testing.T) {
	e := newEngine(t)
	calls, err := os.ReadFile("testdata/calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	expected, err := os.ReadFile("testdata/calls.expected.tsv")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]outcome{}
	for line := range strings.Lines(string(expected)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 5 {
			t.Fatalf("expected five columns in %q", line)
		}
		want[fields[0]] = outcome{fields[0], fields[1], fields[2], fields[3], fields[4]}
	}
	accepted := map[string]bool{}
	number := 0
	for scanner := bufio.NewScanner(bytes.NewReader(calls)); scanner.Scan(); {
		number++
		got := judge(e, scanner.Bytes())
		got.Line = strconv.Itoa(number)
		if diff := cmp.Diff(want[got.Line], got); diff != "" {
			t.Errorf("%s\n(-want +got):\n%s", scanner.Text(), diff)
		}
		if got.Verdict == "accepted" {
			accepted[got.Tool] = true
		}
	}
	if number != len(want) {
		t.Errorf("%d calls, %d expected verdicts", number, len(want))
	}
	for _, tool := range e.Tools() {
		if !accepted[tool] {
			t.Errorf("no good call of %s", tool)
		}
	}
}

// judge puts one line to the engine; "-" stands for nothing.
func judge(e *engine.Engine, line []byte) outcome {
	call, err := server.ReadCall(line)
	var unreadable *server.MessageError
	if errors.As(err, &unreadable) {
		return outcome{Tool: "-", Verdict: "refused", Code: strconv.Itoa(unreadable.Code), Found: "-"}
	}
	got := outcome{Tool: call.Tool, Verdict: "accepted", Code: "-", Found: "-"}
	if call.Tool == "" {
		got.Tool = "-"
	}
	_, err = e.Validate(context.Background(), call.Tool, call.Arguments)
	var refusal *engine.ValidationError
	if errors.As(err, &refusal) {
		var found []string
		for _, v := range refusal.Violations {
			found = append(found, v.Path+" "+v.Check())
		}
		got.Verdict, got.Code, got.Found = "refused", strconv.Itoa(refusal.Code), strings.Join(found, ";")
	}
	return got
}
