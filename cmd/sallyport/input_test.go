package main

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/server"
)

// seen is what a test compares of one message.
type seen struct {
	Line    int
	Text    string
	TooLong bool
}

func messages(t *testing.T, r io.Reader) []seen {
	t.Helper()
	var list []seen
	err := eachMessage(r, func(m message) error {
		text := string(m.text)
		if m.tooLong {
			text = ""
		}
		list = append(list, seen{m.line, text, m.tooLong})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEachMessage(t *testing.T) {
	longest := strings.Repeat("x", server.MaxMessageBytes)
	for name, c := range map[string]struct {
		text string
		want []seen
	}{
		"nothing":                     {"", nil},
		"blank lines":                 {"\n \r\n\t\n", nil},
		"white space, not JSON's":     {"\u00a0\n\v\n", []seen{{1, "\u00a0", false}, {2, "\v", false}}},
		"long white space hides":      {strings.Repeat(" ", server.MaxMessageBytes+2) + "{}\n{}", []seen{{1, "", true}, {2, "{}", false}}},
		"byte order mark, document":   {"\ufeff{\n}", []seen{{1, "\ufeff{", false}, {2, "}", false}}},
		"invalid UTF-8 in a document": {"{\n\"\xff\":1}", []seen{{1, "{\n\"\xff\":1}", false}}},
		"key twice in a document":     {"{\"a\":1,\n\"a\":1}", []seen{{1, "{\"a\":1,\n\"a\":1}", false}}},
		"value and more on a line":    {"{}{\n}", []seen{{1, "{}{", false}, {2, "}", false}}},
		"number over lines":           {"1\n2", []seen{{1, "1", false}, {2, "2", false}}},
		"lines":                       {"{}\n[]\n", []seen{{1, "{}", false}, {2, "[]", false}}},
		"no end on the last":          {"{}\n1", []seen{{1, "{}", false}, {2, "1", false}}},
		"CR LF and blank lines":       {"\r\n{}\r\n\r\n{}\r\n", []seen{{2, "{}", false}, {4, "{}", false}}},
		"one document":                {"\n{\n \"a\":\n1}\n\n", []seen{{2, "{\n \"a\":\n1}", false}}},
		"one array":                   {"[\n1]", []seen{{1, "[\n1]", false}}},
		"begins like a document":      {"{\"a\":\n{}\n", []seen{{1, `{"a":`, false}, {2, "{}", false}}},
		"two documents over lines":    {"{\n}\n{\n}", []seen{{1, "{", false}, {2, "}", false}, {3, "{", false}, {4, "}", false}}},
		"no JSON":                     {"hello\n{\n}\n", []seen{{1, "hello", false}, {2, "{", false}, {3, "}", false}}},
		"as long as may be":           {longest + "\r\n{}", []seen{{1, longest, false}, {2, "{}", false}}},
		"one byte longer":             {longest + "x\n{}", []seen{{1, "", true}, {2, "{}", false}}},
		"one byte longer at the end":  {"{}\n" + longest + "x", []seen{{1, "{}", false}, {2, "", true}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, messages(t, strings.NewReader(c.text))); diff != "" {
				t.Errorf("(-want +got):\n%.2000s", diff)
			}
			// However the reader cuts it.
			if len(c.text) < 1000 {
				if diff := cmp.Diff(c.want, messages(t, &oneByteReader{strings.NewReader(c.text)})); diff != "" {
					t.Errorf("byte by byte (-want +got):\n%s", diff)
				}
			}
		})
	}
}

type oneByteReader struct{ r io.Reader }

func (o *oneByteReader) Read(b []byte) (int, error) { return o.r.Read(b[:min(len(b), 1)]) }

// A line without an end takes no more memory than a message may have.
func TestEndlessLineIsDrained(t *testing.T) {
	const size = 256 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := messages(t, io.MultiReader(io.LimitReader(endless('x'), size), strings.NewReader("\n{}\n")))
	runtime.ReadMemStats(&after)
	if diff := cmp.Diff([]seen{{1, "", true}, {2, "{}", false}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 40<<20 {
		t.Errorf("%d bytes were allocated for a line of %d", spent, size)
	}
}

// What is held of a document is bounded, too.
func TestLongDocumentIsRead(t *testing.T) {
	at := "[\n" + strings.Repeat(" ", longestDocument-len("[\n]")) + "]"
	if got := messages(t, strings.NewReader(at)); len(got) != 1 || got[0].Text != at {
		t.Errorf("at the limit: %d messages", len(got))
	}
	if got := messages(t, strings.NewReader(" "+at)); len(got) != 2 || got[0].Text != " [" || !got[1].TooLong {
		t.Errorf("one byte longer: %d messages", len(got))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := messages(t, io.MultiReader(strings.NewReader("[\n"), io.LimitReader(endless(' '), 256<<20)))
	runtime.ReadMemStats(&after)
	if diff := cmp.Diff([]seen{{1, "[", false}, {2, "", true}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 128<<20 {
		t.Errorf("%d bytes were allocated", spent)
	}
}

// Whoever sends one call at a time gets each verdict before the next call, be it
// good or bad.
func TestMessagesAreHandledAsTheyCome(t *testing.T) {
	r, w := io.Pipe()
	handled := make(chan string)
	done := make(chan error, 1)
	go func() {
		done <- eachMessage(r, func(m message) error {
			handled <- string(m.text)
			return nil
		})
	}()
	for _, line := range []string{`{"name":"a"}`, `nonsense`, `{"name":`, `{}`} {
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-handled; got != line {
			t.Errorf("got %q, want %q", got, line)
		}
	}
	_ = w.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A read that waits, for instance on a terminal, ends with the context.
func TestInputEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	waiting, w := io.Pipe()
	defer w.Close()
	in, err := openInput(ctx, "-", waiting)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	asked := make(chan struct{})
	in.read, in.before = new(atomic.Int64), func() error { close(asked); return nil }
	go func() { <-asked; cancel() }()
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) || !errors.Is(in.fault, context.Canceled) {
		t.Errorf("error %v, fault %v", err, in.fault)
	}
}

type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

func TestReadErrorsAreReported(t *testing.T) {
	broken := errors.New("broken")
	for _, text := range []string{"", "{}\n", "{\n", "{}\n{}"} {
		r := io.MultiReader(strings.NewReader(text), &failing{broken})
		if err := eachMessage(r, func(message) error { return nil }); !errors.Is(err, broken) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }
