package system

import (
	"context"
	"testing"
	"time"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
)

var good = peers.Case{Name: "good", Tool: "bernstein_run", Payload: []byte(`{"goal": "g"}`), Accepted: true}

func TestTeamMakesAllCalls(t *testing.T) {
	e, err := newEngine(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, goroutines := range []int{1, 2, 3} {
		before := e.MemoStats().Looked
		if _, err := (team{e, good, goroutines}).Run(50); err != nil {
			t.Fatal(err)
		}
		if got := e.MemoStats().Looked - before; got != 50 {
			t.Errorf("%d goroutines made %d calls, want 50", goroutines, got)
		}
	}
	bad := good
	bad.Payload = []byte(`{}`)
	if _, err := (team{e, bad, 2}).Run(2); err == nil {
		t.Error("a refused call is measured as if it were accepted")
	}
}

func TestParallelHasARowForEachNumber(t *testing.T) {
	e, err := newEngine(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Parallel(measure.Plan{Rounds: 1, Sample: time.Microsecond}, e, []peers.Case{good})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Goroutines != 1 || rows[1].Goroutines != 2 || rows[0].Speed != 1 || rows[1].Speed <= 0 {
		t.Errorf("rows %+v", rows)
	}
}

func TestReloadReplacesTheEngine(t *testing.T) {
	rows, err := Reload(context.Background(), good, 400*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	quiet, busy := rows[0], rows[1]
	if quiet.Engines != 0 || busy.Engines == 0 || quiet.Calls == 0 || busy.Calls == 0 {
		t.Errorf("rows %+v: want engines built in the second alone, and calls in both", rows)
	}
	for _, r := range rows {
		if r.P50 <= 0 || r.P50 > r.P99 || r.P99 > r.P999 || r.P999 > r.Max {
			t.Errorf("%s: latencies are not in order: %+v", r.Background, r)
		}
	}
}
