package pins

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth is how deep a definition may nest; the definition itself is at 0. The
	// comparison of schemas reads no deeper.
	maxDepth = 64
	// maxExponent bounds the exponents that numbers are written with, so that one can be
	// shifted without overflow.
	maxExponent = 1_000_000_000
)

// decode reads one JSON value strictly (RFC 7493): no member twice, no invalid UTF-8, no
// lone surrogates, nothing after it. Numbers are json.Number.
func decode(text []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	value, err := decodeNext(d, 0)
	if err == nil {
		_, err = d.ReadToken()
		if errors.Is(err, io.EOF) {
			return value, nil
		}
		if err == nil {
			err = errors.New("there is more after the value")
		}
	}
	return nil, placed(err, text)
}

func decodeNext(d *jsontext.Decoder, depth int) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindNull:
		return nil, nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return token.Bool(), nil
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindNumber:
		number := json.Number(token.String())
		if _, err := appendNumber(nil, number); err != nil {
			return nil, &placeError{pointer: string(d.StackPointer()), cause: err}
		}
		return number, nil
	default:
		return decodeContainer(d, token.Kind(), depth)
	}
}

func decodeContainer(d *jsontext.Decoder, kind jsontext.Kind, depth int) (any, error) {
	switch {
	case depth >= maxDepth:
		return nil, &placeError{pointer: string(d.StackPointer()), cause: fmt.Errorf("nested deeper than %d levels", maxDepth)}
	case kind == jsontext.KindBeginArray:
		return decodeArray(d, depth)
	}
	return decodeObject(d, depth)
}

func decodeArray(d *jsontext.Decoder, depth int) (any, error) {
	items := []any{}
	for d.PeekKind() != jsontext.KindEndArray {
		item, err := decodeNext(d, depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.ReadToken()
	return items, err
}

func decodeObject(d *jsontext.Decoder, depth int) (any, error) {
	members := map[string]any{}
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // the token is gone with the next one
		value, err := decodeNext(d, depth+1)
		if err != nil {
			return nil, err
		}
		members[key] = value
	}
	_, err := d.ReadToken()
	return members, err
}

// canonical returns the bytes that two decoded values share exactly if they are equal:
// the form of RFC 8785, with numbers by their exact decimal value instead of as a
// float64. So 1, 1.0 and 1e0 are equal, and 2^53 is not 2^53+1.
func canonical(value any) []byte { return appendCanonical(nil, value) }

func appendCanonical(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendString(b, v)
	case json.Number:
		b, err := appendNumber(b, v)
		if err != nil {
			panic(err) // decode has seen to that
		}
		return b
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, item)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, name := range slices.SortedFunc(maps.Keys(v), compareUTF16) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, name), ':')
			b = appendCanonical(b, v[name])
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("not a JSON value: %T", value))
}

// appendString writes a string as RFC 8785, section 3.2.2.2 says.
func appendString(b []byte, text string) []byte {
	b, err := jsontext.AppendQuote(b, text)
	if err != nil {
		panic(err) // decode gives valid UTF-8 alone
	}
	return b
}

// compareUTF16 is the order of members in RFC 8785, section 3.2.3: by UTF-16 code unit,
// where characters beyond U+FFFF come before those from U+E000.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		r, n := utf8.DecodeRuneInString(a)
		s, m := utf8.DecodeRuneInString(b)
		if r != s {
			return cmp.Or(cmp.Compare(firstUnit(r), firstUnit(s)), cmp.Compare(r, s))
		}
		a, b = a[n:], b[m:]
	}
	return cmp.Compare(len(a), len(b))
}

func firstUnit(r rune) rune {
	if high, _ := utf16.EncodeRune(r); high != utf8.RuneError {
		return high
	}
	return r
}

// appendNumber writes a JSON number in the notation of ECMAScript, which RFC 8785 uses
// (section 3.2.2.3), with all its digits but zeros that say nothing.
func appendNumber(b []byte, number json.Number) ([]byte, error) {
	digits, point, negative, err := significant(number.String())
	if err != nil {
		return nil, err
	}
	if digits == "" {
		return append(b, '0'), nil
	}
	if negative {
		b = append(b, '-')
	}
	switch count := len(digits); {
	case count <= point && point <= 21:
		return append(append(b, digits...), strings.Repeat("0", point-count)...), nil
	case 0 < point && point <= 21:
		return append(append(append(b, digits[:point]...), '.'), digits[point:]...), nil
	case -6 < point && point <= 0:
		return append(append(append(b, "0."...), strings.Repeat("0", -point)...), digits...), nil
	}
	b = append(b, digits[0])
	if len(digits) > 1 {
		b = append(append(b, '.'), digits[1:]...)
	}
	b = append(b, 'e')
	if point > 0 {
		b = append(b, '+')
	}
	return strconv.AppendInt(b, int64(point-1), 10), nil
}

// significant returns the digits of a JSON number without zeros at either end, and where
// the decimal point is: the value is 0.digits times ten to the power of point.
func significant(text string) (digits string, point int, negative bool, err error) {
	mantissa, power := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, power = text[:i], text[i+1:]
		point, err = strconv.Atoi(power)
		if err != nil || max(point, -point) > maxExponent {
			return "", 0, false, fmt.Errorf("a number has an exponent beyond %d", maxExponent)
		}
	}
	mantissa, negative = strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	digits = strings.TrimLeft(all, "0")
	point += len(whole) - (len(all) - len(digits))
	return strings.TrimRight(digits, "0"), point, negative, nil
}
