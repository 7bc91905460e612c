package workshop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine"
)

// Change says how the verdicts of two engines differ.
type Change string

// The ways to differ.
const (
	NewlyRefused   Change = "newly refused"
	NewlyAccepted  Change = "newly accepted"
	OtherReasons   Change = "other reasons"
	NewlyBypassed  Change = "newly bypassed" // it was accepted by all rules, and now only passes
	OtherRepairs   Change = "other repairs"
	NothingChanged Change = ""
)

// Finding is a violation, with what found it.
type Finding struct {
	Check  string `json:"check"` // rule, or keyword of the schema
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Outcome is a verdict, as far as it counts for a comparison.
type Outcome struct {
	Accepted bool      `json:"accepted"`
	Bypassed bool      `json:"bypassed,omitempty"`
	Code     int       `json:"code,omitempty"`
	Findings []Finding `json:"findings,omitempty"` // of a call that is refused or bypassed
	repairs  string
}

// Difference is a call that two engines judge differently.
type Difference struct {
	Tool   string  `json:"tool"` // as called
	Change Change  `json:"change"`
	Old    Outcome `json:"old"`
	New    Outcome `json:"new"`
	// Checks are the rules, and keywords of the schema, that make the difference, sorted.
	Checks []string `json:"checks"`
}

// Compare puts one call to two engines; arguments are nil where they are absent. The
// difference is nil where both say the same.
func Compare(ctx context.Context, old, new *engine.Engine, tool string, arguments []byte) (*Difference, error) {
	before, err := judge(ctx, old, tool, arguments)
	if err != nil {
		return nil, fmt.Errorf("old rules: %w", err)
	}
	after, err := judge(ctx, new, tool, arguments)
	if err != nil {
		return nil, fmt.Errorf("new rules: %w", err)
	}
	change := compare(before, after)
	if change == NothingChanged {
		return nil, nil
	}
	d := &Difference{Tool: tool, Change: change, Old: before, New: after, Checks: differing(before.Findings, after.Findings)}
	if len(d.Checks) == 0 { // what refused it still finds the same
		d.Checks = differing(before.Findings, nil)
	}
	return d, nil
}

func findings(e *engine.ValidationError) []Finding {
	list := make([]Finding, len(e.Violations))
	for i, v := range e.Violations {
		list[i] = Finding{Check: v.Check(), Path: v.Path, Reason: v.Reason}
	}
	return list
}

func judge(ctx context.Context, e *engine.Engine, tool string, arguments []byte) (o Outcome, err error) {
	accepted, err := e.Validate(ctx, tool, arguments)
	var refusal *engine.ValidationError
	switch {
	case errors.Is(err, engine.ErrFault):
		return o, err
	case errors.As(err, &refusal):
		return Outcome{Code: refusal.Code, Findings: findings(refusal)}, nil
	case err != nil:
		return o, err
	}
	o = Outcome{Accepted: true, repairs: fmt.Sprint(accepted.Repairs)}
	if accepted.Bypassed != nil {
		o.Bypassed, o.Findings = true, findings(accepted.Bypassed)
	}
	return o, nil
}

func compare(old, new Outcome) Change {
	switch {
	case old.Accepted && !new.Accepted:
		return NewlyRefused
	case !old.Accepted && new.Accepted:
		return NewlyAccepted
	case !old.Bypassed && new.Bypassed:
		return NewlyBypassed
	case old.Code != new.Code || !slices.Equal(old.Findings, new.Findings):
		return OtherReasons
	case old.repairs != new.repairs:
		return OtherRepairs
	}
	return NothingChanged
}

// differing returns the checks of findings that only one side has.
func differing(old, new []Finding) []string {
	checks := []string{}
	for _, sides := range [][2][]Finding{{old, new}, {new, old}} {
		for _, f := range sides[0] {
			if !slices.Contains(sides[1], f) {
				checks = append(checks, f.Check)
			}
		}
	}
	slices.Sort(checks)
	return slices.Compact(checks)
}

// Tally counts differences.
type Tally struct {
	Calls     int
	Different int
	rows      map[TallyRow]int
}

// TallyRow is what is counted together.
type TallyRow struct {
	Change Change `json:"change"`
	Tool   string `json:"tool"`
	Checks string `json:"checks"` // joined by ", "
}

// Add counts one call; its difference is nil where there is none.
func (t *Tally) Add(d *Difference) {
	t.Calls++
	if d == nil {
		return
	}
	t.Different++
	if t.rows == nil {
		t.rows = map[TallyRow]int{}
	}
	t.rows[TallyRow{d.Change, d.Tool, strings.Join(d.Checks, ", ")}]++
}

// Count returns how many calls differ so.
func (t *Tally) Count(change Change) (n int) {
	for row, calls := range t.rows {
		if row.Change == change {
			n += calls
		}
	}
	return n
}

// TallyCount is a row with its number of calls.
type TallyCount struct {
	TallyRow
	Calls int `json:"calls"`
}

// Rows returns all rows, sorted.
func (t *Tally) Rows() []TallyCount {
	var all []TallyCount
	for row, calls := range t.rows {
		all = append(all, TallyCount{row, calls})
	}
	slices.SortFunc(all, func(a, b TallyCount) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Checks, b.Checks))
	})
	return all
}
