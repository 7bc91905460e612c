package sweep

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
)

func TestPayloadsHaveTheirSize(t *testing.T) {
	for _, n := range []int{1 << 10, 64 << 10, 4 << 20} {
		if got := len(text(n)); got != n {
			t.Errorf("text: %d bytes, want %d", got, n)
		}
		if got := len(rows(n)); got > n || got < n-64 {
			t.Errorf("rows: %d bytes, want nearly %d", got, n)
		}
		if !json.Valid(text(n)) || !json.Valid(rows(n)) {
			t.Errorf("%d bytes: not JSON", n)
		}
	}
}

func TestViolationsAreSweptPastTheCap(t *testing.T) {
	s, err := byViolations(context.Background(), measure.Plan{Rounds: 1, Sample: time.Nanosecond, Budget: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, series := range s.Series {
		var at []float64
		for _, p := range series.Points {
			at = append(at, p.X)
			if p.Y <= 0 {
				t.Errorf("%s at %g: %g ns", series.Name, p.X, p.Y)
			}
		}
		if diff := cmp.Diff([]float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}, at); diff != "" {
			t.Errorf("%s: %s", series.Name, diff)
		}
	}
}

func TestWrongVerdictsAreNotMeasured(t *testing.T) {
	p, err := newPair(context.Background(), map[string]string{"text": textSchema})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		payload  string
		accepted bool
	}{
		"refused, acceptance wanted": {`{}`, true},
		"accepted, refusal wanted":   {`{"text": "x"}`, false},
	} {
		if _, err := p.subjects("text", []byte(c.payload), c.accepted); err == nil {
			t.Errorf("%s: it is measured all the same", name)
		}
	}
}
