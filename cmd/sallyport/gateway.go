package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server/bundles"
	"github.com/sallyport-mcp/sallyport/server/config"
	"github.com/sallyport-mcp/sallyport/server/gateway"
)

// exitCode is the code of a command that the gateway stood in front of.
type exitCode int

// Error says so.
func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

func newGateway(s streams) *cobra.Command {
	var settings configFlags
	cmd := &cobra.Command{
		Use:   "gateway [flags] (-- COMMAND [ARG...] | --listen ADDRESS --upstream URL | --config FILE)",
		Short: "Stand in front of an MCP server that cannot be changed",
		Long: `Stand in front of an MCP server and judge every tools/call. What passes goes on
byte for byte; what is refused is answered, and the server never sees it.

A COMMAND is started and talked to on its standard streams. With --listen the
gateway serves HTTP instead: in front of servers that are reached over HTTP
(--upstream), with their streamable HTTP and legacy SSE transports, or in front
of a COMMAND, which is started once for each session.

The schemas are those that the server lists: the gateway asks it itself, before
the first call passes, with session and credentials of the caller, and again when
the server says that its list has changed. --schemas takes them from files.

The configuration, and what it names, is read again when it changes, and on
SIGHUP; a bad one is logged, and the old one stays in force.

The exit code is that of COMMAND.`,
		Example: `  sallyport gateway -- npx -y @modelcontextprotocol/server-filesystem /srv/files
  sallyport gateway --listen 127.0.0.1:8080 --upstream http://127.0.0.1:3000/mcp
  sallyport gateway --listen 127.0.0.1:8080 -- ./server
  sallyport gateway --schemas ./schemas --rejections tool_result -- ./server
  sallyport gateway --config sallyport.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, before := settings.sources(cmd, args)
			if len(before) > 0 {
				return hint(cmd, fmt.Errorf("unexpected argument %s: the command of the server has to follow --", showName(before[0])))
			}
			return runGateway(cmd.Context(), s, from)
		},
	}
	settings.register(cmd)
	return cmd
}

func runGateway(ctx context.Context, s streams, from config.Sources) error {
	loaded, err := config.Load(from)
	if err != nil {
		return configError(err)
	}
	if problems := loaded.CheckFiles(); len(problems) > 0 {
		return configError(&config.Error{Problems: problems})
	}
	logger, err := loaded.Log.Logger(zapcore.Lock(zapcore.AddSync(s.err)))
	if err != nil {
		return err
	}
	defer func() { _ = logger.Sync() }()
	for _, w := range loaded.Warnings {
		logger.Warn("configuration", zap.Stringer("problem", w))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := followBundle(ctx, loaded.Engine, logger); err != nil {
		return err
	}
	g, err := gateway.New(ctx, loaded, s.err, logger)
	if err != nil {
		return err
	}
	watcher, err := config.Watch(ctx, loaded.Files(), logger)
	if err != nil {
		return err
	}
	go func() {
		for range watcher.Changes() {
			reload(ctx, g, watcher, from, logger)
		}
	}()
	code, err := g.Serve(ctx, s.in, s.out)
	switch {
	case err != nil:
		return err
	case code != 0:
		return exitCode(code)
	}
	return nil
}

// followBundle keeps the file with the bundle up to date, where it comes from a service;
// the watcher of files puts it into force. Without a bundle there is no start.
func followBundle(ctx context.Context, settings config.Engine, logger *zap.Logger) error {
	if settings.Bundle.URL == "" {
		return nil
	}
	follower, err := bundles.New(settings.Bundle, func(ctx context.Context, b *engine.Bundle) error {
		without := settings
		without.Bundle = config.Bundle{}
		options, err := without.Options()
		if err != nil {
			return err
		}
		_, err = engine.New(ctx, append(options, engine.WithBundle(b), engine.WithLogger(zap.NewNop()))...)
		return err
	}, logger)
	if err != nil {
		return fmt.Errorf("engine.bundle: %w", err)
	}
	if err := follower.First(ctx); err != nil {
		return fmt.Errorf("engine.bundle: %w", err)
	}
	go func() {
		if err := follower.Run(ctx); err != nil {
			logger.Error("no bundles are looked for", zap.Error(err))
		}
	}()
	return nil
}

// reload reads the configuration anew. A bad one is logged, and changes nothing.
func reload(ctx context.Context, g *gateway.Gateway, watcher *config.Watcher, from config.Sources, logger *zap.Logger) {
	loaded, err := config.Load(from)
	if err == nil {
		watcher.Follow(loaded.Files())
		err = g.Reload(ctx, loaded)
	}
	if err != nil {
		logger.Error("the configuration is not taken over, the old one stays in force", zap.Error(err))
		return
	}
	logger.Info("the configuration has been read again and is in force")
}
