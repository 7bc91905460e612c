package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/sallyport-mcp/sallyport/engine"
)

// engineFlags are the flags from which an engine is built.
type engineFlags struct {
	schemas         string
	policies        []string
	mode            choice
	allowUnsafeArgs []string
}

func (f *engineFlags) registerSchemas(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.schemas, "schemas", "", "folder with one <tool>.json per tool (default: the bundled ones)")
	_ = cmd.MarkFlagDirname("schemas")
}

func (f *engineFlags) registerAll(cmd *cobra.Command) {
	f.registerSchemas(cmd)
	cmd.Flags().StringArrayVar(&f.policies, "policies", nil, "folder with rules of your own; may be repeated")
	_ = cmd.MarkFlagDirname("policies")
	f.mode = choice{allowed: []string{string(engine.Strict), string(engine.Permissive)}}
	f.mode.register(cmd, "mode", "what becomes of rejected calls (default: "+engine.ModeVariable+", else strict)")
	cmd.Flags().StringArrayVar(&f.allowUnsafeArgs, "allow-unsafe-args", nil, "tool that is exempt from the rules on size, depth and control characters; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("allow-unsafe-args", f.completeTool)
}

// engine builds the engine. What it warns of while it starts goes to stderr.
// Later it is silent: what becomes of a call is in the command's own output.
func (f *engineFlags) engine(ctx context.Context, stderr io.Writer) (*engine.Engine, error) {
	level := zap.NewAtomicLevelAt(zapcore.WarnLevel)
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		MessageKey: "message", LevelKey: "level", ConsoleSeparator: ": ",
		EncodeLevel: func(_ zapcore.Level, out zapcore.PrimitiveArrayEncoder) { out.AppendString("sallyport: warning") },
	})
	options := []engine.Option{
		engine.WithLogger(zap.New(zapcore.NewCore(encoder, zapcore.AddSync(stderr), level))),
		engine.WithAllowUnsafeArgs(f.allowUnsafeArgs...),
	}
	var given []string
	if f.schemas != "" {
		if err := isFolder(f.schemas); err != nil {
			return nil, fmt.Errorf("--schemas: %w", err)
		}
		given = append(given, "--schemas "+showName(f.schemas))
		options = append(options, engine.WithSchemas(os.DirFS(f.schemas)))
	}
	for _, folder := range f.policies {
		if err := isFolder(folder); err != nil {
			return nil, fmt.Errorf("--policies: %w", err)
		}
		given = append(given, "--policies "+showName(folder))
		options = append(options, engine.WithPolicies(os.DirFS(folder)))
	}
	if f.mode.value != "" {
		options = append(options, engine.WithMode(engine.Mode(f.mode.value)))
	}
	eng, err := engine.New(ctx, options...)
	if err != nil {
		return nil, startError(err, given)
	}
	level.SetLevel(zapcore.InvalidLevel)
	return eng, nil
}

// startError names the folders that the engine's faults are in; it knows files
// only by their names within.
func startError(err error, given []string) error {
	if len(given) == 0 {
		return fmt.Errorf("no engine:\n%w", err)
	}
	return fmt.Errorf("no engine from %s:\n%w", strings.Join(given, ", "), err)
}

func isFolder(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", showName(name))
	}
	return err
}

// completeTool completes the name of a tool.
func (f *engineFlags) completeTool(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	eng, err := f.engine(cmd.Context(), io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return eng.Tools(), cobra.ShellCompDirectiveNoFileComp
}
