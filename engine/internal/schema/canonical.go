package schema

import (
	"encoding/json"
	"strconv"
	"strings"
)

// valueKey returns a text that two values share exactly if JSON Schema takes them
// for equal: members in any order, numbers by their value (2020-12, Core, section
// 4.2.2). With it a list of values is looked up at once instead of compared one by
// one, which for numbers with long exponents takes minutes.
func valueKey(value any) string { return string(appendKey(nil, value)) }

func appendKey(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, 'n')
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		b = strconv.AppendInt(append(b, '"'), int64(len(v)), 10)
		return append(append(b, ':'), v...)
	case json.Number:
		return appendNumberKey(b, v.String())
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = append(appendKey(b, item), ',')
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, key := range sortedKeys(v) {
			b = appendKey(b, key)
			b = append(appendKey(append(b, '='), v[key]), ',')
		}
		return append(b, '}')
	}
	panic("not a JSON value")
}

// appendNumberKey writes a JSON number as its significant digits, without zeros at
// either end, and the exponent of the last one.
func appendNumberKey(b []byte, text string) []byte {
	mantissa, exponentText, _ := strings.Cut(strings.ToLower(text), "e")
	exponent, err := strconv.Atoi(exponentText)
	if err != nil && exponentText != "" {
		panic("a number with an exponent beyond all limits")
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	for strings.HasSuffix(digits, "0") {
		digits = strings.TrimSuffix(digits, "0")
		exponent++
	}
	if digits == "" {
		return append(b, '0')
	}
	if negative {
		b = append(b, '-')
	}
	b = append(append(b, digits...), 'e')
	return strconv.AppendInt(b, int64(exponent), 10)
}

// valueSet holds what an enum lists, or a const is.
type valueSet struct {
	keyword    string
	strings    map[string]bool
	others     map[string]bool // by key
	containers bool            // some of the others are arrays or objects
	first      []shownValue    // as many as a reason shows
	count      int
	reason     string
}

// shownValue is a value as reasons show it.
type shownValue struct{ key, text string }

func newValueSet(keyword string, list []any) *valueSet {
	set := &valueSet{keyword: keyword, strings: map[string]bool{}, others: map[string]bool{}, count: len(list)}
	for i, value := range list {
		key := valueKey(value)
		if i < shownValues {
			set.first = append(set.first, shownValue{key, showValue(value)})
		}
		switch v := value.(type) {
		case string:
			set.strings[v] = true
			continue
		case []any, map[string]any:
			set.containers = true
		}
		set.others[key] = true
	}
	set.reason = "must be " + values(list)
	if keyword == "enum" {
		set.reason = "must be one of " + values(list)
	}
	return set
}

// has says whether value is in the set. cost is how many bytes had to be written
// to find out.
func (set *valueSet) has(value any) (has bool, cost int) {
	switch v := value.(type) {
	case string:
		return set.strings[v], 0
	case []any, map[string]any:
		if !set.containers {
			return false, 0
		}
	}
	if len(set.others) == 0 {
		return false, 0
	}
	key := valueKey(value)
	return set.others[key], len(key)
}

// eitherOf says what is allowed where each of the sets allows something else.
func eitherOf(sets []*valueSet) string {
	var shown []string
	seen := map[string]bool{}
	more := false
	for _, set := range sets {
		more = more || set.count > len(set.first)
		for _, value := range set.first {
			switch {
			case seen[value.key]:
			case len(shown) == shownValues:
				more = true
			default:
				seen[value.key] = true
				shown = append(shown, value.text)
			}
		}
	}
	if more {
		shown = append(shown, "...")
	}
	return "must be one of " + strings.Join(shown, ", ")
}
