package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "sallyport",
		Short: "A deny-by-default input firewall for MCP tool calls",
		Long: `sallyport judges the arguments of MCP tool calls: deny rules written in Rego
first, the tool's JSON Schema second. What both find comes back as one list of
{path, reason}.`,
		Example: `  sallyport check calls.jsonl
  echo '{"goal": ""}' | sallyport check --tool bernstein_run
  sallyport gateway -- npx -y @modelcontextprotocol/server-filesystem /srv/files
  sallyport schemas show bernstein_run`,
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		Args:                       withHint(subcommandOnly),
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(hint)
	root.AddCommand(newCheck(s), newConfig(s), newGateway(s), newPolicy(s), newReplay(s), newSchemas(s), newVersion(s))
	return root
}

// hint says where to read on.
func hint(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; run '%s --help'", err, cmd.CommandPath())
}

// withHint adds the hint to what is wrong with a command's arguments.
func withHint(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return hint(cmd, err)
		}
		return nil
	}
}

// subcommandOnly refuses the name of a command that does not exist.
func subcommandOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("unknown command %q for %q, did you mean %q?", args[0], cmd.CommandPath(), near[0])
	}
	return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
}

// choice is a flag with a few values.
type choice struct {
	value   string
	allowed []string
}

// String returns the value.
func (c *choice) String() string { return c.value }

// Set takes one of the allowed values.
func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// Type names the values in help texts.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

func (c *choice) register(cmd *cobra.Command, name, usage string) {
	cmd.Flags().Var(c, name, usage)
	_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return c.allowed, cobra.ShellCompDirectiveNoFileComp
	})
}
