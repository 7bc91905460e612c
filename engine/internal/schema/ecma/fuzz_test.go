package ecma

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

var surrogate = regexp.MustCompile(`(?i)\\u\{?0*d[89a-f]`)

// FuzzCompile holds that a compiled.main pattern matches what another engine matches
// that is made for ECMA-262, and that nothing makes the package panic. The seeds are in
// testdata/fuzz.
func FuzzCompile(f *testing.F) {
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 200 || len(text) > 200 {
			return
		}
		compiled, err := Compile(pattern)
		if err != nil {
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("%q: %q is not fit to show", pattern, err)
			}
			return
		}
		if err := Check(pattern); err != nil {
			t.Fatalf("%q is compiled.main but not valid: %v", pattern, err)
		}
		if !utf8.ValidString(text) {
			return
		}
		// The other engine takes a surrogate that is repeated, as in \ud800{2}, for U+FFFD.
		// By ECMA-262 it matches nothing in valid text.
		if surrogate.MatchString(pattern) && strings.ContainsRune(text, utf8.RuneError) {
			return
		}
		other, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
		if err != nil {
			return
		}
		other.MatchTimeout = 50 * time.Millisecond
		want, err := other.MatchString(text)
		if err != nil {
			return // out of time
		}
		if got := compiled.MatchString(text); got != want {
			t.Fatalf("%q as %q against %q: %v, the other engine says %v", pattern, compiled.main, text, got, want)
		}
	})
}
