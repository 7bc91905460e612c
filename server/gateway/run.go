package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/config"
	"github.com/sallyport-mcp/sallyport/server/pins"
)

// Gateway is everything that a configuration asks for.
type Gateway struct {
	settings *config.Settings
	logger   *zap.Logger
	stderr   io.Writer
	sides    []*Side               // one for each upstream
	locks    map[string]*pins.Lock // by path; each lives as long as the gateway
	records  recording
}

// New returns the gateway of a configuration, with nothing started yet. Commands write to
// stderr.
func New(ctx context.Context, s *config.Settings, stderr io.Writer, logger *zap.Logger) (*Gateway, error) {
	g := &Gateway{settings: s, logger: logger, stderr: stderr, locks: map[string]*pins.Lock{}}
	switch {
	case len(s.Upstreams) == 0:
		return nil, errors.New("there is no server to stand in front of: name an upstream, or give a command after --")
	case s.Listen.Address == "" && (len(s.Upstreams) > 1 || s.Upstreams[0].Command == ""):
		return nil, errors.New("without an address to listen on there has to be one upstream, and that a command")
	}
	renewed, err := g.renewed(ctx, s)
	if err != nil {
		return nil, err
	}
	for i, u := range s.Upstreams {
		side, err := NewSide(u.Name, renewed[i], logger, server.WithRecorder(&g.records))
		if err != nil {
			return nil, err
		}
		g.sides = append(g.sides, side)
	}
	recorder, err := g.recorder(ctx, s, renewed)
	if err != nil {
		return nil, err
	}
	g.records.take(recorder, logger)
	return g, nil
}

// renewed returns what a configuration says of each upstream that can change while the
// gateway works. All have one engine.
func (g *Gateway) renewed(ctx context.Context, s *config.Settings) ([]Settings, error) {
	options, err := s.Engine.Options()
	if err != nil {
		return nil, err
	}
	eng, err := engine.New(ctx, append(options, engine.WithLogger(g.logger))...)
	if err != nil {
		return nil, err
	}
	all := make([]Settings, len(s.Upstreams))
	for i, u := range s.Upstreams {
		all[i] = Settings{Engine: eng, Learns: s.Engine.Learns(), Rejections: s.Engine.Rejections}
		if u.Lock == "" {
			continue
		}
		if !s.Engine.Learns() {
			return nil, fmt.Errorf("upstream %s: a lock file pins what a server lists, and the schemas are not from there", u.Name)
		}
		all[i].Inspect = g.pinned(u.Lock)
	}
	return all, nil
}

// pinned withholds every tool that is not as it is pinned in a lock file. Where the file
// cannot be read, that is every tool.
func (g *Gateway) pinned(path string) Inspect {
	lock := g.locks[path]
	if lock == nil {
		lock = pins.Open(path)
		g.locks[path] = lock
	}
	return func(_ context.Context, upstream string, list server.ToolsList) ([]engine.ServerTool, error) {
		found, err := lock.TrustOnFirstUse(upstream, list.Raw)
		if err != nil {
			g.logger.Error("the pins cannot be compared, so every tool is withheld", zap.String("upstream", upstream), zap.Error(err))
			found = nil
		}
		tools := slices.Clone(list.Tools)
		for i, t := range tools {
			if refusal := pins.Refusal(found, t.Name); refusal != nil && t.Fault == nil {
				tools[i].Fault = &engine.WithheldError{Reason: refusal.Error()}
			}
		}
		for _, f := range found {
			if f.Withheld() || f.State == pins.Gone {
				g.logger.Warn("a tool is not as it is pinned", zap.String("upstream", upstream), zap.String("state", string(f.State)),
					zap.String("reason", f.Reason()), zap.String("remedy", "compare and approve with 'sallyport schemas pin'"))
			}
		}
		return tools, nil
	}
}

// Reload puts another configuration into force. A bad one changes nothing; what can only
// be changed by a restart is reported.
func (g *Gateway) Reload(ctx context.Context, s *config.Settings) error {
	if !slices.EqualFunc(g.settings.Upstreams, s.Upstreams, sameUpstream) {
		return errors.New("other upstreams take a restart")
	}
	if g.settings.Listen.Address != s.Listen.Address || g.settings.Listen.TLS != s.Listen.TLS || g.settings.Listen.Limits != s.Listen.Limits {
		g.logger.Warn("what is set below listen changes with a restart only")
	}
	renewed, err := g.renewed(ctx, s)
	if err != nil {
		return err
	}
	recorder, err := g.recorder(ctx, s, renewed)
	if err != nil {
		return err
	}
	g.records.take(recorder, g.logger)
	for i, side := range g.sides {
		if err := side.Renew(ctx, renewed[i]); err != nil {
			return fmt.Errorf("upstream %s: %w", s.Upstreams[i].Name, err)
		}
	}
	return nil
}

func sameUpstream(a, b config.Upstream) bool {
	return a.Name == b.Name && a.Path == b.Path && a.URL == b.URL && a.Command == b.Command && slices.Equal(a.Args, b.Args) && a.Cwd == b.Cwd
}

// Serve serves until ctx ends, or until the client or the command does. The exit code is
// that of a command on standard streams, else 0.
func (g *Gateway) Serve(ctx context.Context, in io.Reader, out io.Writer) (code int, err error) {
	defer g.records.take(nil, g.logger)
	l := g.settings.Listen
	if l.Address == "" {
		c, err := g.command(g.settings.Upstreams[0])
		if err != nil {
			return 0, err
		}
		return Stdio(ctx, c, in, out, func() (*server.Judge, error) { return g.sides[0].Judge(), nil })
	}
	token, err := g.settings.Token()
	if err != nil {
		return 0, err
	}
	handler, end, err := g.handler()
	if err != nil {
		return 0, err
	}
	defer end()
	return 0, Listen{
		Address: l.Address, CertFile: l.TLS.Cert, KeyFile: l.TLS.Key, Token: token, Open: l.Open, Grace: l.Limits.ShutdownGrace,
		Idle: l.Limits.IdleTimeout, MaxHeaderBytes: l.Limits.HeaderBytes, HeaderTimeout: l.Limits.HeaderTimeout, BodyTimeout: l.Limits.BodyTimeout,
	}.Serve(ctx, handler, g.logger, func(a net.Addr) { g.logger.Info("the gateway serves", zap.Stringer("address", a)) })
}

// handler serves all upstreams, each below its path. end has to follow.
func (g *Gateway) handler() (h http.Handler, end func(), err error) {
	l := g.settings.Listen
	mux := &Mux{}
	var bridges []*Bridge
	for i, u := range g.settings.Upstreams {
		prefix := u.Path
		if prefix == "/" {
			prefix = ""
		}
		options := l.HTTPOptions()
		var side http.Handler
		if u.Command != "" {
			c, err := g.command(u)
			if err != nil {
				return nil, nil, err
			}
			bridge := NewBridge(c, l.Limits.MaxChildren, l.Limits.ChildIdle, g.logger)
			bridges = append(bridges, bridge)
			side = g.sides[i].Judge().HTTP(bridge, options...)
		} else {
			target, err := g.upstream(u, prefix)
			if err != nil {
				return nil, nil, err
			}
			side = NewProxy(target, g.sides[i].Judge(), g.logger, options...)
		}
		if !mux.Handle(prefix, side) {
			return nil, nil, fmt.Errorf("upstream %s: another one has the path %s", u.Name, u.Path)
		}
	}
	return mux, func() {
		for _, b := range bridges {
			b.Close()
		}
	}, nil
}

func (g *Gateway) upstream(u config.Upstream, prefix string) (Upstream, error) {
	target, err := ParseUpstream(u.URL)
	if err != nil {
		return Upstream{}, err
	}
	header := http.Header{}
	for name, reference := range u.Headers {
		value, err := g.settings.Read(reference)
		if err != nil {
			return Upstream{}, fmt.Errorf("upstream %s: header %s: %w", u.Name, name, err)
		}
		header.Set(name, value)
	}
	return Upstream{URL: target, Prefix: prefix, Header: header}, nil
}

func (g *Gateway) command(u config.Upstream) (Command, error) {
	c := Command{Path: u.Command, Args: u.Args, Env: os.Environ(), Dir: u.Cwd, Stderr: g.stderr}
	for name, reference := range u.Env {
		value, err := g.settings.Read(reference)
		if err != nil {
			return Command{}, fmt.Errorf("upstream %s: variable %s: %w", u.Name, name, err)
		}
		c.Env = append(c.Env, name+"="+value)
	}
	return c, nil
}
