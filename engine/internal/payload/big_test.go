package payload_test

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/tests/shapes"
)

// Inputs that are made to hurt cost no deep recursion and hardly more memory than
// they have bytes.
func TestBigInputs(t *testing.T) {
	previous := debug.SetMaxStack(1 << 20)
	defer debug.SetMaxStack(previous)
	const n = 100_000
	for name, c := range map[string]struct {
		text  string
		depth int
		stop  string
	}{
		"arrays":                {strings.Repeat("[", n) + strings.Repeat("]", n), n - 1, "depth"},
		"arrays, never closed":  {string(shapes.Brackets(n)), n, "depth"},
		"objects":               {strings.Repeat(`{"a":`, n) + "0" + strings.Repeat("}", n), n, "depth"},
		"objects, never closed": {strings.Repeat(`{"a":`, n), n, "depth"},
		"mixed":                 {strings.Repeat(`[{"a":`, n) + "0", 2 * n, "depth"},
		"closed and opened":     {"[" + strings.Repeat("[],", n) + "[]]", 1, ""},
		"string":                {string(shapes.LongString(10 << 20)), 1, ""},
		"string of escapes":     {`{"a":"` + strings.Repeat(`\n`, 5<<20) + `"}`, 1, ""},
		"backslashes":           {`{"a":"` + strings.Repeat(`\\`, 5<<20), 1, "fault"},
		"key":                   {`{"` + strings.Repeat("k", 10<<20) + `":1}`, 1, ""},
		"number":                {`{"a":` + strings.Repeat("9", 10<<20) + `}`, 1, "fault"},
		"white space":           {`{"a":` + strings.Repeat(" \n", 5<<20) + `1}`, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			raw := []byte(c.text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			facts := payload.Decode(raw, limits(t)).Facts
			runtime.ReadMemStats(&after)
			if facts.Depth != c.depth || facts.Stop != c.stop {
				t.Errorf("depth %d, stop %q; want %d, %q", facts.Depth, facts.Stop, c.depth, c.stop)
			}
			spent, allowed := after.TotalAlloc-before.TotalAlloc, uint64(2*len(raw)+64<<10)
			if name == "closed and opened" {
				allowed = uint64(140 * n) // the value itself: a slice header and an interface for each
			}
			if spent > allowed {
				t.Errorf("%d bytes allocated for %d of input", spent, len(raw))
			}
		})
	}
}

// Twice the input takes about twice the allocations, for many shapes.
func TestAllocationsAreLinear(t *testing.T) {
	for name, make := range map[string]func(n int) []byte{
		"keys":     func(n int) []byte { return []byte(`{"k":[` + strings.Repeat(`{"a":1,"b":{}},`, n) + `0]}`) },
		"controls": shapes.ControlCharacters,
		"long paths": func(n int) []byte {
			return []byte(`{"` + strings.Repeat("k", n) + `":{"` + strings.Repeat("~", n) + `":["\u0000","\u0000"]}}`)
		},
	} {
		spent := func(n int) float64 {
			raw := make(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			payload.Decode(raw, limits(t))
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		if ratio := spent(40_000) / spent(10_000); ratio > 6 {
			t.Errorf("%s: four times the input takes %.1f times the memory", name, ratio)
		}
	}
}
