package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// bounds stands for minimum, maximum, both exclusive ones and multipleOf. The validator's
// own makes a fraction of every number, by way of a text; most numbers are small
// integers, and so are most bounds. A call with two of them takes a tenth less so.
type bounds struct {
	minimum, maximum, above, below, multipleOf *bound // nil where absent
}

type bound struct {
	exact *big.Rat
	small int64
	fits  bool // small is the same number
}

func newBound(exact *big.Rat) *bound {
	if exact == nil {
		return nil
	}
	b := &bound{exact: exact}
	if exact.IsInt() && exact.Num().IsInt64() {
		b.small, b.fits = exact.Num().Int64(), true
	}
	return b
}

// takeBounds takes the keywords out of a schema. ok is false where there are none.
func takeBounds(s *jsonschema.Schema) (taken bounds, ok bool) {
	taken = bounds{newBound(s.Minimum), newBound(s.Maximum), newBound(s.ExclusiveMinimum), newBound(s.ExclusiveMaximum), newBound(s.MultipleOf)}
	s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum, s.MultipleOf = nil, nil, nil, nil, nil
	return taken, taken != bounds{}
}

// numeral is a number on its way through bounds.
type numeral struct {
	text  string
	small int64
	fits  bool // small is the same number
	exact *big.Rat
}

// longestSmall is how many characters a number may have that surely fits into an int64.
const longestSmall = 18

func readNumeral(number json.Number) *numeral {
	n := &numeral{text: number.String()}
	if len(n.text) <= longestSmall && !strings.ContainsAny(n.text, ".eE") {
		small, err := strconv.ParseInt(n.text, 10, 64)
		n.small, n.fits = small, err == nil
	}
	return n
}

func (n *numeral) rat() *big.Rat {
	if n.exact == nil {
		n.exact, _ = new(big.Rat).SetString(n.text)
	}
	return n.exact
}

// compare is -1, 0 or 1 as the number is less than, equal to or greater than the bound.
func (n *numeral) compare(b *bound) int {
	switch {
	case !n.fits || !b.fits:
		return n.rat().Cmp(b.exact)
	case n.small < b.small:
		return -1
	case n.small > b.small:
		return 1
	}
	return 0
}

func (n *numeral) isMultipleOf(b *bound) bool {
	if n.fits && b.fits && b.small != 0 {
		return n.small%b.small == 0
	}
	return new(big.Rat).Quo(n.rat(), b.exact).IsInt()
}

// Validate implements jsonschema.SchemaExt.
func (b bounds) Validate(ctx *jsonschema.ValidatorContext, value any) {
	number, ok := value.(json.Number)
	if !ok {
		return
	}
	n := readNumeral(number)
	if b.minimum != nil && n.compare(b.minimum) < 0 {
		ctx.AddError(&kind.Minimum{Got: n.rat(), Want: b.minimum.exact})
	}
	if b.maximum != nil && n.compare(b.maximum) > 0 {
		ctx.AddError(&kind.Maximum{Got: n.rat(), Want: b.maximum.exact})
	}
	if b.above != nil && n.compare(b.above) <= 0 {
		ctx.AddError(&kind.ExclusiveMinimum{Got: n.rat(), Want: b.above.exact})
	}
	if b.below != nil && n.compare(b.below) >= 0 {
		ctx.AddError(&kind.ExclusiveMaximum{Got: n.rat(), Want: b.below.exact})
	}
	if b.multipleOf != nil && !n.isMultipleOf(b.multipleOf) {
		ctx.AddError(&kind.MultipleOf{Got: n.rat(), Want: b.multipleOf.exact})
	}
}
