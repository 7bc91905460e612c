package pins

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCanonical(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"white space":             {" { \"a\" : [ 1 , null , true ] } \n", `{"a":[1,null,true]}`},
		"member order":            {`{"b":1,"a":2}`, `{"a":2,"b":1}`},
		"order by UTF-16":         {`{"\uffff":1,"\ud83d\ude00":2,"z":3}`, "{\"z\":3,\"\U0001F600\":2,\"\uffff\":1}"},
		"a prefix comes first":    {`{"ab":1,"a":2,"":3}`, `{"":3,"a":2,"ab":1}`},
		"escapes":                 {`"\u0041\/\u000a\u001f\u00e9\""`, `"A/\n\u001fé\""`},
		"order of items is kept":  {`[2,1]`, `[2,1]`},
		"beyond a float64":        {`9007199254740993`, `9007199254740993`},
		"many digits":             {`0.1000000000000000000000000000010`, `0.100000000000000000000000000001`},
		"fraction of zeros":       {`1.000`, `1`},
		"exponent":                {`1e2`, `100`},
		"exponent of zeros":       {`1E+0002`, `100`},
		"negative exponent":       {`-250e-4`, `-0.025`},
		"zero":                    {`-0.0e7`, `0`},
		"largest without":         {`1e20`, `100000000000000000000`},
		"smallest with exponent":  {`1e21`, `1e+21`},
		"all digits of an e form": {`1234567890123456789012.5`, `1.2345678901234567890125e+21`},
		"small":                   {`0.000001`, `0.000001`},
		"smaller":                 {`0.00000012`, `1.2e-7`},
		"beyond any float":        {`12e400`, `1.2e+401`},
	} {
		t.Run(name, func(t *testing.T) {
			value, err := decode([]byte(c.text))
			if err != nil {
				t.Fatalf("%s: %v", c.text, err)
			}
			if diff := cmp.Diff(c.want, string(canonical(value))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":              {"", "line 1, column 1: not valid JSON: the text ends too early"},
		"ends early":           {"{\"a\":\n[1", "line 2, column 3: not valid JSON: the text ends too early"},
		"member twice":         {`{"x":{"a":1,"\u0061":2}}`, "line 1, column 13: at /x/a: the member occurs twice"},
		"lone surrogate":       {`["\ud800"]`, "line 1, column 3: at /0: not valid JSON"},
		"not UTF-8":            {"[\"\xff\"]", "line 1, column 3: at /0: not valid JSON"},
		"two values":           {`{} {}`, "there is more after the value"},
		"rubbish after":        {`{} x`, "line 1, column 4: not valid JSON"},
		"byte order mark":      {"\xEF\xBB\xBF{}", "line 1, column 1: not valid JSON"},
		"exponent":             {`{"a":1e1000000001}`, "at /a: a number has an exponent beyond 1000000000"},
		"exponent of int64":    {`[1e99999999999999999999]`, "at /0: a number has an exponent beyond 1000000000"},
		"too deep":             {strings.Repeat("[", 65) + strings.Repeat("]", 65), "at " + cut(strings.Repeat("/0", 64), 128) + ": nested deeper than 64 levels"},
		"terminal in a name":   {`{"\u001b[2J":{"a":1,"a":2}}`, `line 1, column 21: at "/\x1b[2J/a": the member occurs twice`},
		"a hundred thousand [": {strings.Repeat("[", 100_000), "at " + cut(strings.Repeat("/0", 64), 128) + ": nested deeper than 64 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode([]byte(c.text))
			if err == nil {
				t.Fatalf("%.80q is accepted", c.text)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("%.80q (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func TestEscapeHidden(t *testing.T) {
	for text, want := range map[string]string{
		"\"é 日本\"":                     "\"é 日本\"",
		"\"a\u202eb\"\n":               "\"a\\u202eb\"\n",
		"\"\U000E0041\u200b\x7f\"":     `"\udb40\udc41\u200b\u007f"`,
		"\"\u2800\ufe0f\u00ad\u3164\"": `"\u2800\ufe0f\u00ad\u3164"`,
	} {
		got := string(escapeHidden([]byte(text)))
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if strings.HasPrefix(text, `"`) {
			var before, after string
			if json.Unmarshal([]byte(text), &before) != nil || json.Unmarshal([]byte(got), &after) != nil || before != after {
				t.Errorf("%q: the escaped text means %q", text, after)
			}
		}
	}
}

func TestCompareUTF16(t *testing.T) {
	sorted := []string{"", "a", "a\x00", "ab", "b", "é", "\uD7FF", "\U00010000", "\U0010FFFF", "\uE000", "\uFFFF", "\uFFFFa"}
	if !slices.IsSortedFunc(sorted, compareUTF16) {
		t.Errorf("%q is not sorted", sorted)
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := compareUTF16(a, b); got != cmpInt(i, j) {
				t.Errorf("%q and %q: %d", a, b, got)
			}
		}
	}
}

func cmpInt(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
