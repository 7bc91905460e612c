package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/config"
)

// engineFlags are the flags from which an engine is built.
type engineFlags struct {
	schemas         string
	toolsList       string
	dialect         choice
	formats         choice
	policies        []string
	bundle          config.Bundle
	algorithm       choice
	mode            choice
	allowUnsafeArgs []string
	backtracking    []string
	dropNulls       []string
	unwrapStrings   []string
}

func (f *engineFlags) registerSchemas(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.schemas, "schemas", "", "folder with one <tool>.json per tool (default: the bundled ones)")
	_ = cmd.MarkFlagDirname("schemas")
	f.registerReading(cmd)
}

// registerReading registers where schemas come from other than a folder, and how
// they are read.
func (f *engineFlags) registerReading(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.toolsList, "tools-list", "", "file with a server's answer to tools/list, to take the tools from it")
	_ = cmd.MarkFlagFilename("tools-list", "json")
	f.dialect = choice{allowed: []string{string(engine.Draft7), string(engine.Draft202012)}}
	f.dialect.register(cmd, "dialect", "draft of schemas that have no $schema (default: draft-07 for files, 2020-12 for a list; where it matters, they have to say)")
	f.formats = choice{allowed: []string{string(engine.AssertFormats), string(engine.AnnotateFormats)}}
	f.formats.register(cmd, "formats", "what the keyword format does (default: assert for files, annotate for a list)")
	f.registerTools(cmd, &f.backtracking, "backtracking-patterns", "tool whose patterns may need backtracking; may be repeated")
}

// registerTools registers a flag that names tools.
func (f *engineFlags) registerTools(cmd *cobra.Command, tools *[]string, name, usage string) {
	cmd.Flags().StringArrayVar(tools, name, nil, usage)
	_ = cmd.RegisterFlagCompletionFunc(name, f.completeTool)
}

func (f *engineFlags) registerAll(cmd *cobra.Command) {
	f.registerSchemas(cmd)
	f.registerRules(cmd)
}

// registerRules registers what is set about rules and calls.
func (f *engineFlags) registerRules(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.policies, "policies", nil, "folder with rules of your own; may be repeated")
	_ = cmd.MarkFlagDirname("policies")
	f.registerBundle(cmd)
	f.mode = choice{allowed: []string{string(engine.Strict), string(engine.Permissive)}}
	f.mode.register(cmd, "mode", "what becomes of rejected calls (default: "+engine.ModeVariable+", else strict)")
	f.registerTools(cmd, &f.allowUnsafeArgs, "allow-unsafe-args", "tool that is exempt from the rules on size, depth and control characters; may be repeated")
	f.registerTools(cmd, &f.dropNulls, "drop-nulls", "tool for which a null that the schema forbids counts as an absent member; may be repeated")
	f.registerTools(cmd, &f.unwrapStrings, "unwrap-json-strings", "tool for which a string that holds JSON counts as the object or array in it; may be repeated")
}

func (f *engineFlags) registerBundle(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.bundle.File, "bundle", "", "OPA bundle (.tar.gz) with rules of your own")
	cmd.Flags().StringVar(&f.bundle.Key, "bundle-key", "", "file with the public key in PEM, or the shared secret, that the bundle has to be signed with")
	_ = cmd.MarkFlagFilename("bundle", "gz")
	_ = cmd.MarkFlagFilename("bundle-key")
	f.algorithm = choice{allowed: config.BundleAlgorithms()}
	f.algorithm.register(cmd, "bundle-algorithm", "signature algorithm of that key (default "+config.BundleAlgorithms()[0]+")")
}

// engine builds the engine. What it warns of while it starts goes to stderr.
// Later it is silent: what becomes of a call is in the command's own output.
func (f *engineFlags) engine(ctx context.Context, stderr io.Writer, more ...engine.Option) (*engine.Engine, error) {
	logger, level := startLogger(stderr)
	eng, err := f.build(ctx, stderr, append([]engine.Option{engine.WithLogger(logger)}, more...)...)
	if err != nil {
		return nil, err
	}
	level.SetLevel(zapcore.InvalidLevel)
	return eng, nil
}

// build builds the engine that the flags ask for.
func (f *engineFlags) build(ctx context.Context, stderr io.Writer, more ...engine.Option) (*engine.Engine, error) {
	options := []engine.Option{
		engine.WithAllowUnsafeArgs(f.allowUnsafeArgs...),
		engine.WithBacktrackingPatterns(f.backtracking...),
		engine.WithDropNulls(f.dropNulls...),
		engine.WithUnwrapJSONStrings(f.unwrapStrings...),
		engine.WithDialect(engine.Dialect(f.dialect.value)),
		engine.WithFormats(engine.Formats(f.formats.value)),
	}
	given, sources, err := f.sources(stderr)
	if err != nil {
		return nil, err
	}
	if f.mode.value != "" {
		options = append(options, engine.WithMode(engine.Mode(f.mode.value)))
	}
	eng, err := engine.New(ctx, slices.Concat(options, sources, more)...)
	if err != nil {
		return nil, startError(err, given)
	}
	return eng, nil
}

// startWarning begins each line of a startLogger.
const startWarning = "sallyport: warning"

// startLogger is for what an engine warns of while it starts, one line each. The level
// turns it off.
func startLogger(stderr io.Writer) (*zap.Logger, zap.AtomicLevel) {
	level := zap.NewAtomicLevelAt(zapcore.WarnLevel)
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		MessageKey: "message", LevelKey: "level", ConsoleSeparator: ": ",
		EncodeLevel: func(_ zapcore.Level, out zapcore.PrimitiveArrayEncoder) { out.AppendString(startWarning) },
	})
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(stderr), level)), level
}

// sources says where schemas and rules come from. given names what the flags name.
func (f *engineFlags) sources(stderr io.Writer) (given []string, options []engine.Option, err error) {
	if f.schemas != "" && f.toolsList != "" {
		return nil, nil, errors.New("--schemas and --tools-list cannot be given together")
	}
	if f.schemas != "" {
		if err := isFolder(f.schemas); err != nil {
			return nil, nil, fmt.Errorf("--schemas: %w", err)
		}
		given = append(given, "--schemas "+showName(f.schemas))
		options = append(options, engine.WithSchemas(os.DirFS(f.schemas)))
	}
	if f.toolsList != "" {
		list, err := readToolsList(f.toolsList)
		if err != nil {
			return nil, nil, fmt.Errorf("--tools-list: %w", err)
		}
		if list.NextCursor != "" {
			_, _ = fmt.Fprintf(stderr, "sallyport: warning: %s is one page of a longer list\n", showName(f.toolsList))
		}
		given = append(given, "--tools-list "+showName(f.toolsList))
		options = append(options, engine.WithServerTools(list.Tools))
	}
	for _, folder := range f.policies {
		if err := isFolder(folder); err != nil {
			return nil, nil, fmt.Errorf("--policies: %w", err)
		}
		given = append(given, "--policies "+showName(folder))
		options = append(options, engine.WithPolicies(os.DirFS(folder)))
	}
	switch {
	case f.bundle.File == "" && f.bundle.Key != "":
		return nil, nil, errors.New("--bundle-key stands without --bundle")
	case f.bundle.File != "":
		f.bundle.Algorithm = f.algorithm.value
		bundle, err := f.bundle.Read()
		if err != nil {
			return nil, nil, fmt.Errorf("--bundle: %w", err)
		}
		given = append(given, "--bundle "+showName(f.bundle.File))
		options = append(options, engine.WithBundle(bundle))
	}
	return given, options, nil
}

func readToolsList(name string) (server.ToolsList, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return server.ToolsList{}, err
	}
	list, err := server.ReadToolsList(text)
	if err != nil {
		return server.ToolsList{}, fmt.Errorf("%s: %w", showName(name), err)
	}
	return list, nil
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
