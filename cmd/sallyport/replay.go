package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/engine/workshop"
)

func newReplay(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json"}}
	var settings engineFlags
	var old, next []string
	var oldMode, nextMode choice
	var verbose bool
	cmd := &cobra.Command{
		Use:   "replay [FILE|-]...",
		Short: "Compare what two sets of rules make of recorded calls",
		Long: `Put recorded calls to two engines, which differ in their folders of rules or their
modes, and report what is newly refused, newly accepted, newly passed by a bypass, or
refused for other reasons, by tool and rule. Calls are read as "sallyport check" reads
them; the records of a gateway (--record) are calls, too. This is how a migration ends: what would break?

Exit code 0: nothing is newly accepted or bypassed; 1: something is; 2: the work could
not be done, or a call could not be judged.`,
		Example: `  sallyport replay --old rules --new rules-next calls.jsonl
  sallyport replay --new rules-next records.jsonl
  sallyport replay --old-mode permissive --new-mode strict calls.jsonl
  sallyport replay --new rules --verbose --output json calls.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			engines := [2]*engine.Engine{}
			for i, side := range []struct {
				folders []string
				mode    choice
			}{{old, oldMode}, {next, nextMode}} {
				f := settings
				f.policies, f.mode = side.folders, side.mode
				if f.mode.value == "" {
					f.mode.value = string(engine.Strict)
				}
				var err error
				if engines[i], err = f.engine(cmd.Context(), s.err); err != nil {
					return fmt.Errorf("%s rules: %w", []string{"old", "new"}[i], err)
				}
			}
			progress := startProgress(s.err)
			defer progress.stop()
			tally := &workshop.Tally{}
			var differences []replayRow
			var left leftOut
			err := eachCall(cmd.Context(), args, s.in, nil, func(c recorded) error {
				if c.notKept != nil {
					left.NotKept++
					return nil
				}
				if c.masked {
					left.Masked++
				}
				d, err := workshop.Compare(cmd.Context(), engines[0], engines[1], c.tool, c.arguments)
				if err != nil {
					return fmt.Errorf("%s: %w", c.input, err)
				}
				progress.calls.Add(1)
				tally.Add(d)
				if d != nil && verbose {
					differences = append(differences, replayRow{Input: c.input, Difference: *d})
				}
				return nil
			})
			progress.stop()
			if err != nil {
				return err
			}
			if format.value == "json" {
				err = writeJSON(s.out, struct {
					Calls       int                   `json:"calls"`
					Different   int                   `json:"different"`
					Rows        []workshop.TallyCount `json:"rows"`
					Differences []replayRow           `json:"differences,omitempty"`
					leftOut
				}{tally.Calls, tally.Different, append([]workshop.TallyCount{}, tally.Rows()...), differences, left})
			} else {
				err = writeReplay(s.out, tally, differences, left)
			}
			if err != nil {
				return err
			}
			if tally.Count(workshop.NewlyAccepted)+tally.Count(workshop.NewlyBypassed) > 0 {
				return errRefused
			}
			return nil
		},
	}
	settings.registerSchemas(cmd)
	settings.registerTools(cmd, &settings.allowUnsafeArgs, "allow-unsafe-args", "tool that is exempt from the rules on size, depth and control characters, on both sides; may be repeated")
	cmd.Flags().StringArrayVar(&old, "old", nil, "folder with rules and data that were in force; may be repeated")
	cmd.Flags().StringArrayVar(&next, "new", nil, "folder with rules and data that shall be; may be repeated")
	_ = cmd.MarkFlagDirname("old")
	_ = cmd.MarkFlagDirname("new")
	modes := []string{string(engine.Strict), string(engine.Permissive)}
	oldMode, nextMode = choice{allowed: modes}, choice{allowed: modes}
	oldMode.register(cmd, "old-mode", "mode that was in force (default: strict)")
	nextMode.register(cmd, "new-mode", "mode that shall be (default: strict)")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show each call that is judged differently")
	format.register(cmd, "output", "form of the report")
	return cmd
}

type replayRow struct {
	Input string `json:"input"`
	workshop.Difference
}

// leftOut counts what the records do not tell.
type leftOut struct {
	NotKept int `json:"not_kept"` // calls without arguments
	Masked  int `json:"masked"`   // calls with some that were replaced
}

func writeReplay(w io.Writer, tally *workshop.Tally, differences []replayRow, left leftOut) error {
	out := &printer{w: w}
	for _, d := range differences {
		out.line("%s  %s  %s", d.Input, showTool(showName(d.Tool)), d.Change)
		for _, side := range []struct {
			sign    string
			outcome workshop.Outcome
		}{{"-", d.Old}, {"+", d.New}} {
			for _, f := range side.outcome.Findings {
				out.line("  %s %s  %s  (%s)", side.sign, showPointer(f.Path), f.Reason, f.Check)
			}
		}
	}
	if len(differences) > 0 {
		out.line("")
	}
	if out.err != nil {
		return out.err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range tally.Rows() {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%s\t%s\n", r.Change, r.Calls, showTool(showName(r.Tool)), r.Checks)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	out.line("%s, %d judged differently: %d newly refused, %d newly accepted, %d newly bypassed, %d for other reasons",
		counted(tally.Calls, "call"), tally.Different, tally.Count(workshop.NewlyRefused), tally.Count(workshop.NewlyAccepted),
		tally.Count(workshop.NewlyBypassed), tally.Count(workshop.OtherReasons))
	if left.NotKept > 0 {
		out.line("%s more in the records, without their arguments: not judged", counted(left.NotKept, "call"))
	}
	if left.Masked > 0 {
		out.line("%s with arguments that the records have masked: what a rule finds there is not seen", counted(left.Masked, "call"))
	}
	return out.err
}
