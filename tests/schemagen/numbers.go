package schemagen

import (
	"encoding/json"
	"math/big"
)

// numbers is the set of numbers that a schema allows.
type numbers struct {
	low, high         *big.Rat // nil for no bound
	openLow, openHigh bool     // the bound itself is not in the set
	step              *big.Rat // nil for any number between the bounds
	whole             bool
}

func numbersOf(kw map[string]any, whole bool) numbers {
	s := numbers{whole: whole, step: ratOf(kw, "multipleOf")}
	if whole && s.step == nil {
		s.step = big.NewRat(1, 1)
	}
	s.low, s.high = ratOf(kw, "minimum"), ratOf(kw, "maximum")
	if x := ratOf(kw, "exclusiveMinimum"); x != nil && (s.low == nil || x.Cmp(s.low) >= 0) {
		s.low, s.openLow = x, true
	}
	if x := ratOf(kw, "exclusiveMaximum"); x != nil && (s.high == nil || x.Cmp(s.high) <= 0) {
		s.high, s.openHigh = x, true
	}
	if kw["format"] == "int32" {
		if s.low == nil {
			s.low = big.NewRat(-1<<31, 1)
		}
		if s.high == nil {
			s.high = big.NewRat(1<<31-1, 1)
		}
	}
	return s
}

// holds says whether a number is in the set.
func (s numbers) holds(r *big.Rat) bool { return s.onStep(r) && !s.below(r) && !s.above(r) }

func (s numbers) onStep(r *big.Rat) bool {
	return (!s.whole || r.IsInt()) && (s.step == nil || new(big.Rat).Quo(r, s.step).IsInt())
}

func (s numbers) below(r *big.Rat) bool {
	return s.low != nil && (r.Cmp(s.low) < 0 || s.openLow && r.Cmp(s.low) == 0)
}

func (s numbers) above(r *big.Rat) bool {
	return s.high != nil && (r.Cmp(s.high) > 0 || s.openHigh && r.Cmp(s.high) == 0)
}

// candidates returns numbers near the bounds, around zero, and one by chance.
func (s numbers) candidates(chance int) []*big.Rat {
	unit := s.step
	if unit == nil {
		unit = big.NewRat(1, 2)
	}
	var anchors []*big.Rat
	for _, bound := range []*big.Rat{s.low, s.high, new(big.Rat)} {
		if bound != nil {
			anchors = append(anchors, bound)
		}
	}
	var out []*big.Rat
	for i, anchor := range anchors {
		near := []int64{-3, -2, -1, 0, 1, 2, 3, int64(chance)}
		if i == len(anchors)-1 || s.step != nil {
			anchor = floor(anchor, unit)
		}
		for _, n := range near {
			out = append(out, new(big.Rat).Add(anchor, new(big.Rat).Mul(unit, big.NewRat(n, 1))))
		}
	}
	if s.low != nil && s.high != nil {
		out = append(out, new(big.Rat).Quo(new(big.Rat).Add(s.low, s.high), big.NewRat(2, 1)))
	}
	return out
}

// floor returns the greatest multiple of unit that is not above r.
func floor(r, unit *big.Rat) *big.Rat {
	q := new(big.Rat).Quo(r, unit)
	n := new(big.Int).Div(q.Num(), q.Denom()) // Euclidean, and Denom is positive: rounds down
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), unit)
}

func ratOf(kw map[string]any, k string) *big.Rat {
	if n, ok := kw[k].(json.Number); ok {
		return rat(n)
	}
	return nil
}

// count reads a length; a keyword that is absent gives the default.
func count(kw map[string]any, k string, absent int) int {
	if r := ratOf(kw, k); r != nil {
		if !r.Num().IsInt64() {
			return 1 << 40
		}
		return int(r.Num().Int64())
	}
	return absent
}

// decimal writes a number without rounding; bounds and steps have finite decimals, so have their sums.
func decimal(r *big.Rat) json.Number {
	digits, _ := r.FloatPrec()
	return json.Number(r.FloatString(digits))
}
