package schema

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The order has to be total, or sorting would depend on where an entry starts.
func TestOrderOfTokensIsTotal(t *testing.T) {
	tokens := []string{"", "0", "1", "2", "9", "10", "11", "010", "5a", "a", "a1", "-1", "~", "10000000000000000000000", "漢"}
	for _, a := range tokens {
		for _, b := range tokens {
			if compareToken(a, b) != -compareToken(b, a) || (compareToken(a, b) == 0) != (a == b) {
				t.Errorf("%q and %q", a, b)
			}
			for _, c := range tokens {
				if compareToken(a, b) < 0 && compareToken(b, c) < 0 && compareToken(a, c) >= 0 {
					t.Errorf("%q < %q < %q, but not the ends", a, b, c)
				}
			}
		}
	}
	sorted := slices.SortedFunc(slices.Values(tokens), compareToken)
	want := []string{"0", "1", "2", "9", "10", "11", "10000000000000000000000", "", "-1", "010", "5a", "a", "a1", "~", "漢"}
	if diff := cmp.Diff(want, sorted); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
