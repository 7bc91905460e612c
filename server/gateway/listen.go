package gateway

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Listen says where and how the gateway serves HTTP.
type Listen struct {
	Address  string // host:port
	CertFile string // of TLS, in PEM; "" for none
	KeyFile  string
	// Token has to come with each request, as Authorization: Bearer, and does not go on
	// to the upstream; "" for none.
	Token string
	// Open allows an address that others can reach without a token.
	Open bool
	// Grace is how long calls in flight have to finish once the gateway is to end.
	Grace time.Duration
	// Idle is how long a connection may be without a request.
	Idle time.Duration
	// MaxHeaderBytes bounds the headers of a request, and HeaderTimeout how long they may
	// take to come.
	MaxHeaderBytes int
	HeaderTimeout  time.Duration
	// BodyTimeout is how long the body of a request may take to come.
	BodyTimeout time.Duration
}

// The defaults of Listen.
const (
	DefaultGrace          = 30 * time.Second
	DefaultIdle           = 2 * time.Minute
	DefaultMaxHeaderBytes = 64 << 10
	DefaultHeaderTimeout  = 10 * time.Second
	DefaultBodyTimeout    = time.Minute
)

// check refuses what is not safe, or makes no sense.
func (l Listen) check() error {
	host, _, err := net.SplitHostPort(l.Address)
	switch {
	case err != nil:
		return fmt.Errorf("listen address %q: %w", l.Address, err)
	case (l.CertFile == "") != (l.KeyFile == ""):
		return errors.New("TLS needs both a certificate file and a key file")
	case !isLoopback(host) && l.Token == "" && !l.Open:
		return fmt.Errorf("listen address %q can be reached by others: ask for a token, or say that it is to be open", l.Address)
	}
	return nil
}

func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// Serve serves h until ctx ends. Then it takes no more requests, ends the streams that
// nobody calls through, and gives calls in flight their time. started is told the address
// once there is one.
func (l Listen) Serve(ctx context.Context, h http.Handler, logger *zap.Logger, started func(net.Addr)) error {
	if err := l.check(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", l.Address)
	if err != nil {
		return err
	}
	streams, endStreams := context.WithCancel(context.Background())
	defer endStreams()
	s := &http.Server{
		Handler:           timingBodies(orDefault(l.BodyTimeout, DefaultBodyTimeout), withToken(l.Token, endingStreams(streams, h))),
		ReadHeaderTimeout: orDefault(l.HeaderTimeout, DefaultHeaderTimeout),
		IdleTimeout:       orDefault(l.Idle, DefaultIdle),
		MaxHeaderBytes:    orDefault(l.MaxHeaderBytes, DefaultMaxHeaderBytes),
		ErrorLog:          zap.NewStdLog(logger),
	}
	done := make(chan error, 1)
	go func() {
		if l.CertFile != "" {
			done <- s.ServeTLS(listener, l.CertFile, l.KeyFile)
			return
		}
		done <- s.Serve(listener)
	}()
	started(listener.Addr())
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	endStreams()
	grace, cancel := context.WithTimeout(context.Background(), orDefault(l.Grace, DefaultGrace))
	defer cancel()
	if err := s.Shutdown(grace); err != nil {
		_ = s.Close()
		return fmt.Errorf("calls were still in flight at the end: %w", err)
	}
	return nil
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// endingStreams ends GET requests with ctx: they are streams that have no end.
func endingStreams(ctx context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			inner, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			r = r.WithContext(inner)
		}
		h.ServeHTTP(w, r)
	})
}

// timingBodies bounds how long a body may take to come. The server has no such bound for
// what follows: an answer may take as long as the tool does.
func timingBodies(d time.Duration, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			connection := http.NewResponseController(w)
			_ = connection.SetReadDeadline(time.Now().Add(d)) // a server's connection has one
			r.Body = &timedBody{r.Body, func() { _ = connection.SetReadDeadline(time.Time{}) }}
		}
		h.ServeHTTP(w, r)
	})
}

// timedBody says once that it has come to its end.
type timedBody struct {
	io.ReadCloser
	ended func()
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && b.ended != nil {
		b.ended()
		b.ended = nil
	}
	return n, err
}

// withToken lets requests pass that bring the token, and takes it off.
func withToken(token string, h http.Handler) http.Handler {
	if token == "" {
		return h
	}
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := []byte(r.Header.Get("Authorization"))
		if len(r.Header.Values("Authorization")) != 1 || subtle.ConstantTimeCompare(got, want) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="sallyport"`)
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		r.Header.Del("Authorization")
		h.ServeHTTP(w, r)
	})
}

// Mux serves several handlers, each below a path of its own.
type Mux struct {
	mu     sync.RWMutex
	byPath map[string]http.Handler
}

// Handle has h serve prefix and what is below it; "" is everything else. It says whether
// the prefix was free.
func (m *Mux) Handle(prefix string, h http.Handler) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byPath == nil {
		m.byPath = map[string]http.Handler{}
	}
	if m.byPath[prefix] != nil {
		return false
	}
	m.byPath[prefix] = h
	return true
}

// ServeHTTP implements http.Handler. The longest prefix counts.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.RLock()
	h, longest := m.byPath[""], 0
	for prefix, candidate := range m.byPath {
		if len(prefix) > longest && (r.URL.Path == prefix || strings.HasPrefix(r.URL.Path, prefix+"/")) {
			h, longest = candidate, len(prefix)
		}
	}
	m.mu.RUnlock()
	if h == nil {
		http.NotFound(w, r)
		return
	}
	h.ServeHTTP(w, r)
}
