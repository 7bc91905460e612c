package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
)

func newPolicy(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check, test, list, explain and ship rules, and write new ones",
		Example: `  sallyport policy new no_http --dir rules
  sallyport policy check --policies rules
  sallyport policy test rules
  sallyport policy list --policies rules
  sallyport policy explain --policies rules calls.jsonl`,
		Args: withHint(subcommandOnly),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newPolicyCheck(s), newPolicyTest(s), newPolicyList(s), newPolicyExplain(s), newPolicyBench(s), newPolicyNew(s), newPolicyBundle(s))
	return cmd
}

// writeJSON writes a report for machines.
func writeJSON(w io.Writer, report any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}
