package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Each line holds values that are equal to each other and to none of another line.
func TestValueKeys(t *testing.T) {
	classes := [][]string{
		{`0`, `-0`, `0.0`, `0e5`, `-0.00E-3`, `0e308`},
		{`1`, `1.0`, `10e-1`, `0.1E+1`, `1.00e0`},
		{`-1`, `-1.0`},
		{`10`, `1e1`, `100e-1`},
		{`9007199254740992`}, {`9007199254740993`}, {`9007199254740993.1`},
		{`1e308`, `10e307`}, {`1e-308`},
		{`"1"`}, {`"a"`}, {`"a,"`}, {`""`}, {`"1:a"`}, {`"\u0000"`},
		{`null`}, {`true`}, {`false`}, {`"true"`}, {`"n"`},
		{`[]`}, {`{}`}, {`[[]]`}, {`[null]`}, {`[1,2]`, `[1.0, 2]`}, {`[2,1]`}, {`[12]`}, {`["a","b"]`}, {`["a,\"1:b"]`}, {`[["a"],"b"]`},
		{`{"a":1,"b":[2]}`, `{"b": [2.0], "a": 1}`}, {`{"a":1}`}, {`{"a":1,"b":2}`}, {`{"a":{"b":2}}`}, {`{"a=":1}`},
	}
	of := map[string]int{}
	for i, class := range classes {
		for _, text := range class {
			key := valueKey(decode(text))
			if j, known := of[key]; known && j != i {
				t.Errorf("%s has the key of %s", text, classes[j][0])
			}
			of[key] = i
			if first := valueKey(decode(class[0])); key != first {
				t.Errorf("%s has the key %s, but %s has %s", text, key, class[0], first)
			}
		}
	}
}

// Numbers share a key exactly if they are the same number.
func TestNumberKeysAgreeWithBig(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 300 {
		texts = append(texts, fmt.Sprintf("%d.%de%d", random.IntN(40)-20, random.IntN(3)*10, random.IntN(5)-2))
	}
	for _, a := range texts {
		for _, b := range texts {
			x, _ := new(big.Rat).SetString(a)
			y, _ := new(big.Rat).SetString(b)
			if (x.Cmp(y) == 0) != (valueKey(json.Number(a)) == valueKey(json.Number(b))) {
				t.Fatalf("%s and %s: %s and %s", a, b, valueKey(json.Number(a)), valueKey(json.Number(b)))
			}
		}
	}
}

func TestWideEnums(t *testing.T) {
	const document = `{"enum": ["a", 1.50, null, [1, {"x": 2}], {"k": [3.0]}]}`
	for value, valid := range map[string]bool{
		`"a"`: true, `1.5`: true, `15e-1`: true, `null`: true, `[1.0, {"x": 2}]`: true, `{"k": [3]}`: true,
		`"b"`: false, `1.51`: false, `false`: false, `[]`: false, `[1]`: false, `{}`: false, `{"k": 3}`: false, `""`: false,
	} {
		if got := len(violations(t, document, value)) == 0; got != valid {
			t.Errorf("%s: valid %v, want %v", value, got, valid)
		}
	}
}

// Every repeated item is reported, at its own place.
func TestUniqueItems(t *testing.T) {
	got := violations(t, `{"uniqueItems": true}`, `[1, {"a": 1}, 1.0, "1", {"a": 10e-1}, 1, [1], true]`)
	want := []string{"/2 is equal to item 0, but items must be unique", "/4 is equal to item 1, but items must be unique", "/5 is equal to item 0, but items must be unique"}
	if len(got) != len(want) {
		t.Fatalf("%d violations, want %d: %v", len(got), len(want), got)
	}
	for i, v := range got {
		if line := pointer(v.Tokens) + " " + v.Reason; line != want[i] {
			t.Errorf("got %s, want %s", line, want[i])
		}
	}
}
