package schema

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrBudget is wrapped by the error of a validation that was given up because it
// would cost too much. The value has to be refused: it may be valid or not.
var ErrBudget = errors.New("the check against the schema costs too much")

// budget counts the steps of one validation: one step for each subschema that is
// put to a value, more for what costs more. It is what stands between a recursive
// union, which takes exponential time in the depth of the value, and the process.
type budget struct {
	ctx      context.Context
	deadline time.Time
	limits   Limits
	value    any

	left    int
	used    int
	counted bool // the share of the value's size has been added
	clock   int  // steps until the clock is looked at
}

// clockEvery is how many steps go by between two looks at the clock: some 50 us.
const clockEvery = 256

// spent is the panic that takes an exhausted validation down. The validator has no
// other way out, and an error would be taken for an answer: within "not" and "if" a
// failure makes a value valid.
type spent struct{ cause error }

func (b *budget) start(ctx context.Context, value any, limits Limits) {
	*b = budget{ctx: ctx, limits: limits, value: value, left: limits.Steps, clock: clockEvery}
}

// again grants the whole budget once more. used counts on.
func (b *budget) again() { b.left, b.counted = b.limits.Steps, false }

// end lets go of what belongs to the call.
func (b *budget) end() { b.ctx, b.value = nil, nil }

// spend takes n steps, and panics with spent where they are not there.
func (b *budget) spend(n int) {
	if b.ctx == nil {
		return // a pattern that is tried while a schema is compiled
	}
	b.left -= n
	b.used += n
	if b.clock -= n; b.clock <= 0 {
		b.clock = clockEvery
		b.lookAtClock()
	}
	if b.left >= 0 {
		return
	}
	// Only now, since most values never need it.
	if !b.counted {
		b.counted = true
		b.left += b.limits.StepsPerValue * valuesIn(b.value)
	}
	if b.left < 0 {
		panic(spent{fmt.Errorf("%w: more than %d steps and %d for each value", ErrBudget, b.limits.Steps, b.limits.StepsPerValue)})
	}
}

func (b *budget) lookAtClock() {
	if err := b.ctx.Err(); err != nil {
		panic(spent{err})
	}
	now := time.Now()
	if b.deadline.IsZero() { // the first look: what lies before it is some microseconds
		b.deadline = now.Add(b.limits.Validate)
	}
	if now.After(b.deadline) {
		panic(spent{fmt.Errorf("%w: more than %s", ErrBudget, b.limits.Validate)})
	}
}

// valuesIn counts all values within a value, itself included. The decoder has
// bounded the depth.
func valuesIn(value any) int {
	n := 1
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			n += valuesIn(member)
		}
	case []any:
		for _, item := range v {
			n += valuesIn(item)
		}
	}
	return n
}
