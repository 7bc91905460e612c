// Package shapes makes the payloads that tests and benchmarks share, so that a
// figure of one package can be compared with that of another. It imports nothing
// of this project.
package shapes

import (
	"fmt"
	"strings"
)

// Shape is one payload.
type Shape struct {
	Name    string
	Tool    string // whose bundled schema it is meant for; "" for an arbitrary object
	Payload []byte
	Schema  string // a schema that says what such payloads look like; "" where Tool has one
}

// limit is the size that a payload may have by default, in bytes.
const limit = 64 << 10

// All returns the accepted payloads: two that look like everyday calls, and five
// that fill the size limit in different ways.
func All() []Shape {
	return []Shape{
		{"tiny_193B", "bernstein_run", tiny(), ""},
		{"typical_1.8KB", "bernstein_run", typical(), ""},
		{"string_64KB", "", object(strings.Repeat("plain text, no escapes. ", 4000)), textSchema},
		{"string_64KB_line_feeds", "", object(strings.Repeat(`forty characters of text, then a break.\n`, 4000)), textSchema},
		{"leaves_9.4k", "", leaves(), leavesSchema},
		{"objects_1.5k", "", objects(), objectsSchema},
		{"nested_10", "", nestedObjects(), nestedSchema},
	}
}

// Refused returns payloads that are refused: three by rules on raw content, which
// their schemas would let pass, and one by its schema alone.
func Refused() []Shape {
	return []Shape{
		{"brackets_100k", "", Brackets(100_000), bracketsSchema},
		{"string_10MB", "", LongString(10 << 20), longStringSchema},
		{"control_characters_500", "", ControlCharacters(500), stringsSchema},
		{"schema_violations_100", "", Violations(100), integersSchema},
	}
}

func tiny() []byte {
	return []byte(`{"goal": "Add a retry with backoff to the upload client and cover it with tests.", "role": "backend", ` +
		`"priority": 2, "scope": "small", "complexity": "low", "estimated_minutes": 45, "parent_task_id": "t-71"}`)
}

func typical() []byte {
	goal := strings.Repeat(`Read the failing job, find the first error, and mend its cause rather than its symptom.\nRun the tests of that package only. `, 13)
	return fmt.Appendf(nil, `{"goal": "%s", "role": "backend", "priority": 1, "scope": "medium", "complexity": "high", "estimated_minutes": 90, "parent_task_id": null}`, strings.TrimSpace(goal))
}

func object(text string) []byte {
	const frame = `{"text":""}`
	text = text[:limit-len(frame)]
	return []byte(`{"text":"` + strings.TrimRight(text, `\`) + `"}`)
}

// fill repeats what next writes until the limit is reached.
func fill(opening, closing string, next func(i int) string) []byte {
	var b strings.Builder
	b.WriteString(opening)
	for i := 0; ; i++ {
		item := next(i)
		if b.Len()+len(item)+1+len(closing) > limit {
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item)
	}
	b.WriteString(closing)
	return []byte(b.String())
}

func leaves() []byte {
	return fill(`{"values":[`, `]}`, func(i int) string {
		return []string{fmt.Sprint(i * 7), `"w` + fmt.Sprint(i) + `"`, "true", "null"}[i%4]
	})
}

func objects() []byte {
	return fill(`{"rows":[`, `]}`, func(i int) string {
		return fmt.Sprintf(`{"id":%d,"name":"row %d","done":%t}`, i, i, i%2 == 0)
	})
}

func nestedObjects() []byte {
	return fill(`{"a":[`, `]}`, func(int) string {
		return strings.Repeat(`{"k":`, 7) + `{"v":[]}` + strings.Repeat(`}`, 7)
	})
}

// Brackets returns an object with n opening brackets that are never closed.
func Brackets(n int) []byte { return []byte(`{"a":` + strings.Repeat("[", n)) }

// LongString returns an object with one string of n bytes.
func LongString(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n) + `"}`) }

// ControlCharacters returns an object with n strings that each hold one.
func ControlCharacters(n int) []byte {
	return []byte(`{"a":[` + strings.Repeat(`"\u001b[2J",`, n-1) + `"\u001b[2J"]}`)
}

// Violations returns an object with n items that are strings where the schema of the
// refused shapes wants integers.
func Violations(n int) []byte {
	return []byte(`{"a":[` + strings.Repeat(`"x",`, n-1) + `"x"]}`)
}
