package policy

import (
	"context"
	"sync/atomic"
	"time"
)

// deadline tells topdown to stop when the context is done or the time is up. It
// is asked at every step of an evaluation, so it looks at clock and context only
// now and then; that needs no goroutine and no timer for a call.
type deadline struct {
	ctx   context.Context
	until time.Time
	steps uint
	done  atomic.Bool
}

// stepsBetweenLooks keeps the cost of looking below what can be measured, and
// the delay far below a millisecond.
const stepsBetweenLooks = 256

func newDeadline(ctx context.Context, timeout time.Duration) *deadline {
	return &deadline{ctx: ctx, until: time.Now().Add(timeout)}
}

// Cancel ends the evaluation at its next step.
func (d *deadline) Cancel() { d.done.Store(true) }

// Cancelled says whether the evaluation is to end. One evaluation asks from one
// goroutine.
func (d *deadline) Cancelled() bool {
	if d.done.Load() {
		return true
	}
	d.steps++
	if d.steps%stepsBetweenLooks != 0 {
		return false
	}
	if d.ctx.Err() != nil || time.Now().After(d.until) {
		d.done.Store(true)
		return true
	}
	return false
}
