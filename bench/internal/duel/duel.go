// Package duel has the candidates judge one case in turns. A candidate whose verdict is
// wrong, or who cannot run here, is reported instead of measured.
package duel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
	"github.com/sallyport-mcp/sallyport/bench/internal/stages"
)

// Run measures all candidates and the stages on one case.
func Run(ctx context.Context, plan measure.Plan, candidates []peers.Candidate, c peers.Case, parts *stages.Stages) (result report.Case, err error) {
	result = report.Case{Name: c.Name, Bytes: len(c.Payload), Accepted: c.Accepted, Rows: make([]report.Row, len(candidates))}
	var subjects []measure.Subject
	var rows []int // of the subjects
	for i, candidate := range candidates {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		result.Rows[i].Candidate = candidate.Name
		contestant, note, err := admit(candidate, c)
		var absent *peers.AbsentError
		switch {
		case errors.As(err, &absent):
			result.Rows[i].Note, result.Rows[i].Why = "absent", absent.Why
			continue
		case err != nil:
			return result, err
		case contestant == nil:
			result.Rows[i].Note = note
			continue
		}
		defer func() { err = errors.Join(err, contestant.Close()) }()
		subjects, rows = append(subjects, contestant), append(rows, i)
	}
	measured, err := measure.Interleave(plan, append(subjects, parts))
	if err != nil {
		return result, err
	}
	for i, row := range rows {
		m := measured[i]
		r := &result.Rows[row]
		r.Rounds, r.Times, r.Memory = m.Rounds, &m.Times, m.Memory
	}
	for i, r := range result.Rows {
		if r.Candidate == peers.ForgetfulName {
			result.Rows = slices.Insert(result.Rows, i+1, parts.Rows()...)
			break
		}
	}
	result.Compare(peers.HandName)
	return result, nil
}

// admit prepares a candidate and asks for its verdict. If that is wrong there is no
// contestant, and the note says what the verdict is.
func admit(candidate peers.Candidate, c peers.Case) (contestant peers.Contestant, note string, err error) {
	contestant, err = candidate.Prepare(c)
	if err != nil {
		return nil, "", fmt.Errorf("%s on %s: %w", candidate.Name, c.Name, err)
	}
	accepts, err := contestant.Accepts()
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("%s on %s: %w", candidate.Name, c.Name, err), contestant.Close())
	}
	if accepts == c.Accepted {
		return contestant, "", nil
	}
	note = "refuses"
	if accepts {
		note = "accepts"
	}
	return nil, note, contestant.Close()
}
