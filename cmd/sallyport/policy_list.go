package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine"
)

func newPolicyList(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json"}}
	var settings engineFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rules, what they are on for, and who waives them",
		Long: `List every rule with its title, severity, source, and what it is on for; then the
entries that waive rules, with their owners and ends.`,
		Example: "  sallyport policy list\n  sallyport policy list --policies rules --output json",
		Args:    withHint(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			eng, err := settings.engine(cmd.Context(), io.Discard)
			if err != nil {
				return err
			}
			r := newPolicyReport(eng)
			if format.value == "json" {
				return writeJSON(s.out, r)
			}
			return r.write(s.out)
		},
	}
	settings.registerAll(cmd)
	format.register(cmd, "output", "form of the list")
	return cmd
}

type policyReport struct {
	Rules   []ruleRow   `json:"rules"`
	Waivers []waiverRow `json:"waivers"`
}

type ruleRow struct {
	Rule     string              `json:"rule"`
	Title    string              `json:"title"`
	Severity string              `json:"severity"`
	Halts    bool                `json:"halts"`
	File     string              `json:"file"`
	Line     int                 `json:"line"`
	BuiltIn  bool                `json:"built_in"`
	Off      string              `json:"off,omitempty"` // why
	Attached map[string][]string `json:"attached,omitempty"`
	On       string              `json:"on"`
	WaivedBy []string            `json:"waived_by,omitempty"` // entries in force
}

type waiverRow struct {
	Entry   string   `json:"entry"`
	Rules   []string `json:"rules"`
	Tools   []string `json:"tools"`
	Paths   []string `json:"paths,omitempty"`
	Owner   string   `json:"owner"`
	Reason  string   `json:"reason"`
	Expires string   `json:"expires"`
	InForce bool     `json:"in_force"`
}

func newPolicyReport(eng *engine.Engine) policyReport {
	r := policyReport{Rules: []ruleRow{}, Waivers: []waiverRow{}}
	waivedBy := map[string][]string{}
	for _, w := range eng.Waivers() {
		row := waiverRow{
			Entry: string(w.Kind) + "/" + w.Name, Rules: w.Rules, Tools: w.Tools, Paths: w.Paths, Owner: w.Owner, Reason: w.Reason, Expires: w.Expires, InForce: w.InForce,
		}
		r.Waivers = append(r.Waivers, row)
		if !w.InForce {
			continue
		}
		for _, rule := range w.Rules {
			waivedBy[rule] = append(waivedBy[rule], row.Entry)
		}
	}
	for _, rule := range eng.Rules() {
		row := ruleRow{
			Rule: rule.Name, Title: rule.Title, Severity: rule.Severity, Halts: rule.Halts, File: rule.File, Line: rule.Line, BuiltIn: rule.BuiltIn,
			Off: rule.Off, Attached: rule.Attached, On: onFor(rule), WaivedBy: slices.Concat(waivedBy[rule.Name], waivedBy["*"]),
		}
		r.Rules = append(r.Rules, row)
	}
	return r
}

// onFor says in few words what a rule is on for.
func onFor(r engine.Rule) string {
	switch {
	case r.Off != "":
		return "off: " + r.Off
	case r.Attached == nil:
		return "all tools"
	case len(r.Attached) == 0:
		return "off: attached to nothing"
	}
	var parts []string
	for _, tool := range slices.Sorted(maps.Keys(r.Attached)) {
		name := "all tools"
		if tool != "*" {
			name = showTool(tool)
		}
		parts = append(parts, fmt.Sprintf("%s at %s", name, counted(len(r.Attached[tool]), "place")))
	}
	return strings.Join(parts, ", ")
}

func (r policyReport) write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range r.Rules {
		source := row.File
		if row.BuiltIn {
			source = "built-in " + source
		}
		halts := ""
		if row.Halts {
			halts = "halts"
		}
		on := row.On
		if len(row.WaivedBy) > 0 {
			on += ", but for " + strings.Join(row.WaivedBy, ", ")
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s:%d\t%s\t%s\n", row.Rule, row.Severity, halts, source, row.Line, on, showName(row.Title))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(r.Waivers) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	for _, row := range r.Waivers {
		state := "until"
		if !row.InForce {
			state = "ended"
		}
		paths := ""
		if len(row.Paths) > 0 {
			paths = " at " + strings.Join(row.Paths, ", ")
		}
		_, _ = fmt.Fprintf(table, "%s\t%s %s\t%s for %s%s\t%s\t%s\n", showName(row.Entry), state, row.Expires, strings.Join(row.Rules, ", "),
			showName(strings.Join(row.Tools, ", ")), showName(paths), showName(row.Owner), showName(row.Reason))
	}
	return table.Flush()
}
