package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/server/config"
)

func newConfig(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check a configuration, and show what holds",
		Example: `  sallyport config check
  sallyport config show sallyport.yaml --log-level debug
  sallyport config schema > sallyport.schema.json`,
		Args: withHint(subcommandOnly),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newConfigCheck(s), newConfigShow(s), newConfigSchema(s))
	return cmd
}

// usualFile is what check and show look at when they are told of no file. They only
// read; what starts something does not take a file that it happens to find.
const usualFile = "sallyport.yaml"

// configFlags are --config and a flag for everything that can be set.
type configFlags struct {
	file  string
	flags config.Flags
}

func (c *configFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.file, "config", "", "configuration file (default: "+config.FileVariable+", else none)")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml")
	c.flags.Register(cmd.Flags())
	for _, o := range config.Options() {
		switch {
		case o.Flag == "":
		case o.Folder():
			_ = cmd.MarkFlagDirname(o.Flag)
		case o.Kind == config.Choice:
			_ = cmd.RegisterFlagCompletionFunc(o.Flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return o.Choices, cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
}

// sources takes the command that stands after "--" out of the arguments, and returns
// where settings come from, and the arguments before it.
func (c *configFlags) sources(cmd *cobra.Command, args []string) (from config.Sources, before []string) {
	before = args
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		before = args[:dash]
		c.flags.SetCommand(args[dash:])
	}
	file := c.file
	if file == "" {
		file = os.Getenv(config.FileVariable)
	}
	return config.Sources{File: file, Environ: os.Environ(), Flags: &c.flags}, before
}

// sourcesOf is sources for a command with [FILE] for an argument.
func (c *configFlags) sourcesOf(cmd *cobra.Command, args []string) (config.Sources, error) {
	from, before := c.sources(cmd, args)
	switch {
	case len(before) > 1:
		return from, hint(cmd, fmt.Errorf("accepts at most 1 file, received %d", len(before)))
	case len(before) == 1 && c.file != "":
		return from, hint(cmd, errors.New("a file and --config cannot be given together"))
	case len(before) == 1:
		from.File = before[0]
	case from.File == "":
		from.File = usualFile
	}
	return from, nil
}

// completeConfig completes the name of a configuration file.
func completeConfig(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

func newConfigShow(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json"}}
	var settings configFlags
	cmd := &cobra.Command{
		Use:   "show [FILE] [-- COMMAND [ARG...]]",
		Short: "Show every setting that holds, and where it comes from",
		Long: `Show every setting that holds, and where it comes from: a flag, an environment
variable, a line of the file, or the default. Of secrets it shows where they are.

FILE is what --config or ` + config.FileVariable + ` name, or else ` + usualFile + `.`,
		Example: `  sallyport config show
  sallyport config show sallyport.yaml --output json
  sallyport config show --config sallyport.yaml --log-level debug -- npx some-server`,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := settings.sourcesOf(cmd, args)
			if err != nil {
				return err
			}
			loaded, err := config.Load(from)
			if err != nil {
				return configError(err)
			}
			return showConfig(s.out, loaded.Values(), format.value)
		},
	}
	settings.register(cmd)
	format.register(cmd, "output", "form of the list")
	cmd.ValidArgsFunction = completeConfig
	return cmd
}

// configError introduces the faults of a configuration.
func configError(err error) error {
	var faults *config.Error
	if errors.As(err, &faults) {
		return fmt.Errorf("the configuration has faults:\n%w", err)
	}
	return err
}

func showConfig(w io.Writer, values []config.Value, format string) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(values)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "KEY\tVALUE\tFROM")
	for _, v := range values {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", showLine(v.Key), showLine(v.Value), showLine(v.Origin))
	}
	return table.Flush()
}

func newConfigSchema(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of the configuration file, for editors",
		Long: `Print a JSON Schema (Draft 7) of the configuration file, for editors. Editors with
the YAML language server read it when the file begins with the line

  # yaml-language-server: $schema=./sallyport.schema.json`,
		Example: "  sallyport config schema > sallyport.schema.json",
		Args:    withHint(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := s.out.Write(config.JSONSchema())
			return err
		},
	}
}
