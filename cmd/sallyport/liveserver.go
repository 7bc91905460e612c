package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/gateway"
)

// serverFlags say how a server is asked for its tools. It is named by the arguments: a
// URL, or a command after "--".
type serverFlags struct {
	token   string
	timeout time.Duration
}

func (f *serverFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.token, "token-env", "", "environment variable with a bearer token for the server")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "how long the server may take")
}

// oneServer refuses arguments that do not name one server.
func oneServer(cmd *cobra.Command, args []string) error {
	if dash := cmd.ArgsLenAtDash(); len(args) == 0 || dash > 0 || dash < 0 && len(args) > 1 {
		return errors.New("give one URL, or a command after --")
	}
	return nil
}

// list asks the server for all its tools.
func (f *serverFlags) list(cmd *cobra.Command, s streams, args []string) (server.ToolsList, error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
	defer cancel()
	if cmd.ArgsLenAtDash() == 0 {
		return gateway.ListCommand(ctx, gateway.Command{Path: args[0], Args: args[1:], Stderr: s.err}, zap.NewNop())
	}
	if _, err := gateway.ParseUpstream(args[0]); err != nil {
		return server.ToolsList{}, err
	}
	header := http.Header{}
	if f.token != "" {
		token := os.Getenv(f.token)
		if token == "" {
			return server.ToolsList{}, fmt.Errorf("--token-env: the variable %s is empty", f.token)
		}
		header.Set("Authorization", "Bearer "+token)
	}
	return gateway.ListURL(ctx, args[0], header)
}
