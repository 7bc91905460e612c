package payload_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
)

func controls(t testing.TB) payload.CodePointSet {
	t.Helper()
	var all []int
	for r := range 0xA0 {
		if r < 0x20 || r >= 0x7F {
			all = append(all, r)
		}
	}
	set, err := payload.NewCodePointSet(all)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func limits(t testing.TB) payload.Limits {
	return payload.Limits{MaxBytes: 64 << 20, MaxDepth: 64, MaxValues: 64 << 20, MaxNumberLength: 64, MaxExponent: 308, ListedStrings: 32, Watched: controls(t)}
}

func TestValues(t *testing.T) {
	for text, want := range map[string]any{
		`{}`:                              map[string]any{},
		` [ ] `:                           []any{},
		"\t\r\n null \n":                  nil,
		`true`:                            true,
		`false`:                           false,
		`-0`:                              json.Number("-0"),
		`1.50E+007`:                       json.Number("1.50E+007"),
		`12345678901234567890`:            json.Number("12345678901234567890"),
		`""`:                              "",
		`"plain text of some length"`:     "plain text of some length",
		`"\"\\\/\b\f\n\r\t"`:              "\"\\/\b\f\n\r\t",
		`"\u0041\u00e9\u6f22"`:            "Aé漢",
		`"\uD83D\uDE00 and \ud83d\ude00"`: "😀 and 😀",
		`"é漢😀 raw, then \n"`:              "é漢😀 raw, then \n",
		`"\ufffd \uFFFF"`:                 "\ufffd \uffff",
		"\"\x7f\u0085\"":                  "\x7f\u0085",
		`{"a": {"b": [1, "x", {"c": null}], "": false}}`: map[string]any{"a": map[string]any{
			"b": []any{json.Number("1"), "x", map[string]any{"c": nil}}, "": false,
		}},
		`[[1, [2, 3], 4], [], [5]]`: []any{
			[]any{json.Number("1"), []any{json.Number("2"), json.Number("3")}, json.Number("4")}, []any{}, []any{json.Number("5")},
		},
	} {
		got := payload.Decode([]byte(text), limits(t))
		if !got.Facts.Complete || got.Facts.Stop != "" || got.Facts.Fault != nil {
			t.Errorf("%s: %+v", text, got.Facts)
		}
		if diff := cmp.Diff(want, got.Value); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		text string
		want payload.Fault
	}{
		{"", payload.Fault{Code: "empty"}},
		{" \n\t ", payload.Fault{Code: "empty"}},
		{"\xEF\xBB\xBF{}", payload.Fault{Code: "byte_order_mark"}},
		{"{} x", payload.Fault{Code: "trailing_data", Offset: 3}},
		{" {} {}", payload.Fault{Code: "trailing_data", Offset: 4}},
		{`{"a":1}` + "\xEF\xBB\xBF", payload.Fault{Code: "trailing_data", Offset: 7}},
		{`{`, payload.Fault{Code: "unexpected_end", Offset: 1}},
		{`{"a"`, payload.Fault{Code: "unexpected_end", Path: "/a", Offset: 4}},
		{`{"a":`, payload.Fault{Code: "unexpected_end", Path: "/a", Offset: 5}},
		{`{"a":1`, payload.Fault{Code: "unexpected_end", Offset: 6}},
		{`[1,`, payload.Fault{Code: "unexpected_end", Path: "/1", Offset: 3}},
		{`"abc`, payload.Fault{Code: "unexpected_end", Offset: 4}},
		{`"abc\`, payload.Fault{Code: "unexpected_end", Offset: 5}},
		{`"\u12`, payload.Fault{Code: "unexpected_end", Offset: 5}},
		{`{"a":tru`, payload.Fault{Code: "unexpected_end", Path: "/a", Offset: 8}},
		{`{"a":-`, payload.Fault{Code: "unexpected_end", Path: "/a", Offset: 6}},
		{`[1e`, payload.Fault{Code: "unexpected_end", Path: "/0", Offset: 3}},
		{`{"a":trux}`, payload.Fault{Code: "syntax", Path: "/a", Offset: 8}},
		{`{"a":nul1}`, payload.Fault{Code: "syntax", Path: "/a", Offset: 8}},
		{`{"a":NaN}`, payload.Fault{Code: "syntax", Path: "/a", Offset: 5}},
		{`{"a":Infinity}`, payload.Fault{Code: "syntax", Path: "/a", Offset: 5}},
		{`{"a":1,}`, payload.Fault{Code: "syntax", Offset: 7}},
		{`[1,]`, payload.Fault{Code: "syntax", Path: "/1", Offset: 3}},
		{`{a:1}`, payload.Fault{Code: "syntax", Offset: 1}},
		{`{'a':1}`, payload.Fault{Code: "syntax", Offset: 1}},
		{`{"a" 1}`, payload.Fault{Code: "syntax", Path: "/a", Offset: 5}},
		{`[1 2]`, payload.Fault{Code: "syntax", Path: "/0", Offset: 3}},
		{`{"a":01}`, payload.Fault{Code: "syntax", Offset: 6}},
		{`{"a":+1}`, payload.Fault{Code: "syntax", Path: "/a", Offset: 5}},
		{`{"a":.5}`, payload.Fault{Code: "syntax", Path: "/a", Offset: 5}},
		{`{"a":1.}`, payload.Fault{Code: "syntax", Path: "/a", Offset: 7}},
		{`{"a":0x1}`, payload.Fault{Code: "syntax", Offset: 6}},
		{`{"a":/**/1}`, payload.Fault{Code: "syntax", Path: "/a", Offset: 5}},
		{`"\x41"`, payload.Fault{Code: "syntax", Offset: 2}},
		{`"\u00g0"`, payload.Fault{Code: "syntax", Offset: 5}},
		{"\xff", payload.Fault{Code: "invalid_utf8"}},
		{"{\"a/b\":\"x\xc3\"}", payload.Fault{Code: "invalid_utf8", Path: "/a~1b", Offset: 9}},
		{"\"\xc0\xaf\"", payload.Fault{Code: "invalid_utf8", Offset: 1}},         // overlong
		{"\"\xed\xa0\x80\"", payload.Fault{Code: "invalid_utf8", Offset: 1}},     // raw surrogate
		{"\"\xf4\x90\x80\x80\"", payload.Fault{Code: "invalid_utf8", Offset: 1}}, // beyond U+10FFFF
		{`{"m~n":["\ud800"]}`, payload.Fault{Code: "lone_surrogate", Path: "/m~0n/0", Offset: 9}},
		{`"\udc00"`, payload.Fault{Code: "lone_surrogate", Offset: 1}},
		{`"ab\ud800\n"`, payload.Fault{Code: "lone_surrogate", Offset: 3}},
		{`"\ud800\ud800"`, payload.Fault{Code: "lone_surrogate", Offset: 1}},
		{`{"\ud800":1}`, payload.Fault{Code: "lone_surrogate", Offset: 2}},
		{"{\"a\":\"x\x00\"}", payload.Fault{Code: "raw_control_character", Path: "/a", Offset: 7}},
		{"\"a\nb\"", payload.Fault{Code: "raw_control_character", Offset: 2}},
		{"\"a\tb\"", payload.Fault{Code: "raw_control_character", Offset: 2}},
		{`{"a":1,"a":2}`, payload.Fault{Code: "duplicate_key", Path: "/a", Offset: 7}},
		{`{"a":1, "\u0061":2}`, payload.Fault{Code: "duplicate_key", Path: "/a", Offset: 8}},
		{` {"x":[0,{"y":{"a":1,"\u0061":2}}]}`, payload.Fault{Code: "duplicate_key", Path: "/x/1/y/a", Offset: 21}},
		{`{"":1,"":2}`, payload.Fault{Code: "duplicate_key", Path: "/", Offset: 6}},
		{`{"a":` + strings.Repeat("1", 65) + `}`, payload.Fault{Code: "number_length", Path: "/a", Offset: 5}},
		{`{"a":[0, 1e309]}`, payload.Fault{Code: "number_exponent", Path: "/a/1", Offset: 9}},
		{`1E-309`, payload.Fault{Code: "number_exponent"}},
		{`1e99999999999999999999999999`, payload.Fault{Code: "number_exponent"}},
	} {
		got := payload.Decode([]byte(c.text), limits(t))
		if got.Facts.Fault == nil || got.Facts.Stop != "fault" || got.Facts.Complete || got.Value != nil {
			t.Errorf("%q: %+v", c.text, got)
			continue
		}
		if diff := cmp.Diff(c.want, *got.Facts.Fault); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestRootType(t *testing.T) {
	for text, want := range map[string]string{
		"\t{": "object", `[1`: "array", `"`: "string", `-x`: "number", `7`: "number", `truex`: "boolean", `false`: "boolean",
		`null`: "null", `nothing`: "unknown", `hello`: "unknown", ``: "unknown", `+1`: "unknown", "\xff": "unknown",
	} {
		if got := payload.Decode([]byte(text), limits(t)).Facts.Type; got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Each limit at its edge and one past it.
func TestLimits(t *testing.T) {
	l := limits(t)
	l.MaxBytes = 20
	for _, text := range []string{`"` + strings.Repeat("x", 18) + `"`, "  \n\"" + strings.Repeat("x", 18) + "\"\t\r\n "} {
		if got := payload.Decode([]byte(text), l).Facts; !got.Complete || got.Bytes != 20 {
			t.Errorf("%q: %+v", text, got)
		}
	}
	got := payload.Decode([]byte(` {"a":"`+strings.Repeat("x", 13)+`"}`), l)
	if diff := cmp.Diff(payload.Result{Facts: payload.Facts{Type: "object", Bytes: 21, Stop: "size"}}, got); diff != "" {
		t.Errorf("one byte over (-want +got):\n%s", diff)
	}
	for text, complete := range map[string]bool{
		strings.Repeat("9", 64): true, strings.Repeat("9", 65): false, "-" + strings.Repeat("9", 63): true, "-" + strings.Repeat("9", 64): false,
		"1e308": true, "1e309": false, "1e-308": true, "1e-309": false, "1E+0000308": true, "0e309": false, "0." + strings.Repeat("0", 62): true,
	} {
		if got := payload.Decode([]byte(text), limits(t)).Facts; got.Complete != complete {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// Reading stops at the value that is one too many, and says nothing of what follows.
func TestValueLimit(t *testing.T) {
	l := limits(t)
	l.MaxValues = 5
	for text, values := range map[string]int{`0`: 1, `{}`: 1, `{"a":[1,{}],"b":null}`: 5, `[1,2,3,4]`: 5, `[[[[[]]]]]`: 5} {
		if got := payload.Decode([]byte(text), l).Facts; !got.Complete || got.Values != values {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for _, text := range []string{`[1,2,3,4,5]`, `{"a":[1,{}],"b":null,"c":0}`, `[1,2,3,4,5,"no JSON`, `[[[[[[]]]]]]`} {
		if got := payload.Decode([]byte(text), l); got.Facts.Stop != payload.StopValues || got.Facts.Values != 6 || got.Value != nil {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestDepth(t *testing.T) {
	l := limits(t)
	l.MaxDepth = 3
	for _, c := range []struct {
		text    string
		depth   int
		deepest string
		stop    string
	}{
		{`0`, 0, "", ""},
		{`{}`, 0, "", ""},
		{`[[]]`, 1, "/0", ""},
		{`{"a":[1]}`, 2, "/a/0", ""},
		{`{"a":[1],"b":[2,{}]}`, 2, "/a/0", ""},
		{`{"a":[1],"b":[2,{"c/d":0}],"e":{"f":{"g":1}}}`, 3, "/b/1/c~1d", ""},
		{`[[[[]]]]`, 3, "/0/0/0", ""},
		{`[[[0]]]`, 3, "/0/0/0", ""},
		{`[[[[0]]]]`, 4, "/0/0/0/0", "depth"},
		{`[[[[]],[[[7]]]]]`, 5, "/0/1/0/0", "depth"}, // the first beyond the ceiling
		{`[[[{"a":{"b":"]]]]"}}]],"\"[[[["]`, 5, "/0/0/0/a", "depth"},
		{`[[[[1 this is no JSON [[`, 5, "/0/0/0/0", "depth"},
		{`[[[["unclosed [[[[[`, 4, "/0/0/0/0", "depth"},
	} {
		got := payload.Decode([]byte(c.text), l).Facts
		if got.Depth != c.depth || got.Stop != c.stop || got.Complete != (c.stop == "") {
			t.Errorf("%s: %+v, want depth %d, stop %q", c.text, got, c.depth, c.stop)
		}
		if got.Deepest != c.deepest {
			t.Errorf("%s: deepest %q, want %q", c.text, got.Deepest, c.deepest)
		}
	}
}

// Every control character in a value and in a key, escaped and, where JSON
// allows that, raw.
func TestControlCharacters(t *testing.T) {
	for r := rune(0); r < 0x200; r++ {
		watched := r < 0x20 || r >= 0x7F && r < 0xA0
		spellings := []string{fmt.Sprintf(`\u%04x`, r)}
		if r >= 0x20 && r != '"' && r != '\\' {
			spellings = append(spellings, string(r))
		}
		for _, spelt := range spellings {
			for in, text := range map[string]string{"value": `{"k":"ab` + spelt + `c` + spelt + `"}`, "key": `{"ab` + spelt + `c` + spelt + `":"k"}`} {
				got := payload.Decode([]byte(text), limits(t)).Facts
				want := payload.ControlCharacters{}
				if watched {
					path := "/k"
					if in == "key" {
						path = "/" + payload.EscapePointer("ab"+string(r)+"c"+string(r))
					}
					want = payload.ControlCharacters{Total: 1, Strings: []payload.StringFact{{Path: path, In: in, CodePoints: []int{int(r)}, Count: 2}}}
				}
				if diff := cmp.Diff(want, got.ControlCharacters); diff != "" || !got.Complete {
					t.Errorf("%q: %+v (-want +got):\n%s", text, got, diff)
				}
			}
		}
	}
}

func TestOnlyWatchedCodePointsCount(t *testing.T) {
	l := limits(t)
	l.Watched, _ = payload.NewCodePointSet([]int{27, 0x9B})
	got := payload.Decode([]byte(`{"a":"\n\u0000\u007f","b":"\u009b\u001b\u001b\t","c\u001b":{"d/e":"\u001b"}}`), l).Facts.ControlCharacters
	want := payload.ControlCharacters{Total: 3, Strings: []payload.StringFact{
		{Path: "/b", In: "value", CodePoints: []int{27, 155}, Count: 3},
		{Path: "/c\x1b", In: "key", CodePoints: []int{27}, Count: 1},
		{Path: "/c\x1b/d~1e", In: "value", CodePoints: []int{27}, Count: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestListOfStringsIsCapped(t *testing.T) {
	got := payload.Decode([]byte(`[`+strings.Repeat(`"\u0000",`, 99)+`"\u0000"]`), limits(t)).Facts.ControlCharacters
	if len(got.Strings) != 32 || got.Total != 100 || got.Strings[31].Path != "/31" {
		t.Errorf("%d listed, %d in all, last %+v", len(got.Strings), got.Total, got.Strings[len(got.Strings)-1])
	}
	// Long keys above many such strings must not multiply.
	long := `{"` + strings.Repeat("k", 1<<20) + `":[` + strings.Repeat(`"\u0000",`, 99) + `"\u0000"]}`
	got = payload.Decode([]byte(long), limits(t)).Facts.ControlCharacters
	if len(got.Strings) < 1 || len(got.Strings) > 2 || got.Total != 100 {
		t.Errorf("%d listed, %d in all", len(got.Strings), got.Total)
	}
}

func TestCodePointSet(t *testing.T) {
	for _, bad := range [][]int{{-1}, {0x20}, {'A'}, {0x7E}, {0xA0}, {1 << 20}} {
		if _, err := payload.NewCodePointSet(bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	set, err := payload.NewCodePointSet([]int{0, 63 - 32, 0x7F, 0x80, 0x9F})
	if err != nil {
		t.Fatal(err)
	}
	for r := rune(-5); r < 0x200; r++ {
		if want := slices.Contains([]rune{0, 31, 0x7F, 0x80, 0x9F}, r); set.Has(r) != want {
			t.Errorf("U+%04X: %v", r, !want)
		}
	}
}

// The caller may use its buffer again.
func TestValueDoesNotAliasTheInput(t *testing.T) {
	raw := []byte(`{"key": ["plain", "esc\naped", 1234], "c\u001b": "\u001b"}`)
	got := payload.Decode(raw, limits(t))
	want := payload.Decode(slices.Clone(raw), limits(t))
	for i := range raw {
		raw[i] = 'x'
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
