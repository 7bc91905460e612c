package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/bench/internal/charts"
	"github.com/sallyport-mcp/sallyport/bench/internal/duel"
	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/packs"
	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
	"github.com/sallyport-mcp/sallyport/bench/internal/search"
	"github.com/sallyport-mcp/sallyport/bench/internal/stages"
	"github.com/sallyport-mcp/sallyport/bench/internal/sweep"
	"github.com/sallyport-mcp/sallyport/bench/internal/system"
)

// flags are what the user asks for.
type flags struct {
	quick  bool
	json   bool
	charts bool
	out    string
	shapes string
	search time.Duration
}

func newCommand() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measures what a verdict costs, against peers",
		Long: `bench has all candidates judge the same payloads in turns, within one run, so that
noise of the machine hits all of them alike. A candidate that gives the wrong
verdict is reported instead of measured. Progress goes to standard error.`,
		Example: `  go run .                          # all tables; some minutes
  go run . --quick                  # fewer rounds; under 30 seconds
  go run . --quick --shapes tiny    # shapes whose names match
  go run . --json > figures.json
  go run . --search 60s             # also look for the payload that costs most
  go run . --charts --out charts    # the tables, and how cost grows, as SVG`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return run(c.Context(), f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	c.Flags().BoolVar(&f.quick, "quick", false, "fewer and shorter rounds")
	c.Flags().BoolVar(&f.json, "json", false, "write JSON instead of tables")
	c.Flags().BoolVar(&f.charts, "charts", false, "also measure how cost grows, and draw it")
	c.Flags().StringVar(&f.out, "out", "charts", "folder for the charts")
	c.Flags().StringVar(&f.shapes, "shapes", "", "regular expression: only shapes whose names match, and nothing but their tables")
	c.Flags().DurationVar(&f.search, "search", 0, "how long to look for the payload that costs most, at each limit")
	return c
}

// effort is how much is measured.
type effort struct {
	plan   measure.Plan
	starts int           // of the program
	load   time.Duration // for each kind of load
}

func (f *flags) effort() effort {
	if f.quick {
		return effort{measure.Plan{Rounds: 10, Sample: time.Millisecond, Budget: 100 * time.Millisecond}, 5, 400 * time.Millisecond}
	}
	return effort{measure.Plan{Rounds: 60, Sample: 5 * time.Millisecond, Budget: 5 * time.Second}, 20, 5 * time.Second}
}

// session is one run of the command.
type session struct {
	effort
	world    *peers.World
	progress io.Writer
	root     string // folder of the product's module
	folder   string // for what is built
	report   report.Report
}

func run(ctx context.Context, f flags, out, progress io.Writer) error {
	s := session{effort: f.effort(), progress: progress}
	if err := s.open(ctx); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(s.folder) }()
	chosen, err := s.choose(f.shapes)
	if err != nil {
		return err
	}
	if err := s.cases(ctx, chosen); err != nil {
		return err
	}
	if f.shapes == "" {
		if err := s.system(ctx); err != nil {
			return err
		}
	}
	if f.search > 0 {
		s.step("look for the payload that costs most")
		if s.report.Worst, err = search.Run(ctx, f.search); err != nil {
			return err
		}
	}
	if f.charts {
		if err := s.charts(ctx, f.out); err != nil {
			return err
		}
	}
	if f.json {
		return s.report.WriteJSON(out)
	}
	return s.report.WriteText(out)
}

// open prepares what all measurements share.
func (s *session) open(ctx context.Context) (err error) {
	s.report.Machine = report.Machine{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	if s.world, err = peers.NewWorld(ctx); err != nil {
		return err
	}
	for _, c := range s.world.Candidates() {
		if c.Leaves != "" {
			s.report.Leaves = append(s.report.Leaves, report.Leaves{Candidate: c.Name, What: c.Leaves})
		}
	}
	if s.root, err = productRoot(ctx); err != nil {
		return err
	}
	s.folder, err = os.MkdirTemp("", "sallyport-bench-")
	return err
}

func productRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/sallyport-mcp/sallyport").Output()
	if err != nil {
		return "", fmt.Errorf("find the product's module: %w (run the command in the folder bench)", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func (s *session) step(format string, args ...any) {
	_, _ = fmt.Fprintf(s.progress, format+"\n", args...)
}

func (s *session) cases(ctx context.Context, chosen []peers.Case) error {
	s.step("compile the benchmarks of the stages")
	program, err := stages.Build(ctx, s.root, s.folder)
	if err != nil {
		return err
	}
	for _, c := range chosen {
		s.step("measure %s", c.Name)
		measured, err := duel.Run(ctx, s.plan, s.world.Candidates(), c, program.Of(c.Name))
		if err != nil {
			return err
		}
		s.report.Cases = append(s.report.Cases, measured)
	}
	return nil
}

// choose returns the cases whose names match.
func (s *session) choose(pattern string) ([]peers.Case, error) {
	only, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("--shapes: %w", err)
	}
	var chosen []peers.Case
	for _, c := range s.world.Cases {
		if only.MatchString(c.Name) {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--shapes: no shape matches %q", pattern)
	}
	return chosen, nil
}

// typical is the case that stands for everyday calls.
func (s *session) typical() peers.Case { return s.world.Cases[1] }

func (s *session) system(ctx context.Context) (err error) {
	s.step("measure rule packs")
	if s.report.Packs, err = packs.Run(ctx, measure.Plan{Rounds: min(s.plan.Rounds, 20), Sample: s.plan.Sample, Budget: s.plan.Budget / 5}); err != nil {
		return err
	}
	s.step("measure calls in parallel")
	if s.report.Parallel, err = system.Parallel(s.plan, s.world.Engine, s.world.Cases[1:5]); err != nil {
		return err
	}
	s.step("measure calls during reloads")
	if s.report.Reload, err = system.Reload(ctx, s.typical(), s.load); err != nil {
		return err
	}
	s.step("build the program and measure its start")
	s.report.System, err = system.Program(ctx, s.root, s.folder, s.typical(), s.starts)
	return err
}

func (s *session) charts(ctx context.Context, folder string) error {
	for _, kind := range sweep.All() {
		s.step("measure cost by %s", kind.Name)
		measured, err := kind.Run(ctx, s.plan)
		if err != nil {
			return fmt.Errorf("cost by %s: %w", kind.Name, err)
		}
		path, err := charts.Draw(folder, measured)
		if err != nil {
			return err
		}
		s.step("wrote %s", path)
		s.report.Sweeps = append(s.report.Sweeps, measured)
	}
	return nil
}
