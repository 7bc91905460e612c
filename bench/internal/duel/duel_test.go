package duel

import (
	"errors"
	"testing"
	"time"

	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
)

type fixed struct {
	accepts bool
	err     error
	closed  *int
}

func (f fixed) Accepts() (bool, error)         { return f.accepts, f.err }
func (fixed) Run(n int) (time.Duration, error) { return time.Duration(n) * time.Millisecond, nil }
func (f fixed) Close() error                   { *f.closed++; return nil }

var errBroken = errors.New("broken")

func TestAdmission(t *testing.T) {
	for name, c := range map[string]struct {
		prepare  func(closed *int) (peers.Contestant, error)
		accepted bool
		admitted bool
		note     string
		fails    bool
		closed   int
	}{
		"right":           {func(n *int) (peers.Contestant, error) { return fixed{true, nil, n}, nil }, true, true, "", false, 0},
		"right to refuse": {func(n *int) (peers.Contestant, error) { return fixed{false, nil, n}, nil }, false, true, "", false, 0},
		"too lenient":     {func(n *int) (peers.Contestant, error) { return fixed{true, nil, n}, nil }, false, false, "accepts", false, 1},
		"too strict":      {func(n *int) (peers.Contestant, error) { return fixed{false, nil, n}, nil }, true, false, "refuses", false, 1},
		"absent":          {func(*int) (peers.Contestant, error) { return nil, &peers.AbsentError{Why: "no python"} }, true, false, "", true, 0},
		"cannot compile":  {func(*int) (peers.Contestant, error) { return nil, errBroken }, true, false, "", true, 0},
		"no verdict":      {func(n *int) (peers.Contestant, error) { return fixed{false, errBroken, n}, nil }, true, false, "", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			closed := 0
			candidate := peers.Candidate{Name: "x", Prepare: func(peers.Case) (peers.Contestant, error) { return c.prepare(&closed) }}
			contestant, note, err := admit(candidate, peers.Case{Name: "y", Accepted: c.accepted})
			if (contestant != nil) != c.admitted || note != c.note || (err != nil) != c.fails {
				t.Errorf("admitted: %t, note %q, error %v; want %t, %q, an error: %t", contestant != nil, note, err, c.admitted, c.note, c.fails)
			}
			if closed != c.closed {
				t.Errorf("closed %d times, want %d", closed, c.closed)
			}
		})
	}
}
