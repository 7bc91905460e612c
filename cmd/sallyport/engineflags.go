package main

import (
	"context"
	"fmt"
	"io"
	"os"

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
}

// engine builds the engine. It reports at warn level while it starts; later each
// bypassed call is part of the command's own output.
func (f *engineFlags) engine(ctx context.Context, stderr io.Writer) (*engine.Engine, error) {
	level := zap.NewAtomicLevelAt(zapcore.WarnLevel)
	encoding := zap.NewDevelopmentEncoderConfig()
	encoding.TimeKey, encoding.CallerKey = "", ""
	logger := zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(encoding), zapcore.AddSync(stderr), level))
	options := []engine.Option{engine.WithLogger(logger), engine.WithAllowUnsafeArgs(f.allowUnsafeArgs...)}
	if f.schemas != "" {
		if err := isFolder(f.schemas); err != nil {
			return nil, fmt.Errorf("--schemas: %w", err)
		}
		options = append(options, engine.WithSchemas(os.DirFS(f.schemas)))
	}
	for _, folder := range f.policies {
		if err := isFolder(folder); err != nil {
			return nil, fmt.Errorf("--policies: %w", err)
		}
		options = append(options, engine.WithPolicies(os.DirFS(folder)))
	}
	if f.mode.value != "" {
		options = append(options, engine.WithMode(engine.Mode(f.mode.value)))
	}
	eng, err := engine.New(ctx, options...)
	level.SetLevel(zapcore.ErrorLevel)
	return eng, err
}

func isFolder(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", showName(name))
	}
	return err
}

// toolNames completes a tool name.
func (f *engineFlags) toolNames(cmd *cobra.Command, stderr io.Writer) ([]string, cobra.ShellCompDirective) {
	eng, err := f.engine(cmd.Context(), stderr)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return eng.Tools(), cobra.ShellCompDirectiveNoFileComp
}
