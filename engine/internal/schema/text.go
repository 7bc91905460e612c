package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Everything that a reason shows goes through here. Text of the schema is shown in
// ASCII only: what is invisible or turns the writing direction stays visible.

// quote shows text in quotes, cut to so many characters.
func quote(text string, longest int) string {
	for i := range text {
		if longest == 0 {
			return strconv.QuoteToASCII(text[:i] + "...")
		}
		longest--
	}
	return strconv.QuoteToASCII(text)
}

// ascii shows text without quotes.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= ' ' && r <= '~' {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// cut shortens text to so many bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len("...")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

const (
	shownValues  = 12
	longestValue = 48 // characters
)

// values shows what a schema lists, shortened.
func values(list []any) string {
	var parts []string
	for i, value := range list {
		if i == shownValues {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-shownValues))
			break
		}
		parts = append(parts, showValue(value))
	}
	return strings.Join(parts, ", ")
}

func showValue(value any) string {
	if text, ok := value.(string); ok {
		return quote(text, longestValue)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "a value of the schema"
	}
	return cut(ascii(string(encoded)), longestValue)
}

// counted writes "1 item", "2 items", "3 properties".
func counted(n int, unit string) string {
	switch {
	case n == 1:
		return "1 " + unit
	case strings.HasSuffix(unit, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(unit, "y"))
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// maxDigits is how many digits of a number are shown.
const maxDigits = 24

func plainNumber(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	precision, exact := r.FloatPrec()
	if !exact { // no number of a JSON text
		precision = maxExponent + maxDigits
	}
	return r.FloatString(precision)
}

// number shows a number exactly where maxDigits digits can do that, if need be
// with an exponent.
func number(r *big.Rat) string {
	plain := plainNumber(r)
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(plain, "-"), ".")
	if len(whole)+len(fraction) <= maxDigits {
		return plain
	}
	sign := plain[:len(plain)-len(strings.TrimPrefix(plain, "-"))]
	exponent := len(whole) - 1
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(whole+fraction) - len(digits)
	digits = strings.TrimRight(digits, "0")
	about := ""
	if len(digits) > maxDigits {
		about, digits = "about ", digits[:maxDigits]
	}
	mantissa := digits[:1]
	if len(digits) > 1 {
		mantissa += "." + digits[1:]
	}
	return about + sign + mantissa + "e" + strconv.Itoa(exponent)
}
