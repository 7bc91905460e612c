package engine

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"plain /a~1b":            "plain /a~1b",
		"Grüße, 漢字, 😀":           "Grüße, 漢字, 😀",
		"\x1b[2J":                `\u{1b}[2J`,
		"\x00\x7f\u009b":         `\u{0}\u{7f}\u{9b}`,
		"a\u202eb":               `a\u{202e}b`,
		"a\u200bb\ufeff\u2028":   `a\u{200b}b\u{feff}\u{2028}`,
		"\U000e0041\U000e007f":   `\u{e0041}\u{e007f}`,
		"x\ufe0f\U000e0100":      `x\u{fe0f}\u{e0100}`,
		"\u3164\u115f\u2800":     `\u{3164}\u{115f}\u{2800}`,
		"\u00a0\u00ad\ue000":     `\u{a0}\u{ad}\u{e000}`,
		"bad \xff\xc0 \ufffd ok": "bad \\x{ff}\\x{c0} \ufffd ok",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abcdefgh", 8, "abcdefgh"},
		{"abcdefghi", 8, "abcde..."},
		{"ääääää", 8, "ää..."},
		{"漢漢漢漢", 8, "漢..."},
	} {
		if got := cut(c.text, c.limit); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q to %d: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestPointerTokens(t *testing.T) {
	for pointer, want := range map[string][]string{
		"":           nil,
		"/":          {""},
		"/a~1b/m~0n": {"a/b", "m~n"},
		"/~01":       {"~1"},
		"/a//0":      {"a", "", "0"},
	} {
		got, ok := pointerTokens(pointer)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%q: ok %v (-want +got):\n%s", pointer, ok, diff)
		}
		if back := pointerOf(got, 512); back != pointer {
			t.Errorf("%q comes back as %q", pointer, back)
		}
	}
	for _, pointer := range []string{"a", "a/b", "/~", "/~2", "/a~", "/~0~"} {
		if got, ok := pointerTokens(pointer); ok {
			t.Errorf("%q is read as %q", pointer, got)
		}
	}
}

func TestPointersAreCut(t *testing.T) {
	for _, tokens := range [][]string{{strings.Repeat("k", 60_000)}, slices.Repeat([]string{"ä\x1b"}, 1000), {strings.Repeat("~", 600), "x"}} {
		got := pointerOf(tokens, 512)
		if len(got) > 512 || !strings.HasSuffix(got, "...") || !utf8.ValidString(got) {
			t.Errorf("%d bytes, %.40q", len(got), got)
		}
	}
}
