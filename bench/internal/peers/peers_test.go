package peers_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
)

// verdicts asks a candidate about every case: "accepts" or "refuses". A candidate that
// cannot run here has no verdicts.
func verdicts(t *testing.T, candidate peers.Candidate, cases []peers.Case) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, c := range cases {
		contestant, err := candidate.Prepare(c)
		var absent *peers.AbsentError
		if errors.As(err, &absent) {
			t.Skip(absent.Why)
		}
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		accepts, err := contestant.Accepts()
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if took, err := contestant.Run(2); err != nil || took <= 0 {
			t.Errorf("%s: two runs take %s, %v", c.Name, took, err)
		}
		if err := contestant.Close(); err != nil {
			t.Errorf("%s: close: %v", c.Name, err)
		}
		got[c.Name] = "refuses"
		if accepts {
			got[c.Name] = "accepts"
		}
	}
	return got
}

// Every candidate accepts what is good. What some of them accept besides is theirs to
// know, and ours to report.
func TestVerdicts(t *testing.T) {
	w, err := peers.NewWorld(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	leaves := map[string][]string{
		"encoding/json + jsonschema/v6": {"string_10MB", "control_characters_500"},
		"go-sdk (jsonschema-go)":        {"string_10MB", "control_characters_500"},
		"python-jsonschema":             {"string_10MB", "control_characters_500"},
		"cel-go on facts":               {"schema_violations_100"},
	}
	for _, candidate := range w.Candidates() {
		t.Run(candidate.Name, func(t *testing.T) {
			want := map[string]string{}
			for _, c := range w.Cases {
				want[c.Name] = "refuses"
				if c.Accepted {
					want[c.Name] = "accepts"
				}
			}
			for _, name := range leaves[candidate.Name] {
				want[name] = "accepts"
			}
			if diff := cmp.Diff(want, verdicts(t, candidate, w.Cases)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCases(t *testing.T) {
	w, err := peers.NewWorld(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused := 0, 0
	for _, c := range w.Cases {
		if c.Accepted {
			accepted++
		} else {
			refused++
		}
		if len(c.Document) == 0 || len(c.Payload) == 0 {
			t.Errorf("%s has no schema or no payload", c.Name)
		}
	}
	if accepted != 7 || refused != 4 {
		t.Errorf("%d accepted and %d refused cases, want 7 and 4", accepted, refused)
	}
}

// The time of a child is that of its judgements, so more of them take longer.
func TestChildCountsItsOwnTime(t *testing.T) {
	w, err := peers.NewWorld(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	candidates := w.Candidates()
	contestant, err := candidates[len(candidates)-1].Prepare(w.Cases[0])
	var absent *peers.AbsentError
	if errors.As(err, &absent) {
		t.Skip(absent.Why)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := contestant.Close(); err != nil {
			t.Error(err)
		}
	}()
	start := time.Now()
	took, err := contestant.Run(500)
	if err != nil {
		t.Fatal(err)
	}
	if wall := time.Since(start); took <= 0 || took > wall {
		t.Errorf("500 runs take %s by the child's clock and %s by ours", took, wall)
	}
}
