package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newPolicyCheck(s streams) *cobra.Command {
	var settings engineFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Load rules and data, and report everything that is wrong with them",
		Long: `Load rules and data as an engine does, and report everything that is wrong with
them, with file and line: what does not compile under "opa check --strict" with the
input schema and the capabilities, a missing import of rego.v2, missing METADATA, a
rule that reads a fact, a member or data that does not exist, and entries in data that
are not sound. Then the engine has to refuse one call per built-in rule and to pass a
clean one.

Exit code 0: nothing is wrong; 2: something is.`,
		Example: `  sallyport policy check
  sallyport policy check --policies rules --schemas ./tool_schemas`,
		Args: withHint(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			eng, err := settings.engine(cmd.Context(), s.err)
			if err != nil {
				return err
			}
			own, packs, off := 0, 0, 0
			for _, r := range eng.Rules() {
				if !r.BuiltIn {
					own++
				}
				switch {
				case r.Off != "" && r.Pack:
					packs++
				case r.Off != "":
					off++
				default:
				}
			}
			inForce := 0
			waivers := eng.Waivers()
			for _, w := range waivers {
				if w.InForce {
					inForce++
				}
			}
			_, err = fmt.Fprintf(s.out, "%s, %d of your own, %d in packs that are off, %d switched off; %s, %d in force; nothing is wrong\n",
				counted(len(eng.Rules()), "rule"), own, packs, off, counted(len(waivers), "waiver"), inForce)
			return err
		},
	}
	settings.registerAll(cmd)
	return cmd
}
