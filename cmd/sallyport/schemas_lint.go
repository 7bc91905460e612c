package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine"
)

func newSchemasLint(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json", "sarif"}}
	var settings engineFlags
	cmd := &cobra.Command{
		Use:   "lint [DIR]",
		Short: "Report every fault and warning of schema documents",
		Long: `Report every fault and warning of schema documents: of the .json files in DIR, of
a server's answer to tools/list (--tools-list), or of the bundled schemas.

A fault keeps a schema from being enforced: it stops the start where schemas come
from files, and puts the tool in quarantine where they come from a server. A warning
tells of something that has no effect, or lets more pass than its author may think.

Exit code 0: no faults; 1: faults; 2: the work could not be done.`,
		Example: `  sallyport schemas lint ./tool_schemas
  sallyport schemas lint --tools-list answer.json
  sallyport schemas lint --tools-list answer.json --output sarif > schemas.sarif`,
		Args: withHint(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if err := isFolder(args[0]); err != nil {
					return err
				}
				settings.schemas = args[0]
			}
			if settings.schemas != "" && settings.toolsList != "" {
				return errors.New("a folder and --tools-list cannot be given together")
			}
			eng, err := settings.engine(cmd.Context(), io.Discard, engine.WithLoadPolicy(engine.PerTool))
			if err != nil {
				return err
			}
			r := newLintReport(eng, settings)
			if err := r.write(s.out, format.value); err != nil {
				return err
			}
			if r.Faults > 0 {
				return errRefused
			}
			return nil
		},
	}
	settings.registerReading(cmd)
	format.register(cmd, "output", "form of the report")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return cmd
}

// lintReport is what lint found.
type lintReport struct {
	Tools    int           `json:"tools"`
	Faults   int           `json:"faults"`
	Warnings int           `json:"warnings"`
	Findings []lintFinding `json:"findings"`
}

type lintFinding struct {
	Tool     string `json:"tool"`
	Level    string `json:"level"` // fault or warning
	Location string `json:"location"`
	Problem  string `json:"problem"`
	Remedy   string `json:"remedy,omitempty"`

	file string
}

func newLintReport(eng *engine.Engine, settings engineFlags) lintReport {
	r := lintReport{Tools: len(eng.Tools()) + len(eng.Quarantined()), Findings: []lintFinding{}}
	for _, f := range eng.SchemaFindings() {
		found := lintFinding{Tool: showName(f.Tool), Level: "warning", Location: showName(f.Location), Problem: f.Problem, Remedy: f.Remedy}
		if r.Warnings++; f.Fault {
			r.Warnings--
			r.Faults++
			found.Level = "fault"
		}
		switch {
		case settings.toolsList != "":
			found.file = settings.toolsList
		case settings.schemas != "":
			found.file = filepath.Join(settings.schemas, f.Tool+".json")
		default:
			found.file = filepath.Join("tool_schemas", f.Tool+".json")
		}
		r.Findings = append(r.Findings, found)
	}
	slices.SortStableFunc(r.Findings, func(a, b lintFinding) int { // faults first
		return compareBool(b.Level == "fault", a.Level == "fault")
	})
	return r
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (r lintReport) write(w io.Writer, format string) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	case "sarif":
		return r.sarif(w)
	}
	for _, f := range r.Findings {
		text := fmt.Sprintf("%s  %s", showTool(f.Tool), f.Level)
		if f.Location != "" {
			text += "  " + f.Location
		}
		text += "  " + f.Problem
		if f.Remedy != "" {
			text += "; " + f.Remedy
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s, %s, %s\n", counted(r.Tools, "tool"), counted(r.Faults, "fault"), counted(r.Warnings, "warning"))
	return err
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (r lintReport) sarif(w io.Writer) error {
	out := newSARIFOutput(w, []sarifRule{
		{ID: "schema/fault", ShortDescription: sarifText{"A schema that cannot be enforced"}},
		{ID: "schema/warning", ShortDescription: sarifText{"Something in a schema that has no effect, or lets more pass than it seems to"}},
	})
	for _, f := range r.Findings {
		text := f.Problem
		if f.Remedy != "" {
			text += "; " + f.Remedy
		}
		at := sarifLocation{LogicalLocations: []sarifLogical{{FullyQualifiedName: f.Tool + "#" + f.Location}}}
		at.PhysicalLocation.ArtifactLocation.URI = fileURI(f.file)
		level := map[string]string{"fault": "error", "warning": "warning"}[f.Level]
		if err := out.result("schema/"+f.Level, level, text, at); err != nil {
			return err
		}
	}
	return out.close(summary{})
}
