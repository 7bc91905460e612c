package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server/config"
)

func newConfigCheck(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json"}}
	var settings configFlags
	var static bool
	cmd := &cobra.Command{
		Use:   "check [FILE] [-- COMMAND [ARG...]]",
		Short: "Report every fault of a configuration",
		Long: `Report every fault of a configuration: of the file, of the environment and of the
flags that are laid over it. Where there is none it opens the files that the
configuration names, looks for the variables, and builds an engine of the rules and
schemas; --static leaves that out, for a machine that has no secrets.

FILE is what --config or ` + config.FileVariable + ` name, or else ` + usualFile + `.

Exit code 0: no faults, there may be warnings; 1: faults; 2: the work could not be
done, such as when the file cannot be read.`,
		Example: `  sallyport config check
  sallyport config check --static deploy/sallyport.yaml
  sallyport config check sallyport.yaml --output json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := settings.sourcesOf(cmd, args)
			if err != nil {
				return err
			}
			r, err := checkConfig(cmd.Context(), from, static)
			if err != nil {
				return err
			}
			if err := r.write(s.out, format.value); err != nil {
				return err
			}
			if r.Faults > 0 {
				return errRefused
			}
			return nil
		},
	}
	settings.register(cmd)
	format.register(cmd, "output", "form of the report")
	cmd.Flags().BoolVar(&static, "static", false, "look at the configuration alone, not at what it names")
	cmd.ValidArgsFunction = completeConfig
	return cmd
}

// configReport is what config check found.
type configReport struct {
	Faults   int             `json:"faults"`
	Warnings int             `json:"warnings"`
	Findings []configFinding `json:"findings"`
}

type configFinding struct {
	Level   string `json:"level"` // fault or warning
	Place   string `json:"place"` // file:line:column, --flag or VARIABLE
	Key     string `json:"key"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
}

func (r *configReport) add(level string, problems []config.Problem) {
	for _, p := range problems {
		if level == "fault" {
			r.Faults++
		} else {
			r.Warnings++
		}
		r.Findings = append(r.Findings, configFinding{level, showLine(p.Origin.String()), p.Key, showLine(p.Problem), showLine(p.Remedy)})
	}
}

// checkConfig gathers what is wrong. The error says that it could not.
func checkConfig(ctx context.Context, from config.Sources, static bool) (configReport, error) {
	r := configReport{Findings: []configFinding{}}
	settings, err := config.Load(from)
	var faults *config.Error
	switch {
	case errors.As(err, &faults):
		r.add("fault", faults.Problems)
		return r, nil
	case err != nil:
		return r, err
	}
	r.add("warning", settings.Warnings)
	if static {
		return r, nil
	}
	r.add("fault", settings.CheckFiles())
	if r.Faults == 0 { // else an engine would stumble over the same
		faults, warnings := checkEngine(ctx, settings)
		r.add("fault", faults)
		r.add("warning", warnings)
	}
	return r, nil
}

// checkEngine builds the engine, which has it prove itself. What an upstream lists is
// not known here, so with learned schemas it is one without tools.
func checkEngine(ctx context.Context, settings *config.Settings) (faults, warnings []config.Problem) {
	of := func(line string) config.Problem {
		return config.Problem{Origin: config.Origin{File: settings.File()}, Key: "engine", Problem: line}
	}
	wanted := settings.Engine
	if wanted.Learns() { // what is for tools by name would be for tools that there are not
		wanted.AllowUnsafeArgs, wanted.BacktrackingPatterns, wanted.Leniency = nil, nil, config.Leniency{}
	}
	var told bytes.Buffer
	logger, _ := startLogger(&told)
	options, err := wanted.Options()
	if err == nil {
		_, err = engine.New(ctx, append(options, engine.WithLogger(logger))...)
	}
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			faults = append(faults, of(line))
		}
	}
	for line := range strings.Lines(told.String()) {
		warnings = append(warnings, of(strings.TrimPrefix(strings.TrimSpace(line), startWarning+": ")))
	}
	return faults, warnings
}

func (r configReport) write(w io.Writer, format string) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	for _, f := range r.Findings {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s, %s\n", counted(r.Faults, "fault"), counted(r.Warnings, "warning"))
	return err
}

// String is a line as compilers write it, which editors find the place in.
func (f configFinding) String() string {
	parts := []string{f.Place}
	if f.Level == "warning" {
		parts = append(parts, f.Level)
	}
	if f.Key != "" {
		parts = append(parts, f.Key)
	}
	text := strings.Join(append(parts, f.Problem), ": ")
	if f.Remedy != "" {
		text += "; " + f.Remedy
	}
	return text
}
