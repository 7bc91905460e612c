package records

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/open-policy-agent/opa/v1/plugins"
	"github.com/open-policy-agent/opa/v1/plugins/logs"
	"github.com/open-policy-agent/opa/v1/plugins/rest"
	opa "github.com/open-policy-agent/opa/v1/server"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"go.uber.org/zap"
)

const (
	// maxUpload bounds one upload, compressed. One event has to fit into it.
	maxUpload = 8 << 20
	// maxHeld bounds what is held while the service does not answer. Past it the
	// oldest events are dropped, which is logged.
	maxHeld = 64 << 20

	service = "records"
)

// uploads has OPA's plugin send events to a service.
type uploads struct {
	manager *plugins.Manager
	plugin  *logs.Plugin
}

func newUploads(ctx context.Context, s Settings, logger *zap.Logger) (*uploads, error) {
	where, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	remote := map[string]any{
		"url": (&url.URL{Scheme: where.Scheme, Host: where.Host}).String(), "credentials": map[string]any{"plugin": service},
	}
	settings, err := json.Marshal(map[string]any{"services": map[string]any{service: remote}, "labels": s.Labels})
	if err != nil {
		return nil, err
	}
	log := opaLogger{logger.Sugar()}
	u := &uploads{}
	if u.manager, err = plugins.New(settings, s.Labels["id"], inmem.New(), plugins.Logger(log)); err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	u.manager.Register(service, carrier{s.Token})
	seconds := max(1, int64(s.Delay/time.Second))
	reporting, err := json.Marshal(map[string]any{
		"service": service, "resource": where.RequestURI(),
		"reporting": map[string]any{
			"min_delay_seconds": seconds, "max_delay_seconds": seconds, "upload_size_limit_bytes": maxUpload, "buffer_size_limit_bytes": maxHeld,
		},
	})
	if err != nil {
		return nil, err
	}
	parsed, err := logs.NewConfigBuilder().WithBytes(reporting).WithServices(u.manager.Services()).WithLogger(log).Parse()
	if err == nil {
		err = u.manager.Init(ctx)
	}
	if err == nil {
		u.plugin = logs.New(parsed, u.manager)
		err = u.plugin.Start(ctx)
	}
	if err != nil {
		u.manager.Stop(ctx)
		return nil, fmt.Errorf("records: %w", err)
	}
	return u, nil
}

// maxRequest is how long one upload may take.
const maxRequest = time.Minute

// carrier is how OPA's client talks to the service: with the token, and to nobody that the
// service names instead, since records and token are for it alone.
type carrier struct{ token string }

// NewClient implements rest.HTTPAuthPlugin.
func (carrier) NewClient(c rest.Config) (*http.Client, error) {
	tls, err := rest.DefaultTLSConfig(c)
	if err != nil {
		return nil, err
	}
	client := rest.DefaultRoundTripperClient(tls, int64(maxRequest/time.Second))
	client.Timeout = maxRequest
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client, nil
}

// Prepare implements rest.HTTPAuthPlugin.
func (c carrier) Prepare(r *http.Request) error {
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return nil
}

// Start implements plugins.Plugin.
func (carrier) Start(context.Context) error { return nil }

// Stop implements plugins.Plugin.
func (carrier) Stop(context.Context) {}

// Reconfigure implements plugins.Plugin.
func (carrier) Reconfigure(context.Context, any) {}

// nothing is what OPA's masking, which is not used, would look at.
var nothing ast.Value = ast.NewObject()

func (u *uploads) put(ctx context.Context, e *logs.EventV1) error {
	bundles := map[string]opa.BundleInfo{}
	for name, b := range e.Bundles {
		bundles[name] = opa.BundleInfo{Revision: b.Revision}
	}
	return u.plugin.Log(ctx, &opa.Info{
		DecisionID: e.DecisionID, Path: e.Path, Timestamp: e.Timestamp, Bundles: bundles, Input: e.Input, InputAST: nothing, Results: e.Result, Custom: e.Custom,
	})
}

// close sends what is held, if ctx has a deadline.
func (u *uploads) close(ctx context.Context) error {
	u.plugin.Stop(ctx)
	u.manager.Stop(ctx)
	if kind, size := u.plugin.BufferSize(); size > 0 {
		return fmt.Errorf("records: %d (%s) could not be sent before the end", size, kind)
	}
	return nil
}

// opaLogger hands on what OPA logs. What it says each time that all is well is for
// debugging.
type opaLogger struct{ *zap.SugaredLogger }

// Debug implements logging.Logger.
func (l opaLogger) Debug(format string, a ...any) { l.Debugf(format, a...) }

// Info implements logging.Logger.
func (l opaLogger) Info(format string, a ...any) { l.Debugf(format, a...) }

// Error implements logging.Logger.
func (l opaLogger) Error(format string, a ...any) { l.Errorf("records: "+format, a...) }

// Warn implements logging.Logger.
func (l opaLogger) Warn(format string, a ...any) { l.Warnf("records: "+format, a...) }

// WithFields implements logging.Logger.
func (l opaLogger) WithFields(fields map[string]any) logging.Logger {
	var pairs []any
	for name, value := range fields {
		pairs = append(pairs, name, value)
	}
	return opaLogger{l.With(pairs...)}
}

// GetLevel implements logging.Logger. At the level below OPA would read and log whatever
// a service answers.
func (opaLogger) GetLevel() logging.Level { return logging.Info }

// SetLevel implements logging.Logger. The level is that of the log as a whole.
func (opaLogger) SetLevel(logging.Level) {}
