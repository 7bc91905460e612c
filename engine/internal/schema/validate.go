package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Violation is one thing that is wrong with a value.
type Violation struct {
	Tokens   []string // of the pointer to the member concerned, also where it is missing
	Keyword  string   // JSON Schema keyword; "false schema" for the boolean
	Reason   string   // in at most 256 bytes, without any string of the caller
	Location string   // of the keyword in the schema, as a URI fragment pointer
	// Wanted are the JSON types that the schema allows here, where the value is of
	// another one.
	Wanted []string
}

var errNoViolation = errors.New("the validator failed without a violation")

// Validate returns everything that is wrong with value, sorted by path, keyword
// and reason; nothing means that it is valid. An error means that there is no
// answer, and the value has to be refused; it wraps ErrBudget where the answer
// would have cost too much. The same value always gives the same list.
func (s *Schema) Validate(ctx context.Context, value any) ([]Violation, error) {
	i, err := s.pool.take(ctx)
	if err != nil {
		return nil, err
	}
	// A copy that met a panic of the validator may be damaged.
	var sound *instance
	defer func() { s.pool.release(sound) }()
	violations, err := i.validate(ctx, value, s.limits, s.base)
	if !errors.Is(err, errPanic) {
		sound = i
	}
	return violations, err
}

var errPanic = errors.New("panic in the validator")

func (i *instance) validate(ctx context.Context, value any, limits Limits, base string) (violations []Violation, err error) {
	i.budget.start(ctx, value, limits)
	defer i.budget.end()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case spent:
			violations, err = nil, r.cause
		default:
			violations, err = nil, fmt.Errorf("%w: %s", errPanic, quote(fmt.Sprint(r), 120))
		}
	}()
	found := i.root.Validate(value)
	if found == nil {
		return nil, nil
	}
	var broken *jsonschema.ValidationError
	if !errors.As(found, &broken) {
		return nil, errNoViolation
	}
	i.budget.again() // what is wrong shall be said, whatever finding out has cost
	violations, err = flatten(broken, value, base, i.hints, i.budget)
	if err != nil {
		return nil, err
	}
	if len(violations) == 0 {
		return nil, errNoViolation
	}
	return violations, nil
}

// ordered sorts violations and drops those that say the same at the same place,
// of which the first location in the schema stays. The validator walks over maps,
// so its own order differs from run to run.
func ordered(list []Violation) []Violation {
	slices.SortFunc(list, func(a, b Violation) int {
		return cmp.Or(compareSaid(a, b), cmp.Compare(a.Location, b.Location))
	})
	return slices.CompactFunc(list, func(a, b Violation) bool { return compareSaid(a, b) == 0 })
}

// compareSaid compares all but the location in the schema.
func compareSaid(a, b Violation) int {
	return cmp.Or(
		CompareTokens(a.Tokens, b.Tokens),
		cmp.Compare(a.Keyword, b.Keyword),
		cmp.Compare(a.Reason, b.Reason),
	)
}
