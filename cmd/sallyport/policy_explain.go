package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine"
)

func newPolicyExplain(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json"}}
	var settings engineFlags
	var tool string
	var all bool
	cmd := &cobra.Command{
		Use:   "explain [FILE|-]...",
		Short: "Show which rules fired on a call, or nearly did, and what they saw",
		Long: `Show, for each call, the verdict, which rules fired or nearly fired, the line at
which the others stopped, and what they read there. Calls are read as "sallyport check"
reads them. What is shown may hold what the caller sent.

A rule nearly fired if at least one line of its conditions held.`,
		Example: `  sallyport policy explain calls.jsonl
  echo '{"goal": "write the notes"}' | sallyport policy explain --tool bernstein_run --all`,
		RunE: func(cmd *cobra.Command, args []string) error {
			eng, err := settings.engine(cmd.Context(), s.err)
			if err != nil {
				return err
			}
			payloadOf := &tool
			if !cmd.Flags().Changed("tool") {
				payloadOf = nil
			}
			reports := []explainReport{}
			err = eachCall(cmd.Context(), args, s.in, payloadOf, func(c recorded) error {
				if c.skipped(s.err) {
					return nil
				}
				x, err := eng.Explain(cmd.Context(), c.tool, c.arguments)
				if err != nil {
					return fmt.Errorf("%s: %w", c.input, err)
				}
				r := newExplainReport(c, x, all)
				if format.value == "json" {
					reports = append(reports, r)
					return nil
				}
				return r.write(s.out)
			})
			if err == nil && format.value == "json" {
				err = writeJSON(s.out, reports)
			}
			return err
		},
	}
	settings.registerAll(cmd)
	cmd.Flags().StringVar(&tool, "tool", "", "take each file as one payload of this tool")
	_ = cmd.RegisterFlagCompletionFunc("tool", settings.completeTool)
	cmd.Flags().BoolVar(&all, "all", false, "show rules that stopped at their first line, too")
	format.register(cmd, "output", "form of the answer")
	return cmd
}

type explainReport struct {
	Input    string            `json:"input"`
	Tool     string            `json:"tool"`
	Verdict  string            `json:"verdict"`
	Findings []explainFinding  `json:"findings"`
	Exempted []engine.Exempted `json:"exempted"`
	Rules    []explainRule     `json:"rules"`
}

type explainFinding struct {
	Check  string `json:"check"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

type explainRule struct {
	Rule      string        `json:"rule"`
	File      string        `json:"file"`
	Line      int           `json:"line"`
	State     string        `json:"state"` // fired, nearly or quiet
	Held      int           `json:"lines_held"`
	StoppedAt int           `json:"stopped_at,omitempty"`
	Condition string        `json:"condition,omitempty"`
	Saw       []explainSeen `json:"saw"`
}

type explainSeen struct {
	Ref   string `json:"ref"`
	Value string `json:"value"`
}

func newExplainReport(c recorded, x *engine.Explanation, all bool) explainReport {
	r := explainReport{Input: c.input, Tool: showName(c.tool), Verdict: verdictAccepted, Findings: []explainFinding{}, Exempted: []engine.Exempted{}, Rules: []explainRule{}}
	rejected := x.Refused
	switch {
	case x.Refused != nil:
		r.Verdict = verdictRefused
	case x.Accepted.Bypassed != nil:
		r.Verdict, rejected = verdictBypassed, x.Accepted.Bypassed
	}
	if x.Accepted != nil {
		r.Exempted = append(r.Exempted, x.Accepted.Exempted...)
	}
	if rejected != nil {
		for _, v := range rejected.Violations {
			r.Findings = append(r.Findings, explainFinding{v.Check(), v.Path, v.Reason})
		}
	}
	for _, t := range x.Rules {
		row := explainRule{Rule: t.Rule, File: t.File, Line: t.Line, Held: t.Held, StoppedAt: t.StoppedAt, Condition: t.Condition, Saw: []explainSeen{}}
		switch {
		case t.Fired:
			row.State = "fired"
		case t.Held > 0:
			row.State = "nearly"
		case all:
			row.State = "quiet"
		default:
			continue
		}
		for _, s := range t.Saw {
			row.Saw = append(row.Saw, explainSeen(s))
		}
		r.Rules = append(r.Rules, row)
	}
	return r
}

func (r explainReport) write(w io.Writer) error {
	out := &printer{w: w}
	out.line("%s  %s  %s", r.Input, showTool(r.Tool), r.Verdict)
	for _, f := range r.Findings {
		out.line("    %s  %s  (%s)", showPointer(f.Path), f.Reason, f.Check)
	}
	for _, x := range r.Exempted {
		out.line("    %s  does not count, by %s  (%s)", showPointer(x.Path), x.By, x.Rule)
	}
	for _, t := range r.Rules {
		if t.State == "fired" {
			out.line("  %s  fired  %s:%d", t.Rule, showName(t.File), t.Line)
		} else {
			out.line("  %s  %s  %s:%d stops at line %d: %s", t.Rule, t.State, showName(t.File), t.Line, t.StoppedAt, showName(t.Condition))
		}
		for _, s := range t.Saw {
			out.line("      %s is %s", s.Ref, showName(s.Value))
		}
	}
	return out.err
}

// printer writes lines until one cannot be written.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
