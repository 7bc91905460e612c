// Package bundles keeps a file with an OPA bundle up to date from an HTTP service: it
// downloads with OPA's own downloader, takes only what is signed, newer and without a
// fault, and writes that to the file. Whoever watches the file puts it into force, so a
// start without the service finds the last good one there.
//
// It knows engine and the settings of a bundle. It must not know upstreams, calls or
// transports.
package bundles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/download"
	"github.com/open-policy-agent/opa/v1/keys"
	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/open-policy-agent/opa/v1/plugins/rest"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server/config"
	"github.com/sallyport-mcp/sallyport/server/internal/wholefile"
)

// maxFileBytes bounds each file of a bundle, unpacked.
const maxFileBytes = 16 << 20

// Follower follows what a service has.
type Follower struct {
	settings config.Bundle
	key      *engine.BundleKey
	check    func(context.Context, *engine.Bundle) error
	logger   *zap.Logger
	client   rest.Client
	path     string
}

// New returns a follower of settings.URL. check says what is wrong with a bundle that is
// signed and newer, such as that no engine can be built from it; nil takes it.
func New(settings config.Bundle, check func(context.Context, *engine.Bundle) error, logger *zap.Logger) (*Follower, error) {
	key, err := settings.ReadKey()
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, errors.New("a bundle from a service has to be signed, and there is no key")
	}
	where, err := url.Parse(settings.URL)
	if err != nil {
		return nil, err
	}
	service := url.URL{Scheme: where.Scheme, Host: where.Host}
	options, err := json.Marshal(map[string]any{"url": service.String()})
	if err != nil {
		return nil, err
	}
	client, err := rest.New(options, map[string]*keys.Config{}, rest.Logger(logging.NewNoOpLogger()))
	if err != nil {
		return nil, err
	}
	return &Follower{settings: settings, key: key, check: check, logger: logger, client: client, path: where.RequestURI()[1:]}, nil
}

// First sees to it that there is a bundle in the file: where there is none it asks the
// service once. The error says why there is none yet.
func (f *Follower) First(ctx context.Context) error {
	_, err := os.Stat(f.settings.File)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d, err := f.downloader(f.take)
	if err != nil {
		return err
	}
	if err := d.Trigger(ctx); err != nil {
		return fmt.Errorf("there is no bundle in %s, and %s has none that can be used: %w", f.settings.File, f.settings.URL, err)
	}
	_, err = os.Stat(f.settings.File)
	return err
}

// Run asks the service again and again, until ctx ends. Whatever is wrong is logged, and
// changes nothing.
func (f *Follower) Run(ctx context.Context) error {
	var d *download.Downloader
	var err error
	d, err = f.downloader(func(ctx context.Context, u download.Update) error {
		err := f.take(ctx, u)
		if failed := errors.Join(u.Error, err); failed != nil && ctx.Err() == nil {
			f.logger.Error("the bundle is not taken over, the old one stays in force", zap.String("url", f.settings.URL), zap.Error(failed))
		}
		if err != nil {
			d.ClearCache() // look at it again the next time: it may have been a full disk
		}
		return nil // an error would make the next time come at once
	})
	if err != nil {
		return err
	}
	d.Start(ctx)
	<-ctx.Done()
	d.Stop(context.WithoutCancel(ctx))
	return nil
}

func (f *Follower) downloader(callback func(context.Context, download.Update) error) (*download.Downloader, error) {
	seconds := max(1, int64(f.settings.Poll/time.Second))
	polling := download.Config{Polling: download.PollingConfig{MinDelaySeconds: &seconds, MaxDelaySeconds: &seconds}}
	if err := polling.ValidateAndInjectDefaults(); err != nil {
		return nil, err
	}
	verification := bundle.NewVerificationConfig(map[string]*bundle.KeyConfig{"key": {Key: f.key.Key, Algorithm: f.key.Algorithm}}, "key", "", nil)
	return download.New(polling, f.client, f.path).
		WithCallback(callback).
		WithBundleVerificationConfig(verification).
		WithBundlePersistence(true). // for its bytes
		WithSizeLimitBytes(maxFileBytes).
		WithBundleParserOpts(ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true}), nil
}

// take writes what came to the file, if it is newer and nothing is wrong with it.
func (f *Follower) take(ctx context.Context, u download.Update) error {
	if u.Error != nil || u.Bundle == nil { // the downloader tells of its own errors; or there is nothing new
		return nil
	}
	archive, err := io.ReadAll(u.Raw)
	if err != nil {
		return err
	}
	next, err := engine.ReadBundle(bytes.NewReader(archive), f.key) // what a restart will read
	if err != nil {
		return err
	}
	current, err := os.ReadFile(f.settings.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case bytes.Equal(current, archive):
		return nil
	default:
		if err := f.newer(current, next.Revision); err != nil {
			return err
		}
	}
	if _, err := rank(next.Revision); err != nil {
		return err
	}
	if err := f.check(ctx, next); err != nil {
		return fmt.Errorf("revision %q: %w", next.Revision, err)
	}
	if err := wholefile.Replace(f.settings.File, archive, 0o600); err != nil {
		return err
	}
	f.logger.Info("there is a new bundle", zap.String("revision", next.Revision), zap.String("url", f.settings.URL))
	return nil
}

// newer wants the revision to be past that of the bundle in the file. Else whoever can
// answer for the service could bring back rules that have long been mended, with their
// good old signature.
func (f *Follower) newer(current []byte, next string) error {
	held, err := engine.ReadBundle(bytes.NewReader(current), f.key)
	if err != nil {
		return fmt.Errorf("%s: %w; remove the file to take what the service has", f.settings.File, err)
	}
	before, err := rank(held.Revision)
	if err != nil {
		return fmt.Errorf("%s: %w", f.settings.File, err)
	}
	after, err := rank(next)
	if err != nil {
		return err
	}
	if !after.after(before) {
		return fmt.Errorf("revision %q is not newer than %q, which is in force", next, held.Revision)
	}
	return nil
}

// revision is one that has an order: a time, or a number.
type revision struct {
	time   time.Time
	number uint64
}

func (r revision) after(other revision) bool {
	if r.time.IsZero() != other.time.IsZero() {
		return false // one is a time, the other a number
	}
	return r.time.After(other.time) || r.number > other.number
}

// rank reads a revision.
func rank(text string) (revision, error) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil && !t.IsZero() {
		return revision{time: t}, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return revision{}, fmt.Errorf("revision %q is neither a time (RFC 3339) nor a whole number, so nobody knows whether it is newer", text)
	}
	return revision{number: n}, nil
}
