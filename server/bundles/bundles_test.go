package bundles_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/engine/workshop"
	"github.com/sallyport-mcp/sallyport/server/bundles"
	"github.com/sallyport-mcp/sallyport/server/config"
)

// service serves one bundle, which can be exchanged.
type service struct {
	sync.Mutex
	status  int
	archive []byte
	asked   int
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	s.asked++
	if r.URL.Path != "/rules/agents.tar.gz" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/gzip")
	if s.status != 0 {
		w.WriteHeader(s.status)
	}
	_, _ = w.Write(s.archive)
}

func (s *service) serve(archive []byte) {
	s.Lock()
	defer s.Unlock()
	s.archive, s.status = archive, 0
}

// fixture has a service, a key and a place for the file.
type fixture struct {
	*service
	t        *testing.T
	url      string
	private  string
	settings config.Bundle
	log      *observer.ObservedLogs
	logger   *zap.Logger
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{service: &service{}, t: t}
	server := httptest.NewServer(f.service)
	t.Cleanup(server.Close)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	open, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	f.private = string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}))
	folder := t.TempDir()
	public := filepath.Join(folder, "key.pem")
	if err := os.WriteFile(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open}), 0o600); err != nil {
		t.Fatal(err)
	}
	f.url = server.URL
	f.settings = config.Bundle{
		File: filepath.Join(folder, "held.tar.gz"), Key: public, Algorithm: "ES256", URL: server.URL + "/rules/agents.tar.gz", Poll: time.Second,
	}
	core, log := observer.New(zapcore.InfoLevel)
	f.log, f.logger = log, zap.New(core)
	return f
}

// bundle makes a bundle with a limit by which it can be told.
func (f *fixture) bundle(revision string, depth int, signed bool) []byte {
	f.t.Helper()
	var signing *workshop.Signing
	if signed {
		signing = &workshop.Signing{Key: f.private, Algorithm: "ES256"}
	}
	rules := fstest.MapFS{"data.json": {Data: fmt.Appendf(nil, `{"sallyport": {"limits": {"max_depth": %d}}}`, depth)}}
	archive, err := workshop.Bundle(context.Background(), rules, revision, signing)
	if err != nil {
		f.t.Fatal(err)
	}
	return archive
}

// first starts a follower and asks once.
func (f *fixture) first() error {
	f.t.Helper()
	follower, err := bundles.New(f.settings, buildable, f.logger)
	if err != nil {
		f.t.Fatal(err)
	}
	return follower.First(context.Background())
}

func buildable(ctx context.Context, b *engine.Bundle) error {
	if b.Revision == "66" {
		return errors.New("this one has a fault")
	}
	_, err := engine.New(ctx, engine.WithBundle(b))
	return err
}

func (f *fixture) held() string {
	f.t.Helper()
	b, err := f.settings.Read()
	if err != nil {
		f.t.Fatal(err)
	}
	return b.Revision
}

func TestFirst(t *testing.T) {
	f := newFixture(t)
	signed, unsigned := f.bundle("7", 5, true), f.bundle("7", 5, false)
	for name, c := range map[string]struct {
		archive []byte
		status  int
		want    string
	}{
		"unsigned":   {unsigned, 0, "bundle missing .signatures.json file"},
		"tampered":   {bytes.Replace(signed, signed[40:44], []byte("xxxx"), 1), 0, "there is no bundle in"},
		"cut":        {signed[:len(signed)-40], 0, "there is no bundle in"},
		"no bundle":  {[]byte("<html>"), 0, "there is no bundle in"},
		"empty":      {nil, 0, "archive read failed"},
		"not there":  {nil, http.StatusNotFound, "Not Found"},
		"has faults": {f.bundle("66", 5, true), 0, "this one has a fault"},
		"no order":   {f.bundle("v1.2", 5, true), 0, `revision "v1.2" is neither a time (RFC 3339) nor a whole number`},
	} {
		t.Run(name, func(t *testing.T) {
			f.serve(c.archive)
			f.status = c.status
			if err := f.first(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Stat(f.settings.File); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("it is kept: %v", err)
			}
		})
	}
	f.serve(signed)
	if err := f.first(); err != nil || f.held() != "7" {
		t.Errorf("a good one: %v", err)
	}
	asked := f.asked
	f.serve(f.bundle("8", 5, true))
	if err := f.first(); err != nil || f.asked != asked || f.held() != "7" {
		t.Errorf("the service is asked, though there is a bundle: %v", err)
	}
}

// Only the newer signed one without a fault takes effect; the others are logged.
func TestRun(t *testing.T) {
	f := newFixture(t)
	f.serve(f.bundle("2026-12-07T10:00:00Z", 5, true))
	if err := f.first(); err != nil {
		t.Fatal(err)
	}
	f.log.TakeAll()
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"older":                     {f.bundle("2026-12-06T10:00:00Z", 64, true), `revision "2026-12-06T10:00:00Z" is not newer than "2026-12-07T10:00:00Z"`},
		"same revision, other data": {f.bundle("2026-12-07T10:00:00Z", 64, true), "is not newer"},
		"number for a time":         {f.bundle("99999999999", 64, true), "is not newer"},
		"unsigned":                  {f.bundle("2026-12-08T10:00:00Z", 64, false), "bundle missing .signatures.json file"},
	} {
		t.Run(name, func(t *testing.T) {
			f.serve(c.archive)
			f.run(func() bool { return f.log.FilterMessageSnippet("the old one stays in force").Len() > 0 })
			entries := f.log.TakeAll()
			if text := fmt.Sprint(entries[0].ContextMap()["error"]); !strings.Contains(text, c.want) {
				t.Errorf("the log says %q, want %q", text, c.want)
			}
			if f.held() != "2026-12-07T10:00:00Z" {
				t.Errorf("%s is in force", f.held())
			}
		})
	}
	f.serve(f.bundle("2026-12-07T12:00:00+01:00", 6, true))
	f.run(func() bool { return f.log.FilterMessage("there is a new bundle").Len() > 0 })
	if f.held() != "2026-12-07T12:00:00+01:00" {
		t.Errorf("%s is in force", f.held())
	}
	leftovers, err := filepath.Glob(filepath.Join(filepath.Dir(f.settings.File), ".held*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("files that nobody needs: %v, %v", leftovers, err)
	}
}

// run runs a follower until something is so.
func (f *fixture) run(until func() bool) {
	f.t.Helper()
	follower, err := bundles.New(f.settings, buildable, f.logger)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	ended := make(chan error)
	go func() { ended <- follower.Run(ctx) }()
	for !until() && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	if ctx.Err() != nil {
		f.t.Error("nothing has happened for 20 s")
	}
	cancel()
	if err := <-ended; err != nil {
		f.t.Error(err)
	}
}

func TestTheKeyIsNeeded(t *testing.T) {
	f := newFixture(t)
	f.settings.Key = ""
	if _, err := bundles.New(f.settings, buildable, f.logger); err == nil {
		t.Error("a follower takes unsigned bundles")
	}
}
