package schemadiff

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzDiff takes two JSON documents of at most 2 KB, nested at most 20 deep.
func FuzzDiff(f *testing.F) {
	f.Fuzz(func(t *testing.T, older, newer string) {
		a, ok := bounded(older)
		b, okNow := bounded(newer)
		if !ok || !okNow {
			t.Skip("longer or deeper than what is compared here")
		}
		if got := Diff(a, a); len(got) > 0 {
			t.Errorf("Diff(%s, itself) = %v", older, got)
		}
		if got := Diff(a, b); (len(got) == 0) != Equal(a, b) {
			t.Errorf("Equal is %t, Diff(%s, %s) = %v", Equal(a, b), older, newer, got)
		}
		checkBackwards(t, a, b)
	})
}

func bounded(text string) (any, bool) {
	if len(text) > 2<<10 {
		return nil, false
	}
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > 20 {
			return nil, false
		}
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	return value, err == nil
}
