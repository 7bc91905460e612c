// Package stages measures the parts of a verdict. They are internal to the engine, so a
// benchmark of the engine's own tests does it (BenchmarkStages), compiled once and run
// as a child process in turns with the candidates.
package stages

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/benchmark/parse"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
)

// Program is the compiled test of the engine.
type Program struct {
	ctx  context.Context
	path string
}

// Build compiles it into folder; root is the folder of the product's module.
func Build(ctx context.Context, root, folder string) (*Program, error) {
	p := &Program{ctx: ctx, path: folder + "/engine.test"}
	command := exec.CommandContext(ctx, "go", "test", "-c", "-o", p.path, "./engine")
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile the engine's benchmarks: %w\n%s", err, out)
	}
	return p, nil
}

// Of returns a subject that measures the stages of one shape. One run is one run of
// the child, whatever n is.
func (p *Program) Of(shape string) *Stages {
	return &Stages{program: p, shape: shape, samples: map[string][]parse.Benchmark{}}
}

// Stages collects samples.
type Stages struct {
	program *Program
	shape   string
	order   []string
	samples map[string][]parse.Benchmark
}

// benchTime is long enough for hundreds of calls of the fast stages, and short
// against the start of the child.
const benchTime = "4ms"

// Run implements measure.Subject.
func (s *Stages) Run(int) (time.Duration, error) {
	start := time.Now()
	command := exec.CommandContext(s.program.ctx, s.program.path, "-test.run", "^$", "-test.benchmem", "-test.benchtime", benchTime,
		"-test.bench", "^BenchmarkStages$/^"+regexp.QuoteMeta(s.shape)+"$")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("stages of %s: %w\n%s", s.shape, err, out)
	}
	if err := s.read(out); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

// read takes the lines of one run.
func (s *Stages) read(out []byte) error {
	found := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		b, err := parse.ParseLine(lines.Text())
		if err != nil {
			continue // a heading
		}
		stage := b.Name[strings.LastIndexByte(b.Name, '/')+1:]
		stage, _, _ = strings.Cut(stage, "-")
		if !slices.Contains(s.order, stage) {
			s.order = append(s.order, stage)
		}
		s.samples[stage] = append(s.samples[stage], *b)
		found++
	}
	if found == 0 {
		return fmt.Errorf("stages of %s: the benchmark printed no figures:\n%s", s.shape, out)
	}
	return nil
}

// Rows returns one row for each stage, in the order in which a call passes them.
func (s *Stages) Rows() []report.Row {
	var rows []report.Row
	for _, stage := range s.order {
		var times []float64
		for _, b := range s.samples[stage] {
			times = append(times, b.NsPerOp)
		}
		summary := measure.Summarise(times)
		last := s.samples[stage][len(times)-1]
		rows = append(rows, report.Row{
			Candidate: stage,
			Stage:     true,
			Rounds:    len(times),
			Times:     &summary,
			Memory:    &measure.Memory{Bytes: float64(last.AllocedBytesPerOp), Allocs: float64(last.AllocsPerOp)},
		})
	}
	return rows
}
