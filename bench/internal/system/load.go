package system

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
	"github.com/sallyport-mcp/sallyport/engine"
)

// team is a subject that shares its runs out among goroutines.
type team struct {
	engine     *engine.Engine
	c          peers.Case
	goroutines int
}

// Run implements measure.Subject: n calls altogether.
func (t team) Run(n int) (time.Duration, error) {
	var wait sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(n))
	refusals := make([]error, t.goroutines)
	start := time.Now()
	for i := range t.goroutines {
		wait.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := t.engine.Validate(context.Background(), t.c.Tool, t.c.Payload); err != nil {
					refusals[i] = err
					return
				}
			}
		})
	}
	wait.Wait()
	return time.Since(start), errors.Join(refusals...)
}

// parallelSample is long enough for several calls of the slowest accepted case on each
// goroutine, and for the second goroutine to get its processor.
const parallelSample = 50 * time.Millisecond

// Parallel measures accepted cases with one goroutine and with two. Its samples are
// longer than those of the plan, and fewer.
func Parallel(plan measure.Plan, e *engine.Engine, cases []peers.Case) ([]report.Parallel, error) {
	plan.Sample, plan.Rounds = max(plan.Sample, parallelSample), max(plan.Rounds/4, 1)
	plan.Budget = max(plan.Budget, time.Duration(plan.Rounds)*2*plan.Sample)
	var rows []report.Parallel
	for _, c := range cases {
		results, err := measure.Interleave(plan, []measure.Subject{team{e, c, 1}, team{e, c, 2}})
		if err != nil {
			return nil, err
		}
		for i, r := range results {
			rows = append(rows, report.Parallel{Case: c.Name, Goroutines: i + 1, Times: r.Times, Speed: results[0].Times.Min / r.Times.Min})
		}
	}
	return rows, nil
}

// Reload measures the latency of calls for the given time without and with new engines
// being built beside them, each put in place as soon as it is ready.
func Reload(ctx context.Context, c peers.Case, each time.Duration) ([]report.Reload, error) {
	first, err := newEngine(ctx)
	if err != nil {
		return nil, err
	}
	var current atomic.Pointer[engine.Engine]
	current.Store(first)
	quiet, err := latencies(ctx, &current, c, each)
	if err != nil {
		return nil, err
	}
	background, stop := context.WithCancel(ctx)
	built, failed := make(chan int, 1), make(chan error, 1)
	go func() {
		n, err := rebuild(background, &current)
		built <- n
		failed <- err
	}()
	busy, err := latencies(ctx, &current, c, each)
	stop()
	engines := <-built
	if err = errors.Join(err, <-failed); err != nil {
		return nil, err
	}
	return []report.Reload{row("none", quiet, 0), row("one engine after another", busy, engines)}, nil
}

// rebuild replaces the engine again and again until the context is done.
func rebuild(ctx context.Context, current *atomic.Pointer[engine.Engine]) (n int, err error) {
	for ctx.Err() == nil {
		e, err := newEngine(context.WithoutCancel(ctx))
		if err != nil {
			return n, err
		}
		current.Store(e)
		n++
	}
	return n, nil
}

func latencies(ctx context.Context, current *atomic.Pointer[engine.Engine], c peers.Case, each time.Duration) ([]float64, error) {
	var list []float64
	for end := time.Now().Add(each); time.Now().Before(end); {
		start := time.Now()
		if _, err := current.Load().Validate(ctx, c.Tool, c.Payload); err != nil {
			return nil, err
		}
		list = append(list, float64(time.Since(start)))
	}
	slices.Sort(list)
	return list, nil
}

func row(background string, sorted []float64, engines int) report.Reload {
	return report.Reload{
		Background: background, Calls: len(sorted), Engines: engines,
		P50: measure.Quantile(sorted, 0.5), P99: measure.Quantile(sorted, 0.99), P999: measure.Quantile(sorted, 0.999), Max: sorted[len(sorted)-1],
	}
}
