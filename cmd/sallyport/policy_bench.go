package main

import (
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine"
)

func newPolicyBench(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json"}}
	var settings engineFlags
	var tool string
	rounds := 50
	cmd := &cobra.Command{
		Use:   "bench [FILE|-]...",
		Short: "Measure what asking each rule takes on recorded calls",
		Long: `Measure what asking each rule takes on recorded calls: time (the median of all
rounds), bytes and allocations for one call. Calls are read as "sallyport check" reads
them. Nothing is answered from memory. The rules share work, so they do not add up to
the whole.`,
		Example: `  sallyport policy bench --policies rules calls.jsonl
  sallyport policy bench --tool bernstein_run --rounds 200 payload.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if rounds < 1 {
				return hint(cmd, errors.New("--rounds must be at least 1"))
			}
			eng, err := settings.engine(cmd.Context(), s.err)
			if err != nil {
				return err
			}
			payloadOf := &tool
			if !cmd.Flags().Changed("tool") {
				payloadOf = nil
			}
			var calls []engine.Call
			err = eachCall(cmd.Context(), args, s.in, payloadOf, func(c recorded) error {
				if c.skipped(s.err) {
					return nil
				}
				calls = append(calls, engine.Call{Tool: c.tool, Arguments: slices.Clone(c.arguments)})
				return nil
			})
			if err != nil {
				return err
			}
			if len(calls) == 0 {
				return errors.New("there are no calls to measure")
			}
			progress := startProgress(s.err)
			defer progress.stop()
			costs, err := eng.MeasureRules(cmd.Context(), calls, rounds)
			progress.stop()
			if err != nil {
				return err
			}
			rows := []costRow{}
			for _, c := range costs {
				rows = append(rows, costRow{c.Rule, float64(c.PerCall.Nanoseconds()) / 1000, c.Bytes, c.Allocs})
			}
			if format.value == "json" {
				return writeJSON(s.out, rows)
			}
			table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
			_, _ = fmt.Fprintln(table, "rule\tus\tB\tallocs\t")
			for _, r := range rows {
				if r.Rule == "" {
					r.Rule = "all together"
				}
				_, _ = fmt.Fprintf(table, "%s\t%.1f\t%d\t%d\t\n", r.Rule, r.Microseconds, r.Bytes, r.Allocs)
			}
			if err := table.Flush(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "%s, %s\n", counted(len(calls), "call"), counted(rounds, "round"))
			return err
		},
	}
	settings.registerAll(cmd)
	cmd.Flags().StringVar(&tool, "tool", "", "take each file as one payload of this tool")
	_ = cmd.RegisterFlagCompletionFunc("tool", settings.completeTool)
	cmd.Flags().IntVar(&rounds, "rounds", rounds, "how often each call is put to each rule")
	format.register(cmd, "output", "form of the table")
	return cmd
}

type costRow struct {
	Rule         string  `json:"rule"` // "" for all together
	Microseconds float64 `json:"microseconds"`
	Bytes        int     `json:"bytes"`
	Allocs       int     `json:"allocs"`
}
