package ecma

import (
	"errors"
	"regexp/syntax"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCompile(t *testing.T) {
	for pattern, c := range map[string]struct{ matches, others []string }{
		`a.c`:        {[]string{"abc", "a\tc", "a\u00a0c"}, []string{"a\nc", "a\rc", "a\u2028c", "a\u2029c", "ac"}},
		`^\s$`:       {[]string{"\t", "\v", "\u00a0", "\ufeff", "\u2003", "\u2029", "\u1680"}, []string{"\u200b", "x", "\u180e", ""}},
		`^\S$`:       {[]string{"\u200b", "x", "\u00e4"}, []string{"\v", "\u00a0", "\ufeff", " "}},
		`^[\s\S]$`:   {[]string{"\n", "x", "\U0001f600"}, []string{""}},
		`^[^\s]$`:    {[]string{"x"}, []string{"\u00a0"}},
		`^[^\S\n]$`:  {[]string{" ", "\t"}, []string{"\n", "x"}},
		`^\d\w\D\W$`: {[]string{"1aa-", "9_\u0661\u00e4"}, []string{"\u0661aa-", "1\u00e4a-", "1aaa"}},
		`\bab\b`:     {[]string{"ab", "x ab-", "\u00e4ab\u00e4"}, []string{"xab", "ab1"}},
		`a\Bb`:       {[]string{"ab"}, []string{"a b"}},
		`^a$`:        {[]string{"a"}, []string{"a\n", "\na", "b"}},
		`^[\b]$`:     {[]string{"\b"}, []string{"b"}},
		`^[^]$`:      {[]string{"\n", "a", "\U0001f600"}, []string{"", "aa"}},
		`[]`:         {nil, []string{"", "a"}},
		`^a|b$`:      {[]string{"ax", "xb"}, []string{"xa"}},
		`^(?:a|)$`:   {[]string{"a", ""}, []string{"b"}},
		`\cA\cz\0\x41\u0042\u{1f600}\ud83d\ude00`: {[]string{"\x01\x1a\x00AB\U0001f600\U0001f600"}, []string{"cA"}},
		`^[\u4e00-\u9fa5]+$`:                      {[]string{"\u4e2d\u6587"}, []string{"a"}},
		`^[\ud83d\ude00-\ud83d\ude4f]$`:           {[]string{"\U0001f600", "\U0001f64f"}, []string{"\U0001f650", "a"}},
		`^[^\ud800-\udfff]*$`:                     {[]string{"a\U0001f600", ""}, nil},
		`\ud800`:                                  {nil, []string{"", "a", "\ufffd"}},
		`^\p{L}\p{Lu}\p{Letter}\p{gc=Nd}\p{General_Category=Decimal_Number}$`:           {[]string{"\u00e4\u00c4x1\u0661"}, []string{"1AX11"}},
		`^\p{Script=Greek}\p{sc=Grek}\P{Script=Greek}$`:                                 {[]string{"\u03b1\u03b2a"}, []string{"aaa"}},
		`^[\p{ASCII}\p{Lu}]\p{Any}\p{Alphabetic}\p{White_Space}\p{Uppercase}\p{Lower}$`: {[]string{"\u00c4\n\u0345 A\u00e4"}, []string{"\u00e4\n\u0345 A\u00e4"}},
		`^\P{L}[^\p{L}]$`: {[]string{"1-"}, []string{"a1", "1a"}},
		`^(\p{Extended_Pictographic}|\p{Emoji_Component})+$`: {[]string{"\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea"}, []string{"a", "\U0001f600!"}},
		`^\p{Emoji}\P{Emoji}[^\p{EPres}]$`:                   {[]string{"\u2600aa"}, []string{"aaa", "\u2600\u2600a", "\u2600a\u231a"}},
		`^[a-z\-]+\-\/\_\.\ \#$`:                             {[]string{"a--/_. #"}, []string{"a"}},
		`^[\w-.]+$`:                                          {[]string{"a-.b"}, []string{"a,b"}},
		`^[-a]+[a-]+[+--]$`:                                  {[]string{"-aa-,"}, []string{"b"}},
		`^[a&&b]+[[]$`:                                       {[]string{"a&b["}, []string{"c["}},
		`^[(?i)]+$`:                                          {[]string{"(?i)"}, []string{"I"}},
		`{a}]{2,x}`:                                          {[]string{"{a}]{2,x}"}, []string{"a"}},
		`^a{2}b{1,2}c{0,}d*?e+?f??$`:                         {[]string{"aabe", "aabbccddeef"}, []string{"abe", "aabbbe"}},
		`^(?<year>\d{4})(?<_b>x)$`:                           {[]string{"2026x"}, []string{"202x"}},
		`^(a+)+$`:                                            {[]string{"aaa"}, []string{"aaab"}},
		`^(?=a)(?!.*b)^(?!.{4})`:                             {[]string{"a", "acc"}, []string{"b", "ab", "ca", "abc", "accc", ""}},
		`^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`:                     {[]string{"1.5", "-00.1", "+7"}, []string{"", "-", ".", "+.", "1.5.", "a"}},
		`^(?=.*[A-Z])(?=.*\d).{8,}$`:                         {[]string{"Abcdefg1"}, []string{"abcdefg1", "Abcdefgh", "Abcdef1"}},
		`^(?!a|b)(?:c|.)$`:                                   {[]string{"c", "d"}, []string{"a", "b", "cc"}},
		`^(?=a)$|`[:7]:                                       {nil, []string{"", "a"}},
		`^` + strings.Repeat(`(`, 200) + strings.Repeat(`)`, 200) + `$`: {[]string{""}, []string{"a"}},
		"\u00e4\U0001f600[\u00e4-\u00fc]":                               {[]string{"\u00e4\U0001f600\u00f6"}, []string{"\u00e4\U0001f600a"}},
	} {
		compiled, err := Compile(pattern)
		if err != nil {
			t.Errorf("%q: %v", pattern, err)
			continue
		}
		for _, text := range c.matches {
			if !compiled.MatchString(text) {
				t.Errorf("%q as %q does not match %q", pattern, compiled.main, text)
			}
		}
		for _, text := range c.others {
			if compiled.MatchString(text) {
				t.Errorf("%q as %q matches %q", pattern, compiled.main, text)
			}
		}
		if err := Check(pattern); err != nil {
			t.Errorf("Check(%q): %v", pattern, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for pattern, want := range map[string]SyntaxError{
		`a\Z`:                   {1, `the escape "\\Z" has no meaning`, "remove the backslash, if the character itself is meant"},
		`\a`:                    {0, `the escape "\\a" has no meaning`, "remove the backslash, if the character itself is meant"},
		`\Qa\E`:                 {0, `the escape "\\Q" has no meaning`, "remove the backslash, if the character itself is meant"},
		"\\\u00e4":              {0, `the escape "\\\u00e4" has no meaning`, "remove the backslash, if the character itself is meant"},
		`[\A]`:                  {1, `the escape "\\A" has no meaning`, "remove the backslash, if the character itself is meant"},
		`[\B]`:                  {1, `the escape "\\B" has no meaning`, "remove the backslash, if the character itself is meant"},
		`a\`:                    {1, "the pattern ends with a backslash", ""},
		`[a\`:                   {2, "the pattern ends with a backslash", ""},
		`[a`:                    {0, "the class is not closed", ""},
		`[a-`:                   {0, "the class is not closed", ""},
		`x[z-a]`:                {2, "the range in the class is out of order", ""},
		`[[:alpha:]]`:           {0, "there are no POSIX classes in ECMA-262", `write \d, a-z or \p{L}`},
		`[^[:alpha:]]`:          {0, "there are no POSIX classes in ECMA-262", `write \d, a-z or \p{L}`},
		`a(b`:                   {1, "the parenthesis is not closed", ""},
		`a)b`:                   {1, "a parenthesis is closed that was not opened", `write \) for the character`},
		`(?i)a`:                 {0, "there is no group of this kind", "remove the flags or comment after (?"},
		`(?i:a)`:                {0, "there is no group of this kind", "remove the flags or comment after (?"},
		`(?#a)`:                 {0, "there is no group of this kind", "remove the flags or comment after (?"},
		`(?>a)`:                 {0, "there is no group of this kind", "remove the flags or comment after (?"},
		`(?P<n>a)`:              {0, "this is the syntax of another language for a named group", `write (?<name>...) or \k<name>`},
		`(?<1>a)`:               {3, `"1" cannot be the name of a group`, "use letters, digits and _"},
		`(?<n`:                  {0, "the name of the group does not end", ""},
		`(?<n>a)(?<n>b)`:        {10, `two groups have the name "n"`, ""},
		`\k<n>`:                 {0, `there is no group of the name "n"`, ""},
		`\k`:                    {0, `the escape \k has no meaning without <name>`, ""},
		`(a)\2`:                 {3, "there is no group of the number 2", ""},
		`\99999999999999999999`: {0, "there is no group of this number", ""},
		`*a`:                    {0, "there is nothing to repeat", `write \ before the character to mean it`},
		`a|+`:                   {2, "there is nothing to repeat", `write \ before the character to mean it`},
		`{2}`:                   {0, "there is nothing to repeat", `write \ before the character to mean it`},
		`a**`:                   {2, "a quantifier cannot be repeated", ""},
		`a+?+`:                  {3, "a quantifier cannot be repeated", ""},
		`a{1}{2}`:               {4, "a quantifier cannot be repeated", ""},
		`^*`:                    {1, "the start of the text cannot be repeated", ""},
		`$+`:                    {1, "the end of the text cannot be repeated", ""},
		`\b?`:                   {2, "a word boundary cannot be repeated", ""},
		`(?<=a)*`:               {6, "a lookbehind cannot be repeated", ""},
		`a{3,2}`:                {1, "the bounds of the quantifier are out of order", ""},
		`a{,5}`:                 {1, "a quantifier lacks its lower bound, and would be taken for text", "write {0,5}"},
		`\c1`:                   {0, `the escape \c has no meaning without a letter`, ""},
		`\c`:                    {0, `the escape \c has no meaning without a letter`, ""},
		`\01`:                   {0, "octal escapes have no meaning in Unicode mode", `write \xHH`},
		`\xg1`:                  {0, "the escape needs 2 hexadecimal digits", ""},
		`\x+1`:                  {0, "the escape needs 2 hexadecimal digits", ""},
		`\u12`:                  {0, "the escape needs 4 hexadecimal digits", ""},
		`\u{110000}`:            {0, `the escape \u{} does not hold a code point`, ""},
		`\u{}`:                  {0, `the escape \u{} does not hold a code point`, ""},
		`\u{1`:                  {0, `the escape \u{ does not end`, ""},
		`\pL`:                   {0, "a Unicode property has no braces", `write \p{L}`},
		`[\p{Nope}]`:            {1, `there is no Unicode property "Nope"`, ""},
		`\p{Script=Nope}`:       {0, `there is no Unicode property "Script=Nope"`, ""},
		`\p{Greek}`:             {0, `there is no Unicode property "Greek"`, ""},
		"a\xff":                 {1, "the pattern is not valid UTF-8", ""},
		strings.Repeat(`(`, 251) + strings.Repeat(`)`, 251): {250, "groups are nested more than 250 deep", ""},
	} {
		compiled, err := Compile(pattern)
		var got *SyntaxError
		if !errors.As(err, &got) {
			t.Errorf("%.60q: %q, %v", pattern, compiled.main, err)
			continue
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%.60q (-want +got):\n%s", pattern, diff)
		}
		if again := Check(pattern); again == nil || again.Error() != err.Error() {
			t.Errorf("%.60q: Check says %v, Compile %v", pattern, again, err)
		}
	}
}

// What ECMA-262 knows and RE2 does not is no error of the pattern.
func TestUnsupported(t *testing.T) {
	for pattern, want := range map[string]UnsupportedError{
		`^(?=a)|b`:                      {1, "lookahead", ""},
		`^a(?=b)`:                       {2, "lookahead", ""},
		`^(?=a(?!b))`:                   {5, "lookahead", ""},
		`a^(?=b)`:                       {2, "lookahead", ""},
		`(?:^(?=a))`:                    {4, "lookahead", ""},
		`(?!a)+b`:                       {0, "lookahead", ""},
		`(?<=a)b(?!c)`:                  {0, "lookbehind", ""},
		`(?<!a+)b`:                      {0, "lookbehind", ""},
		`(a)\1`:                         {3, "a backreference", ""},
		`\1(a)`:                         {0, "a backreference", ""},
		`(?<n>a)\k<n>`:                  {7, "a backreference", ""},
		`\p{ID_Start}`:                  {0, "the Unicode property ID_Start", "list the characters, or allow backtracking patterns for this tool"},
		`[\p{Script_Extensions=Greek}]`: {1, "the Unicode property Script_Extensions", "write Script= instead, if that is near enough"},
		`^.{1,2000}$`:                   {2, "a repeat of more than 1000", repeatRemedy},
		`a{99999999999999999999}`:       {1, "a repeat of more than 1000", repeatRemedy},
		strings.Repeat(`\p{L}`, 200):    {520, "a pattern of this size", sizeRemedy},
		`(a{999}){999}`:                 {0, "a repeat of more than 1000, or repeats within repeats that come to more", sizeRemedy},
	} {
		compiled, err := Compile(pattern)
		var got *UnsupportedError
		if !errors.As(err, &got) {
			t.Errorf("%q: %q, %v", pattern, compiled.main, err)
			continue
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", pattern, diff)
		}
		if err := Check(pattern); err != nil {
			t.Errorf("Check(%q): %v", pattern, err)
		}
	}
}

func TestErrorsShowTheirPlace(t *testing.T) {
	for want, err := range map[string]error{
		"at offset 3: is wrong":                   &SyntaxError{Offset: 3, Problem: "is wrong", Remedy: "mend it"},
		"at offset 4: lookahead is not supported": &UnsupportedError{Offset: 4, Feature: "lookahead"},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

// Long patterns take linear time and no deep recursion.
func TestLongPatterns(t *testing.T) {
	for _, piece := range []string{`\P{L}`, `[\P{L}]`, `[^\p{L}\p{Lu}]`, `\W`, "a{999}", "(?:a??){999}", "a", "[a-z]", "(a)", `\u0041`, `\p{L}`, "a|", "x{0,3}", "(?=a)", "]", "{"} {
		pattern := strings.Repeat(piece, 20_000)
		start := time.Now()
		_, _ = Compile(pattern)
		_, _ = Compile("[" + pattern + "]")
		_ = Check(pattern)
		if took := time.Since(start); took > 3*time.Second { // a guard: most take milliseconds
			t.Errorf("%s... takes %s", piece, took)
		}
	}
}

// The size is known before anything is compiled.
func TestStates(t *testing.T) {
	for _, pattern := range []string{
		"", "a", "abc", "[a-z]", "^a$", "a*", "a+?", "a?", "(a)", "(?:ab)*", "a|b", "ab|cd|e", "a{3}", "a{2,}", "a{2,5}", "(?:a?){9}", "(?:ab|c){1,4}x", "^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}$", "a{0}", "(?:a{0,1000}b){1}", "a{0,}",
	} {
		compiled, err := Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := syntax.Parse(compiled.main.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := compiled.States(), len(program.Inst); got < want || got > want+2+want/4 {
			t.Errorf("%s has %d states, want some %d", pattern, got, want)
		}
	}
}

// A text costs by how many states a pattern can be in at once, not by how many it has.
func TestWidth(t *testing.T) {
	for pattern, want := range map[string]int{
		``: 2, `^a$`: 2, `^[0-9a-f]{32}$`: 2, `^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`: 2, `^\p{L}[\p{L}\p{N} .'-]{0,200}$`: 4,
		`^.{1,255}$`: 4, `a{50}`: 51, `^(?=a+)b+$`: 7, `(?:a|b)*c`: 4,
		`^[a-zA-Z_][a-zA-Z0-9_]{0,999}$`: 4, `^\S.{0,998}\S$`: 5, `\b(rm|sudo|mkfs|dd|reboot|halt)\b`: 15,
		`(password|token|AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36})`: 30,
	} {
		compiled, err := Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if compiled.Width() != want {
			t.Errorf("%s has width %d, want %d", pattern, compiled.Width(), want)
		}
	}
	ambiguous, err := Compile(`(?:.{1,500}x){1,2}$`)
	if err != nil {
		t.Fatal(err)
	}
	if ambiguous.Width() < 1000 {
		t.Errorf("an ambiguous pattern has width %d", ambiguous.Width())
	}
}

// Where the width is not found out for lack of work, what is taken for it is not less.
func TestWidthIsNeverTooSmall(t *testing.T) {
	for _, pattern := range []string{
		`a`, `^a`, `ab|cd|ef`, `(ab|cd)*x`, `(a|ab)(c|bcd)(d*)$`, `^(foo|^bar|baz)qux`, `(?:^a|b)c{3}`, `[ab]*a[ab]{4}`, `^(a?){5}b`, `x(?:y|z){2,6}(?:zz|y)`, `(ab|ba){3}(a|b)*aa$`,
	} {
		work := 100 * DefaultWork
		exact, err := CompileWithin(&work, pattern)
		if err != nil || work <= 0 {
			t.Fatal(pattern, work, err)
		}
		for work := range 3000 {
			bounded, err := CompileWithin(&work, pattern)
			if err != nil {
				t.Fatal(err)
			}
			if bounded.Width() < exact.Width() {
				t.Fatalf("%s has width %d, but %d where that has to be found out soon", pattern, exact.Width(), bounded.Width())
			}
		}
	}
}
