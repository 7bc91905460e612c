package report_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
)

func times(least, median float64) *measure.Summary {
	return &measure.Summary{Min: least, Median: median}
}

func sample() *report.Report {
	c := report.Case{Name: "tiny", Bytes: 206, Accepted: true, Rows: []report.Row{
		{Candidate: "bound", Rounds: 15, Times: times(4000, 4500.4), Memory: &measure.Memory{Bytes: 3360.2, Allocs: 76}},
		{Candidate: "ours", Rounds: 15, Times: times(5000, 6000), Memory: &measure.Memory{Bytes: 3640, Allocs: 81}},
		{Candidate: "decode", Stage: true, Rounds: 3, Times: times(1000, 1100), Memory: &measure.Memory{Bytes: 888, Allocs: 15}},
		{Candidate: "elsewhere", Rounds: 4, Times: times(60000, 61000)},
		{Candidate: "lenient", Note: "accepts"},
		{Candidate: "snake", Note: "absent", Why: "no python3"},
	}}
	c.Compare("bound")
	return &report.Report{
		Machine:  report.Machine{Go: "go1.26.8", OS: "linux", Arch: "amd64", CPUs: 2},
		Leaves:   []report.Leaves{{Candidate: "lenient", What: "size"}},
		Cases:    []report.Case{c},
		Parallel: []report.Parallel{{Case: "tiny", Goroutines: 2, Times: *times(2600, 2700), Speed: 1.923}},
		Reload:   []report.Reload{{Background: "none", Calls: 900, P50: 5000, P99: 9000, P999: 20000, Max: 30000}},
		System: &report.System{
			Start: *times(80.44e6, 90e6), RSS: 28 << 20, Binary: 30 << 20, Stripped: 22 << 20, Engine: *times(60e6, 61e6),
			EngineRun: measure.Memory{Bytes: 16 << 20, Allocs: 9},
		},
		Sweeps: []report.Sweep{{Name: "size", Title: "Cost by size", X: "bytes", Y: "ns", Series: []report.Series{
			{Name: "ours", Points: []report.Point{{X: 1024, Y: 5.4}, {X: 2048, Y: 10.6}}},
			{Name: "bound", Points: []report.Point{{X: 1024, Y: 4}, {X: 2048, Y: 8}}},
		}}},
	}
}

const want = `go1.26.8 linux/amd64, 2 CPUs; times in nanoseconds; ratio: minimum to that of the lower bound

tiny: 206 bytes, accepted
                                          min  median  ratio  B/op  allocs/op  rounds
  bound                                  4000    4500   1.00  3360         76      15
  ours                                   5000    6000   1.25  3640         81      15
    stage decode                         1000    1100   0.25   888         15       3
  elsewhere                             60000   61000     15     -          -       4
  lenient                             accepts
  snake                                absent
  snake: no python3

parallel: time from one finished call to the next
                                      goroutines   min  median  speed
  tiny                                         2  2600    2700   1.92

latency of calls while new engines are built and put in place
                                      calls  engines   p50   p99  p99.9    max
  none                                  900        0  5000  9000  20000  30000

program and engine
  sallyport check, one call           80.4 ms (median 90.0)        28.0 MiB RSS
  binary                                           30.0 MiB   22.0 MiB stripped
  engine.New, bundled tools           60.0 ms (median 61.0)  16.0 MiB allocated

Cost by size (ns)
  bytes                               ours  bound
  1024                                5.40   4.00
  2048                                  11   8.00

what candidates leave out
  lenient                             size
`

func TestTables(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestJSONReadsBack(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got report.Report
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), &got); diff != "" {
		t.Error(diff)
	}
}

func TestRatiosNeedTheBound(t *testing.T) {
	c := report.Case{Rows: []report.Row{{Candidate: "bound", Note: "absent"}, {Candidate: "ours", Times: times(5, 6)}}}
	c.Compare("bound")
	if r := c.Rows[1].Ratio; r != 0 {
		t.Errorf("ratio %g to a bound without figures, want none", r)
	}
}
