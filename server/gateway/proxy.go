package gateway

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server"
)

// Upstream is a server that is reached over HTTP.
type Upstream struct {
	// URL is where it serves MCP, such as http://127.0.0.1:3000/mcp.
	URL *url.URL
	// Prefix is the path below which the gateway serves it, such as /files; "" for all.
	Prefix string
	// Header is set on every request to it, such as a token that clients need not know.
	Header http.Header
}

// ParseUpstream reads the URL of an upstream.
func ParseUpstream(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("upstream %q: %w", text, err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("upstream %q: not of the form http://host/path or https://host/path", text)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("upstream %q: credentials, a query and a fragment have no place in it", u.Redacted())
	}
	return u, nil
}

// The times that a connection to an upstream may take. How long it may take to answer is
// for the tools to say.
const (
	dialTimeout = 10 * time.Second
	keepIdle    = 90 * time.Second
	idleConns   = 128
)

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true // the judge reads what comes
	t.TLSHandshakeTimeout = dialTimeout
	t.IdleConnTimeout = keepIdle
	t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConns, idleConns
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	return t
}

// NewProxy returns the handler that stands in front of an upstream: streamable HTTP of
// every revision, and the legacy transport. It keeps no sessions.
func NewProxy(u Upstream, judge *server.Judge, logger *zap.Logger, options ...server.HTTPOption) http.Handler {
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1, // events go on as they come
		Transport:     newTransport(),
		Rewrite:       u.rewrite,
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				logger.Error("the upstream cannot be reached", zap.Error(err))
			}
			panic(http.ErrAbortHandler) // the judge answers
		},
		ErrorLog: zap.NewStdLog(logger),
	}
	if u.Prefix != "" {
		options = append(options, server.WithPathPrefix(u.Prefix))
	}
	return judge.HTTP(alwaysAborting(proxy), options...)
}

// alwaysAborting has a proxy end in a panic where the upstream breaks off in the middle
// of an answer, also for a request that comes from no server.
func alwaysAborting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(http.ServerContextKey) == nil {
			r = r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, &http.Server{ReadHeaderTimeout: dialTimeout}))
		}
		h.ServeHTTP(w, r)
	})
}

// rewrite makes the request to the upstream. Paths stay as they are below the prefix,
// except for its root, which is where the upstream serves MCP.
func (u Upstream) rewrite(r *httputil.ProxyRequest) {
	r.SetXForwarded()
	r.Out.URL.Scheme, r.Out.URL.Host = u.URL.Scheme, u.URL.Host
	r.Out.Host = "" // that of the URL
	path := strings.TrimPrefix(r.In.URL.EscapedPath(), u.Prefix)
	if path == "" || path == "/" {
		path = u.URL.EscapedPath()
	}
	if path == "" {
		path = "/"
	}
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	r.Out.URL.Path, r.Out.URL.RawPath = plain, path
	r.Out.Header.Del("Accept-Encoding")
	r.Out.Header.Del("Origin") // has been checked here, and names the gateway
	for name, values := range u.Header {
		r.Out.Header[name] = values
	}
}
