package payload

import (
	"strconv"
	"strings"
)

// step is one token of the pointer to the value that is being read.
type step struct {
	key   string
	index int // of an array element; -1 for a member
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// EscapePointer writes a key as a token of an RFC 6901 pointer.
func EscapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return pointerEscaper.Replace(token)
}

// pointer writes steps in one allocation: keys may be as long as the payload.
func pointer(steps []step) string {
	size := 0
	for _, s := range steps {
		size += 1 + len(s.key) + strings.Count(s.key, "~") + strings.Count(s.key, "/")
		if s.index >= 0 {
			size += decimalLength(s.index)
		}
	}
	var b strings.Builder
	b.Grow(size)
	for _, s := range steps {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(EscapePointer(s.key))
		}
	}
	return b.String()
}

func decimalLength(n int) int {
	length := 1
	for ; n >= 10; n /= 10 {
		length++
	}
	return length
}
