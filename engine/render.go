package engine

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable makes text from a caller or a rule safe to show: every character
// that does not print, or prints as nothing, is written as \u{...}. Terminal
// escapes, bidirectional controls and invisible characters do not get through.
func printable(text string) string {
	clean := true
	for i := 0; i < len(text); i++ {
		if text[i] < 0x20 || text[i] >= 0x7F {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x{%x}`, text[i])
		case showsItself(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// brailleBlank is a printing character by its category, and blank all the same.
const brailleBlank = '\u2800'

func showsItself(r rune) bool {
	return unicode.IsPrint(r) && r != brailleBlank &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) &&
		!unicode.Is(unicode.Variation_Selector, r)
}

// cut shortens text to at most limit bytes, at a character's edge.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const dots = "..."
	end := max(limit-len(dots), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + dots
}

// pointerTokens splits an RFC 6901 pointer. ok is false for text that is none.
func pointerTokens(pointer string) (tokens []string, ok bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	tokens = strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		if !strings.Contains(token, "~") {
			continue
		}
		for rest := token; ; {
			_, after, found := strings.Cut(rest, "~")
			if !found {
				break
			}
			if !strings.HasPrefix(after, "0") && !strings.HasPrefix(after, "1") {
				return nil, false
			}
			rest = after
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens, true
}

// indexOf reads a token as the index of an array of so many items.
func indexOf(token string, items int) (index int, ok bool) {
	index, err := strconv.Atoi(token)
	return index, err == nil && index >= 0 && index < items
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// pointerOf writes tokens as a pointer, safe to show and cut to limit bytes.
func pointerOf(tokens []string, limit int) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		if len(token) > limit {
			token = token[:limit] // the rest would be cut anyway
		}
		b.WriteString(pointerEscaper.Replace(token))
		if b.Len() > limit {
			break
		}
	}
	return cut(printable(b.String()), limit)
}

// namedInMessage is how many violations the one-line message spells out. Many
// clients show a model nothing but the message.
const namedInMessage = 3

func message(tool string, code int, violations []Violation, omitted int) string {
	var b strings.Builder
	if code == CodeMethodNotFound {
		b.WriteString("unknown tool")
	} else {
		b.WriteString("invalid arguments for")
	}
	fmt.Fprintf(&b, " %q: ", tool)
	for i, v := range violations {
		if i == namedInMessage {
			fmt.Fprintf(&b, "; and %d more", len(violations)-i+omitted)
			return b.String()
		}
		if i > 0 {
			b.WriteString("; ")
		}
		if v.Path != "" {
			b.WriteString(v.Path + " ")
		}
		b.WriteString(v.Reason)
	}
	if omitted > 0 {
		fmt.Fprintf(&b, "; and %d more", omitted)
	}
	return b.String()
}
