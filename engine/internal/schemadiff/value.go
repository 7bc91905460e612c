package schemadiff

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Equal says whether two decoded JSON values are the same value. Numbers are compared
// exactly and by value: 1.0 is 1, and 2^53 is not 2^53+1. Numbers with an exponent
// beyond 308 are compared by their text.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			if other, ok := b[key]; !ok || !Equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case string:
		return a == b
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || canonical(a) == canonical(b))
	case nil, bool, absent:
		return a == b
	}
	return canonical(a) == canonical(b) // no JSON value
}

// canonical returns a text that is the same for Equal values and for no others.
func canonical(value any) string {
	var b strings.Builder
	write(&b, value, func(n json.Number) string {
		if exact := rational(n); exact != nil {
			return exact.RatString()
		}
		return strconv.QuoteToASCII(n.String()) + "n"
	})
	return b.String()
}

func write(b *strings.Builder, value any, number func(json.Number) string) {
	switch v := value.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case json.Number:
		b.WriteString(number(v))
	case string:
		b.WriteString(strconv.QuoteToASCII(v))
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, item, number)
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for i, key := range union(v, nil) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.QuoteToASCII(key) + ":")
			write(b, v[key], number)
		}
		b.WriteByte('}')
	default: // no JSON value
		b.WriteString(strconv.QuoteToASCII(fmt.Sprintf("%T %v", v, v)) + "?")
	}
}

// rational returns the exact value of a JSON number, or nil: where the value is no
// number, and where its exponent is beyond 308, which would take long to write out.
func rational(value any) *big.Rat {
	number, ok := value.(json.Number)
	if !ok || strings.Trim(number.String(), "+-.0123456789eE") != "" {
		return nil
	}
	if i := strings.IndexAny(number.String(), "eE"); i >= 0 {
		if exponent, err := strconv.Atoi(number.String()[i+1:]); err != nil || exponent > 308 || exponent < -308 {
			return nil
		}
	}
	if r, ok := new(big.Rat).SetString(number.String()); ok {
		return r
	}
	return nil
}

const (
	shownCharacters = 48
	shownValues     = 6
)

// show returns a value for a human reader, in ASCII and cut to 48 characters.
func show(value any) string {
	if isAbsent(value) {
		return "nothing"
	}
	var b strings.Builder
	write(&b, value, func(n json.Number) string {
		if strings.Trim(n.String(), "+-.0123456789eE") == "" {
			return n.String()
		}
		return strconv.QuoteToASCII(n.String())
	})
	return cut(b.String())
}

func showAll(values []any) string {
	var shown []string
	for _, value := range values[:min(len(values), shownValues)] {
		shown = append(shown, show(value))
	}
	if more := len(values) - shownValues; more > 0 {
		shown = append(shown, "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(shown, ", ")
}

func cut(text string) string {
	if len(text) > shownCharacters {
		return text[:shownCharacters-3] + "..."
	}
	return text
}

// label returns a keyword as it may stand in a sentence.
func label(keyword string) string {
	for _, c := range keyword {
		if c <= ' ' || c == '"' || c > '~' {
			return show(keyword)
		}
	}
	return cut(keyword)
}
