package pins

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// FuzzCanonical holds the canonical form to what it is for: two texts have the same
// exactly if they are the same value, by a comparison that shares no code with it.
func FuzzCanonical(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":1,"b":[2.0]}`, `{"b":[2],"a":1e0}`}, {`9007199254740993`, `9007199254740992`}, {`"\u0041"`, `"A"`}, {`-0`, `0.00`}, {`1e400`, `10e399`},
		{`{"a":1,"a":1}`, `{"a":1}`}, {`[1,2]`, `[2,1]`}, {`"1"`, `1`}, {`null`, `{}`}, {`"\ud83d\ude00"`, `"😀"`}, {`0.1`, `0.10000000000000001`}, {`1e99999999999`, `[`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		one, err := decode(a)
		if err != nil {
			return
		}
		form := canonical(one)
		again, err := decode(form)
		if err != nil || !bytes.Equal(canonical(again), form) {
			t.Fatalf("%q: the canonical form %q is not its own: %v", a, form, err)
		}
		if same(one, again) == no {
			t.Fatalf("%q: the canonical form %q is another value", a, form)
		}
		if respelt, err := decode(respell(t, one)); err != nil || !bytes.Equal(canonical(respelt), form) {
			t.Fatalf("%q: written in another way its canonical form is not %q: %v", a, form, err)
		}
		other, err := decode(b)
		if err != nil {
			return
		}
		equal := bytes.Equal(form, canonical(other))
		if s := same(one, other); s != unknown && equal != (s == yes) {
			t.Fatalf("%q and %q: canonical forms are equal: %t, values: %v", a, b, equal, s)
		}
	})
}

// respell writes a value in another way: members in the order of bytes, other escapes,
// and numbers with zeros and exponents that say nothing.
func respell(t *testing.T, value any) []byte {
	text, err := json.Marshal(zeros(value))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func zeros(value any) any {
	switch v := value.(type) {
	case json.Number:
		mantissa, exponent, written := strings.Cut(strings.ToLower(v.String()), "e")
		if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
		if !written {
			exponent = "-0"
		}
		return json.Number(mantissa + "00e" + exponent)
	case []any:
		items := []any{}
		for _, item := range v {
			items = append(items, zeros(item))
		}
		return items
	case map[string]any:
		members := map[string]any{}
		for name, member := range v {
			members[name] = zeros(member)
		}
		return members
	}
	return value
}

type answer int

const (
	no answer = iota
	yes
	unknown
)

// same compares two values, numbers as fractions. It does not know of numbers that take
// long to write out.
func same(a, b any) answer {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return no
		}
		x, y := fraction(a), fraction(b)
		if x == nil || y == nil {
			return unknown
		}
		return truth(x.Cmp(y) == 0)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return no
		}
		all := yes
		for i := range a {
			all = both(all, same(a[i], b[i]))
		}
		return all
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return no
		}
		all := yes
		for name := range a {
			value, ok := b[name]
			if !ok {
				return no
			}
			all = both(all, same(a[name], value))
		}
		return all
	}
	switch b.(type) {
	case []any, map[string]any:
		return no
	}
	return truth(a == b)
}

func truth(b bool) answer {
	if b {
		return yes
	}
	return no
}

func both(a, b answer) answer {
	if a == no || b == no {
		return no
	}
	return max(a, b)
}

func fraction(n json.Number) *big.Rat {
	if i := strings.IndexAny(n.String(), "eE"); i >= 0 {
		if power, err := strconv.Atoi(n.String()[i+1:]); err != nil || power > 1000 || power < -1000 {
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		panic("not a number: " + n.String())
	}
	return r
}

// FuzzLock reads lock files. What is accepted is written back to the same pins.
func FuzzLock(f *testing.F) {
	p := pinSet{"a": {}, "b": {}}
	for _, entry := range []string{`{"name":"t","inputSchema":{"type":"object"}}`, `{"name":"\u202e","x":1.50,"annotations":{"readOnlyHint":true}}`} {
		d, err := readDefinition([]byte(entry))
		if err != nil {
			f.Fatal(err)
		}
		p["b"][d.name] = d
	}
	text, err := p.text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Add(bytes.Replace(text, []byte(`"version": 1`), []byte(`"version": 2`), 1))
	for _, seed := range []string{``, `{}`, `null`, `{"version":1,"upstreams":{}}`, `{"version":1,"upstreams":{"a":{"tools":{"t":{"digest":"","definition":{}}}}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parse(text)
		if err != nil {
			if err.Error() == "" || strings.ContainsFunc(err.Error(), func(r rune) bool { return !isASCII(r) }) {
				t.Fatalf("%q: error %q", text, err)
			}
			return
		}
		first, err := p.text()
		if err != nil {
			t.Fatalf("%q cannot be written: %v", text, err)
		}
		again, err := parse(first)
		if err != nil {
			t.Fatalf("%q: what is written cannot be read: %v", text, err)
		}
		second, err := again.text()
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%q: written as %q, then as %q: %v", text, first, second, err)
		}
		for upstream, tools := range p {
			for name, d := range tools {
				if again[upstream][name].digest != d.digest {
					t.Fatalf("%q: %q of %q has another digest once it is written", text, name, upstream)
				}
			}
		}
	})
}
