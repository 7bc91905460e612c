package ecma

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Go's engine takes a surrogate that stands alone for U+FFFD, which texts do hold.
func TestSurrogatesMatchNothing(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{`^[\ud800]$`, "\ufffd", false},
		{`^[\ud800]`, "\ufffda", false},
		{`^a[\ud800]b$`, "a\ufffdb", false},
		{`^a[^\0-\ud7ff\ud801-\u{10ffff}]b$`, "a\ufffdb", false},
		{`^\p{Cs}$`, "\ufffd", false},
		{`^[a\ud800]$`, "a", true},
		{`^[\ud800-\uffff]$`, "\ufffd", true},
		{`^[\ud800-\uffff]$`, "\ue000", true},
		{`^[^\ud800]$`, "\ufffd", true},
	} {
		compiled, err := Compile(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		if got := compiled.MatchString(c.text); got != c.want {
			t.Errorf("%q as %q against %q: %t, want %t", c.pattern, compiled.main, c.text, got, c.want)
		}
	}
}

func TestShortPropertyNames(t *testing.T) {
	for _, names := range [][2]string{
		{"AHex", "ASCII_Hex_Digit"}, {"QMark", "Quotation_Mark"}, {"space", "White_Space"}, {"RI", "Regional_Indicator"},
		{"sc=Adlm", "Script=Adlam"}, {"sc=Qaac", "sc=Coptic"}, {"sc=Qaai", "sc=Inherited"}, {"sc=Thai", "Script=Thai"}, {"digit", "gc=Nd"},
	} {
		short, shortErr := Compile(`\p{` + names[0] + `}`)
		long, longErr := Compile(`\p{` + names[1] + `}`)
		if shortErr != nil || longErr != nil || short.main.String() != long.main.String() {
			t.Errorf("%s is %.40q (%v), %s is %.40q (%v)", names[0], short.main, shortErr, names[1], long.main, longErr)
		}
	}
}

func TestEdgesOfSyntax(t *testing.T) {
	posix := func(offset int) *SyntaxError {
		return &SyntaxError{offset, "there are no POSIX classes in ECMA-262", `write \d, a-z or \p{L}`}
	}
	for pattern, want := range map[string]error{
		`[[:alnum:]_-]+`:      posix(0),
		`x[a[:^digit:]]`:      posix(1),
		`[[:a][:]`:            nil,
		`[[:,]x[b:]]`:         nil,
		"(?<\u00e9t\u00e9>a)": nil,
		"(?<a\u2028>a)":       &SyntaxError{3, `"a\u2028" cannot be the name of a group`, "use letters, digits and _"},
		`\p{Hyphen}`:          &SyntaxError{0, `there is no Unicode property "Hyphen"`, ""},
		`\p{Other_Math}`:      &SyntaxError{0, `there is no Unicode property "Other_Math"`, ""},
		`\p{scx=Nope}`:        &SyntaxError{0, `there is no Unicode property "scx=Nope"`, ""},
		`\p{scx=Grek}`:        &UnsupportedError{0, "the Unicode property Script_Extensions", "write Script= instead, if that is near enough"},
		`a{99999999999999999999,99999999999999999998}`: &SyntaxError{1, "the bounds of the quantifier are out of order", ""},
		`a{2000000000,99999999999999999999}`:           &UnsupportedError{1, "a repeat of more than 1000", repeatRemedy},
		`a{007,08}`:                                    nil,
		`[\d-a-z]`:                                     nil, // as Annex B has it: digits, minus, a, z
	} {
		_, err := Compile(pattern)
		if diff := cmp.Diff(want, err); diff != "" {
			t.Errorf("%q (-want +got):\n%s", pattern, diff)
		}
		var invalid *SyntaxError
		if checked := Check(pattern); (checked != nil) != errors.As(want, &invalid) {
			t.Errorf("Check(%q): %v", pattern, checked)
		}
	}
}

// A pattern is read in time linear in its length: 2 MB of [[:a] once took 35 s.
func TestRepeatedOpeningsTakeLinearTime(t *testing.T) {
	for _, piece := range []string{"{", "{1", "a{,", "[:a]", "[[:a]"} {
		start := time.Now()
		Check(strings.Repeat(piece, 400_000)) // whatever it says of them
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("400,000 times %q take %s", piece, took)
		}
	}
}
