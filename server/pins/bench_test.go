package pins

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCompare is what a list of 200 tools costs, and BenchmarkChanges what it costs
// to say what has changed in one tool, for the worst that is known.
func BenchmarkCompare(b *testing.B) {
	entries, pins := [][]byte{}, map[string]definition{}
	for i := range 200 {
		entry := fmt.Appendf(nil, `{"name":"tool%d","description":%q,"inputSchema":{"type":"object","properties":{%s"z":{}}}}`,
			i, strings.Repeat("What it does. ", 20), properties(20))
		d, err := readDefinition(entry)
		if err != nil {
			b.Fatal(err)
		}
		entries, pins[d.name] = append(entries, entry), d
	}
	for b.Loop() {
		if f := compare(pins, entries); f[0].State != Pinned {
			b.Fatal(f[0].State)
		}
	}
}

func properties(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `"p%d":{"type":"string","maxLength":%d},`, i, i)
	}
	return text.String()
}

func BenchmarkChanges(b *testing.B) {
	branches := func(keyword string) definition {
		var text strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&text, `,{"type":"object","required":["a%d"],"properties":{"a%d":{"%s":%d}}}`, i, i, keyword, i)
		}
		d, err := readDefinition([]byte(`{"name":"t","inputSchema":{"oneOf":[` + text.String()[1:] + `]}}`))
		if err != nil {
			b.Fatal(err)
		}
		return d
	}
	f := Finding{State: Drifted, Members: []string{"inputSchema"}, was: branches("maxLength"), now: branches("minLength")}
	for b.Loop() {
		if len(f.Changes()) == 0 {
			b.Fatal("no changes")
		}
	}
}
