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

func pointer(steps []step) string {
	if len(steps) == 0 {
		return ""
	}
	size := 0
	for _, s := range steps {
		size += 1 + max(len(s.key), 4)
	}
	text := make([]byte, 0, size)
	for _, s := range steps {
		text = append(text, '/')
		if s.index >= 0 {
			text = strconv.AppendInt(text, int64(s.index), 10)
		} else {
			text = append(text, EscapePointer(s.key)...)
		}
	}
	return string(text)
}
