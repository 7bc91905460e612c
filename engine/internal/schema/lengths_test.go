package schema

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// A length is that in characters, at each bound and for characters of every size.
func TestLengthsCountCharacters(t *testing.T) {
	for _, character := range []string{"a", "\u00e4", "\u4e2d", "\U0001f600", "\ufffd"} {
		for n := range 12 {
			text := strings.Repeat(character, n)
			for limit := range 12 {
				for keyword, want := range map[string]bool{"minLength": n >= limit, "maxLength": n <= limit} {
					s := mustCompile(t, fmt.Sprintf(`{%q: %d}`, keyword, limit))
					list, err := s.Validate(context.Background(), text)
					if err != nil || (len(list) == 0) != want {
						t.Errorf("%d times %q against %s %d: %v, %v", utf8.RuneCountInString(text), character, keyword, limit, lines(list), err)
					}
				}
			}
		}
	}
}
