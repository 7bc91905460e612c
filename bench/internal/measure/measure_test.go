package measure_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
)

func TestSummarise(t *testing.T) {
	for name, c := range map[string]struct {
		samples []float64
		want    measure.Summary
	}{
		"one":               {[]float64{7}, measure.Summary{Min: 7, Median: 7}},
		"odd, not sorted":   {[]float64{9, 1, 5}, measure.Summary{Min: 1, Median: 5}},
		"even":              {[]float64{4, 1, 3, 2}, measure.Summary{Min: 1, Median: 2.5}},
		"outlier moves max": {[]float64{1, 1, 1, 1, 1000}, measure.Summary{Min: 1, Median: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, measure.Summarise(c.samples)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	sorted := []float64{10, 20, 30, 40, 50}
	for q, want := range map[float64]float64{0: 10, 0.25: 20, 0.5: 30, 0.625: 35, 0.99: 49.6, 1: 50} {
		if got := measure.Quantile(sorted, q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
}

// recorder takes a fixed time for each run and writes down when it ran.
type recorder struct {
	name string
	each time.Duration
	log  *[]string
	err  error
}

func (r recorder) Run(n int) (time.Duration, error) {
	*r.log = append(*r.log, r.name)
	return time.Duration(n) * r.each, r.err
}

func TestSubjectsTakeTurns(t *testing.T) {
	var log []string
	a := recorder{"a", 2 * time.Millisecond, &log, nil}
	b := recorder{"b", 5 * time.Millisecond, &log, nil}
	got, err := measure.Interleave(measure.Plan{Rounds: 3, Sample: time.Millisecond, Budget: time.Hour}, []measure.Subject{a, b})
	if err != nil {
		t.Fatal(err)
	}
	want := []measure.Result{
		{Rounds: 3, Times: measure.Summary{Min: 2e6, Median: 2e6}},
		{Rounds: 3, Times: measure.Summary{Min: 5e6, Median: 5e6}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "a", "b", "a", "b", "a", "b"}, log); diff != "" {
		t.Errorf("a warm-up, then three rounds: %s", diff)
	}
}

func TestSlowSubjectsGetFewerRounds(t *testing.T) {
	var log []string
	slow := recorder{"slow", time.Second, &log, nil}
	fast := recorder{"fast", time.Microsecond, &log, nil}
	got, err := measure.Interleave(measure.Plan{Rounds: 10, Sample: time.Millisecond, Budget: 2500 * time.Millisecond}, []measure.Subject{slow, fast})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Rounds != 3 || got[1].Rounds != 10 {
		t.Errorf("%d rounds of the slow and %d of the fast one, want 3 and 10", got[0].Rounds, got[1].Rounds)
	}
}

// stalling takes a minute once, in its first round, and a millisecond else.
type stalling struct{ runs *int }

func (s stalling) Run(int) (time.Duration, error) {
	if *s.runs++; *s.runs == 2 {
		return time.Minute, nil
	}
	return time.Millisecond, nil
}

func TestOneStallIsNotTheResult(t *testing.T) {
	runs := 0
	got, err := measure.Interleave(measure.Plan{Rounds: 10, Sample: time.Millisecond, Budget: time.Second}, []measure.Subject{stalling{&runs}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]measure.Result{{Rounds: 3, Times: measure.Summary{Min: 1e6, Median: 1e6}}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsEndTheRun(t *testing.T) {
	var log []string
	cause := errors.New("gone")
	_, err := measure.Interleave(measure.Plan{Rounds: 1, Budget: time.Hour}, []measure.Subject{recorder{"a", 1, &log, cause}})
	if !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
}

var sink []byte

func TestMemoryOfOneRun(t *testing.T) {
	f := measure.Func(func() { sink = make([]byte, 4096) })
	got, err := measure.Interleave(measure.Plan{Rounds: 1, Sample: time.Millisecond, Budget: time.Hour}, []measure.Subject{f})
	if err != nil {
		t.Fatal(err)
	}
	if m := got[0].Memory; m.Bytes < 4096 || m.Bytes > 4500 || m.Allocs < 1 || m.Allocs > 1.5 {
		t.Errorf("%g bytes in %g allocations, want 4096 in 1", m.Bytes, m.Allocs)
	}
}
