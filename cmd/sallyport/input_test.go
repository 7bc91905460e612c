package main

import (
	"errors"
	"io"
	"runtime"
	"strings"
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
		"nothing":                    {"", nil},
		"blank lines":                {"\n \r\n\t\n", nil},
		"lines":                      {"{}\n[]\n", []seen{{1, "{}", false}, {2, "[]", false}}},
		"no end on the last":         {"{}\n1", []seen{{1, "{}", false}, {2, "1", false}}},
		"CR LF and blank lines":      {"\r\n{}\r\n\r\n{}\r\n", []seen{{2, "{}", false}, {4, "{}", false}}},
		"one document":               {"\n{\n \"a\":\n1}\n\n", []seen{{2, "{\n \"a\":\n1}", false}}},
		"one array":                  {"[\n1]", []seen{{1, "[\n1]", false}}},
		"begins like a document":     {"{\"a\":\n{}\n", []seen{{1, `{"a":`, false}, {2, "{}", false}}},
		"two documents over lines":   {"{\n}\n{\n}", []seen{{1, "{", false}, {2, "}", false}, {3, "{", false}, {4, "}", false}}},
		"no JSON":                    {"hello\n{\n}\n", []seen{{1, "hello", false}, {2, "{", false}, {3, "}", false}}},
		"as long as may be":          {longest + "\r\n{}", []seen{{1, longest, false}, {2, "{}", false}}},
		"one byte longer":            {longest + "x\n{}", []seen{{1, "", true}, {2, "{}", false}}},
		"one byte longer at the end": {"{}\n" + longest + "x", []seen{{1, "{}", false}, {2, "", true}}},
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
