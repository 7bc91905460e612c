package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
)

// listened serves h on an address of its own until the test ends.
func listened(t *testing.T, l Listen, h http.Handler) string {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	l.Address, l.Grace = "127.0.0.1:0", time.Second
	address, done := make(chan net.Addr, 1), make(chan error, 1)
	go func() { done <- l.Serve(ctx, h, zap.NewNop(), func(a net.Addr) { address <- a }) }()
	t.Cleanup(func() {
		end()
		<-done
	})
	select {
	case a := <-address:
		return a.String()
	case err := <-done:
		t.Fatal(err)
		return ""
	}
}

// A client that sends too slowly loses its connection; an answer may take longer than any
// request.
func TestSlowClients(t *testing.T) {
	limits := Listen{HeaderTimeout: 100 * time.Millisecond, BodyTimeout: 100 * time.Millisecond, Idle: 100 * time.Millisecond}
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "the body could not be read", http.StatusBadRequest)
			return
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-r.Context().Done(): // as of a client that is gone
		}
		_, _ = fmt.Fprintf(w, "got %s, %v", body, r.Context().Err())
	})
	address := listened(t, limits, h)
	for name, c := range map[string]struct{ sent, want string }{
		"a line without end": {"POST /mcp HTTP/1.1\r\nHost: x\r\nX-Long: ", ""},
		"nothing":            {"", ""},
		"a body without end": {"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", "HTTP/1.1 400"},
		"chunks without end": {"POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "HTTP/1.1 400"},
		"a huge length":      {"POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n{", "HTTP/1.1 400"},
		"a whole request":    {"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", "got {}, <nil>"},
		"and one after it":   {"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n[]", "got [], <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			_, _ = io.WriteString(conn, c.sent)
			got, err := io.ReadAll(bufio.NewReader(conn)) // until the server hangs up
			if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
				t.Errorf("the connection stays: %q", got)
			}
			if !strings.Contains(string(got), c.want) {
				t.Errorf("answered with %q, want %q", got, c.want)
			}
		})
	}
}
