package server

import (
	"bytes"
	"net/http/httptest"
	"slices"
	"testing"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
)

// FuzzEvents holds that a stream of events comes out the same in whatever parts it comes
// in, and that nothing of it is lost where it holds no list of tools.
func FuzzEvents(f *testing.F) {
	for _, stream := range []string{
		"event: message\ndata: {}\n\n", "data: a\r\ndata: b\r\n\r\n", "data: a\rdata: b\r\r", ": comment\n\n\n\r\r\n", "\xef\xbb\xbfdata: a\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\ndata: unended", "\r", "\n", "",
	} {
		f.Add([]byte(stream), 3)
	}
	e, err := engine.New(f.Context(), engine.WithServerTools(nil), engine.WithLogger(zap.NewNop()))
	if err != nil {
		f.Fatal(err)
	}
	j, err := NewJudge(e)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		if size < 1 || size > 1000 || len(stream) > 10_000 {
			return
		}
		through := func(size int) []byte {
			w := httptest.NewRecorder()
			events := &eventWriter{ctx: t.Context(), judge: j, w: w}
			for part := range slices.Chunk(stream, size) {
				if n, err := events.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			events.end()
			return w.Body.Bytes()
		}
		whole := through(len(stream) + 1)
		if parts := through(size); !bytes.Equal(whole, parts) {
			t.Errorf("%q in parts of %d: %q, at once %q", stream, size, parts, whole)
		}
		if !mentionsTools(stream) && !bytes.Equal(whole, bytes.TrimPrefix(stream, []byte("\xef\xbb\xbf"))) {
			t.Errorf("%q comes out as %q", stream, whole)
		}
	})
}
