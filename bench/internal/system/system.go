// Package system measures what users notice besides the cost of one call: the start of
// the program and of an engine, memory, size, scaling, and calls during a reload.
package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
	"github.com/sallyport-mcp/sallyport/engine"
)

// Program builds the command-line program into folder, from the product's module at
// root, and measures its start with one good call to check, its size, and the start of
// an engine in this process.
func Program(ctx context.Context, root, folder string, good peers.Case, times int) (*report.System, error) {
	var s report.System
	plain, stripped := filepath.Join(folder, "sallyport"), filepath.Join(folder, "sallyport-stripped")
	for path, flags := range map[string][]string{plain: nil, stripped: {"-ldflags", "-s -w"}} {
		if err := build(ctx, root, path, flags); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Binary, err = size(plain); err != nil {
		return nil, err
	}
	if s.Stripped, err = size(stripped); err != nil {
		return nil, err
	}
	arguments := filepath.Join(folder, "arguments.json")
	if err := os.WriteFile(arguments, good.Payload, 0o600); err != nil {
		return nil, err
	}
	var starts []float64
	for range times {
		command := exec.CommandContext(ctx, plain, "check", "--tool", good.Tool, arguments)
		start := time.Now()
		if out, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("sallyport check: %w\n%s", err, out)
		}
		starts = append(starts, float64(time.Since(start)))
	}
	s.Start = measure.Summarise(starts)
	if s.RSS, err = resident(ctx, plain, good); err != nil {
		return nil, err
	}
	s.Engine, s.EngineRun, err = engineStart(ctx, times)
	return &s, err
}

func build(ctx context.Context, root, path string, flags []string) error {
	command := exec.CommandContext(ctx, "go", append(append([]string{"build", "-o", path}, flags...), "./cmd/sallyport")...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func engineStart(ctx context.Context, times int) (measure.Summary, measure.Memory, error) {
	var failed error
	start := measure.Func(func() {
		if _, err := newEngine(ctx); err != nil {
			failed = err
		}
	})
	results, err := measure.Interleave(measure.Plan{Rounds: times, Sample: time.Nanosecond, Budget: time.Hour}, []measure.Subject{start})
	if err = errors.Join(err, failed); err != nil {
		return measure.Summary{}, measure.Memory{}, fmt.Errorf("engine.New: %w", err)
	}
	return results[0].Times, *results[0].Memory, nil
}

func newEngine(ctx context.Context) (*engine.Engine, error) {
	return engine.New(ctx, engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()))
}
