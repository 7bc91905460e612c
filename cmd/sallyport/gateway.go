package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/gateway"
)

// exitCode is the code of a command that the gateway stood in front of.
type exitCode int

// Error says so.
func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// bundledSchemas is what --schemas takes for the schemas that come with sallyport.
const bundledSchemas = "bundled"

type gatewayFlags struct {
	engine     engineFlags
	log        logFlags
	listen     gateway.Listen
	upstreams  []string
	rejections choice
	tokenFile  string
	tokenEnv   string
	children   int
	childIdle  time.Duration
	hosts      []string
	origins    []string
}

func newGateway(s streams) *cobra.Command {
	f := &gatewayFlags{}
	cmd := &cobra.Command{
		Use:   "gateway [flags] (-- COMMAND [ARG...] | --listen ADDRESS --upstream URL)",
		Short: "Stand in front of an MCP server that cannot be changed",
		Long: `Stands in front of an MCP server and judges every tools/call. What passes goes on
byte for byte; what is refused is answered, and the server never sees it.

A COMMAND is started and talked to on its standard streams. With --listen the
gateway serves HTTP instead: in front of servers that are reached over HTTP
(--upstream), with their streamable HTTP and legacy SSE transports, or in front
of a COMMAND, which is started once for each session.

The schemas are those that the server lists: the gateway asks it itself, before
the first call passes, with session and credentials of the caller, and again when
the server says that its list has changed. --schemas takes them from files.

The exit code is that of COMMAND.`,
		Example: `  sallyport gateway -- npx -y @modelcontextprotocol/server-filesystem /srv/files
  sallyport gateway --listen 127.0.0.1:8080 --upstream http://127.0.0.1:3000/mcp
  sallyport gateway --listen 127.0.0.1:8080 --upstream files=http://10.0.0.5/mcp --upstream tickets=http://10.0.0.6/mcp
  sallyport gateway --schemas ./schemas --rejections tool_result -- ./server`,
		Args: withHint(f.checkArgs),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args) },
	}
	f.register(cmd)
	return cmd
}

func (f *gatewayFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.engine.registerRules(cmd)
	f.engine.registerReading(cmd)
	flags.StringVar(&f.engine.schemas, "schemas", "", "folder with one <tool>.json per tool, or "+bundledSchemas+" (default: what the server lists)")
	_ = cmd.MarkFlagDirname("schemas")
	f.rejections = choice{allowed: []string{string(server.ProtocolErrors), string(server.ToolResults)}}
	f.rejections.register(cmd, "rejections", "how refused calls are answered (default "+string(server.ProtocolErrors)+")")
	f.log.register(cmd)
	flags.StringVar(&f.listen.Address, "listen", "", "address to serve HTTP on, such as 127.0.0.1:8080")
	flags.StringArrayVar(&f.upstreams, "upstream", nil, "URL of a server behind --listen, or NAME=URL to serve it below /NAME; may be repeated")
	flags.StringVar(&f.listen.CertFile, "tls-cert", "", "file with the certificate of the gateway, in PEM")
	flags.StringVar(&f.listen.KeyFile, "tls-key", "", "file with its key")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the bearer token that clients have to send")
	flags.StringVar(&f.tokenEnv, "token-env", "", "environment variable with that token")
	flags.BoolVar(&f.listen.Open, "open", false, "allow an address that others can reach without a token")
	flags.StringArrayVar(&f.hosts, "allowed-host", nil, "value of the header Host that may pass; may be repeated (default: any, or loopback only on a loopback address)")
	flags.StringArrayVar(&f.origins, "allowed-origin", nil, "value of the header Origin that may pass, besides that of the host itself; may be repeated")
	flags.DurationVar(&f.listen.Grace, "grace", gateway.DefaultGrace, "how long calls in flight have to finish at the end")
	flags.IntVar(&f.children, "max-children", gateway.DefaultChildren, "how many times the command may run at once behind --listen")
	flags.DurationVar(&f.childIdle, "child-idle", gateway.DefaultChildIdle, "how long it may be idle")
	for _, name := range []string{"tls-cert", "tls-key", "token-file"} {
		_ = cmd.MarkFlagFilename(name)
	}
}

func (f *gatewayFlags) checkArgs(cmd *cobra.Command, args []string) error {
	switch dash := cmd.ArgsLenAtDash(); {
	case len(args) > 0 && dash != 0:
		return errors.New("the command of the server has to follow --")
	case len(args) > 0 && len(f.upstreams) > 0:
		return errors.New("give either --upstream or a command")
	case len(args) == 0 && len(f.upstreams) == 0:
		return errors.New("there is no server to stand in front of: give a command after --, or --upstream with --listen")
	case len(f.upstreams) > 0 && f.listen.Address == "":
		return errors.New("--upstream needs --listen")
	}
	return nil
}

func (f *gatewayFlags) run(ctx context.Context, s streams, command []string) error {
	logger, err := f.log.logger(s.err)
	if err != nil {
		return err
	}
	defer func() { _ = logger.Sync() }()
	if f.listen.Address == "" {
		c := gateway.Command{Path: command[0], Args: command[1:], Stderr: s.err}
		code, err := gateway.Stdio(ctx, c, s.in, s.out, func() (*server.Judge, error) {
			return f.judge(ctx, "server", logger)
		})
		if err != nil {
			return err
		}
		return exitCode(code)
	}
	if f.listen.Token, err = readToken(f.tokenFile, f.tokenEnv); err != nil {
		return err
	}
	handler, end, err := f.handler(ctx, command, s.err, logger)
	if err != nil {
		return err
	}
	defer end()
	return f.listen.Serve(ctx, handler, logger, func(a net.Addr) { logger.Info("the gateway serves", zap.Stringer("address", a)) })
}

// judge makes the judge of one upstream.
func (f *gatewayFlags) judge(ctx context.Context, upstream string, logger *zap.Logger) (*server.Judge, error) {
	eng, err := f.buildEngine(ctx, logger)
	if err != nil {
		return nil, err
	}
	return gateway.Options{
		Upstream: upstream, Engine: eng, FromFiles: f.fromFiles(), Rejections: server.Rejections(f.rejections.value), Logger: logger,
	}.NewJudge()
}

func (f *gatewayFlags) fromFiles() bool { return f.engine.schemas != "" || f.engine.toolsList != "" }

func (f *gatewayFlags) buildEngine(ctx context.Context, logger *zap.Logger) (*engine.Engine, error) {
	engineFlags := f.engine
	var more []engine.Option
	switch {
	case f.engine.schemas == bundledSchemas:
		engineFlags.schemas = ""
	case !f.fromFiles():
		more = append(more, engine.WithServerTools(nil))
	}
	return engineFlags.build(ctx, io.Discard, append(more, engine.WithLogger(logger))...)
}

// handler serves all upstreams, or the command. end has to follow.
func (f *gatewayFlags) handler(ctx context.Context, command []string, stderr io.Writer, logger *zap.Logger) (h http.Handler, end func(), err error) {
	options := []server.HTTPOption{server.WithAllowedHosts(f.hosts...), server.WithAllowedOrigins(f.origins...)}
	if len(command) > 0 {
		judge, err := f.judge(ctx, "server", logger)
		if err != nil {
			return nil, nil, err
		}
		c := gateway.Command{Path: command[0], Args: command[1:], Stderr: stderr}
		bridge := gateway.NewBridge(c, f.children, f.childIdle, logger)
		return judge.HTTP(bridge, options...), bridge.Close, nil
	}
	mux := &gateway.Mux{}
	for _, text := range f.upstreams {
		name, upstream, err := parseUpstream(text)
		if err != nil {
			return nil, nil, err
		}
		judge, err := f.judge(ctx, name, logger)
		if err != nil {
			return nil, nil, err
		}
		if !mux.Handle(upstream.Prefix, gateway.NewProxy(upstream, judge, logger, options...)) {
			return nil, nil, fmt.Errorf("--upstream %s: there are two upstreams of this name", text)
		}
	}
	return mux, func() {}, nil
}

// parseUpstream reads [NAME=]URL.
func parseUpstream(text string) (name string, u gateway.Upstream, err error) {
	name, address, named := strings.Cut(text, "=")
	if !named || strings.ContainsAny(name, ":/") {
		name, address = "server", text
	} else {
		u.Prefix = "/" + name
	}
	u.URL, err = gateway.ParseUpstream(address)
	return name, u, err
}

// readToken reads the token from a file, or from a variable of the environment.
func readToken(file, variable string) (string, error) {
	var token string
	switch {
	case file != "" && variable != "":
		return "", errors.New("give either --token-file or --token-env")
	case file != "":
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		token = strings.TrimSpace(string(text))
	case variable != "":
		token = strings.TrimSpace(os.Getenv(variable))
	default:
		return "", nil
	}
	if len(token) < shortestToken {
		return "", fmt.Errorf("the token has less than %d characters", shortestToken)
	}
	return token, nil
}

// shortestToken is what a token has to have at least, so that it cannot be guessed.
const shortestToken = 16
