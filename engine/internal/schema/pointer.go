package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func escape(token string) string { return escaper.Replace(token) }

// pointer writes tokens as an RFC 6901 pointer.
func pointer(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteString("/" + escape(token))
	}
	return b.String()
}

// tokensOf reads an RFC 6901 pointer.
func tokensOf(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		tokens[i] = unescaper.Replace(token)
	}
	return tokens
}

// absent is the value at a pointer to nothing.
type absent struct{}

// valueAt returns the part of value that tokens point to, or absent.
func valueAt(value any, tokens []string) any {
	for _, token := range tokens {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[token]
			if !ok {
				return absent{}
			}
			value = member
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return absent{}
			}
			value = v[i]
		default:
			return absent{}
		}
	}
	return value
}

// CompareTokens orders pointers token by token. Array indexes compare as numbers
// and come before names, so that the order is total; a shorter pointer comes
// before its extensions.
func CompareTokens(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if c := compareToken(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareToken(a, b string) int {
	aIndex, bIndex := isIndex(a), isIndex(b)
	switch {
	case aIndex && bIndex:
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case aIndex:
		return -1
	case bIndex:
		return 1
	}
	return cmp.Compare(a, b)
}

// isIndex says whether token could be an array index: digits without a leading
// zero (RFC 6901 section 4). Longer ones are then the greater numbers.
func isIndex(token string) bool {
	if token == "" || token[0] == '0' && len(token) > 1 {
		return false
	}
	for i := range len(token) {
		if token[i] < '0' || token[i] > '9' {
			return false
		}
	}
	return true
}

func sortedKeys[V any](object map[string]V) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
