package pins

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxReason is how many bytes a reason has at most, as all reasons have.
	maxReason       = 256
	maxShownPointer = 128
	maxShownValue   = 200
	maxShownName    = 40
)

// quote makes text of a server safe to show: in ASCII, cut to limit bytes, and in
// quotation marks where it could pass for anything else than one word.
func quote(text string, limit int) string {
	if !strings.ContainsFunc(text, notPlain) && text != "" {
		return cut(text, limit)
	}
	if len(text) > limit { // the rest would be cut anyway
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return cut(strconv.QuoteToASCII(text), limit)
}

func notPlain(r rune) bool { return r <= ' ' || r >= 0x7F || r == '"' || r == '\\' }

// cut shortens ASCII text to at most limit bytes.
func cut(text string, limit int) string {
	const dots = "..."
	if len(text) <= limit {
		return text
	}
	return text[:limit-len(dots)] + dots
}

// escapeHidden writes every character of a JSON text that does not show itself as an
// escape, so that nobody overlooks what a model reads: controls of direction, tags,
// characters of no width.
func escapeHidden(text []byte) []byte { return escape(text, showsItself) }

// escape writes the characters of a JSON text that are not plain as escapes. But for line
// ends, only strings have such characters.
func escape(text []byte, plain func(rune) bool) []byte {
	b := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == '\n' || plain(r) {
			b = append(b, text[:size]...)
		} else if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			b = appendEscape(appendEscape(b, high), low)
		} else {
			b = appendEscape(b, r)
		}
		text = text[size:]
	}
	return b
}

func appendEscape(b []byte, unit rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[unit>>12&15], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}

// brailleBlank is a printing character by its category, and blank all the same.
const brailleBlank = '\u2800'

func isASCII(r rune) bool { return r >= ' ' && r < 0x7F }

func showsItself(r rune) bool {
	return unicode.IsPrint(r) && r != brailleBlank &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) &&
		!unicode.Is(unicode.Variation_Selector, r)
}
