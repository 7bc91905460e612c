package payload_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
)

// FuzzDecode compares with jsontext, an independent strict decoder: both accept
// the same texts and build the same value, but for what is documented as stricter
// here (long numbers, exponents, depth). The facts have to be true of the value.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ` null `, `{"a":[1,-2.50e+3,"x\u00e9\n\ud83d\ude00",true,false,null,{"b/~":{}}]}`, `{"a":1,"\u0061":2}`, `"\ud800"`, `"\udc00\ud800"`,
		"\xEF\xBB\xBF{}", "{\"a\":\"\x01\"}", "\"\xff\"", `01`, `1e309`, `-`, `{"a":}`, `[1,]`, `{"a":1}x`, `{"\u001b":"\u0000\u009f"}`, `[[[[[[[[[[[[]]]]]]]]]]]]`,
		strings.Repeat("[", 70), strings.Repeat(`{"a":`, 66), `"` + strings.Repeat("x", 100) + `\`, strings.Repeat("9", 70), `{"":{"":[""]}}`,
	} {
		f.Add([]byte(seed))
	}
	l := limits(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		given := bytes.Clone(text)
		got := payload.Decode(text, l)
		if !bytes.Equal(given, text) {
			t.Fatalf("%q was changed", given)
		}
		checkResult(t, text, got)
		want, err := oracle(text)
		switch fault := got.Facts.Fault; {
		case got.Facts.Complete:
			if err != nil {
				t.Fatalf("%q: accepted, the oracle says %v", text, err)
			}
			// Not go-cmp: it takes exponential time on nested slices of interfaces.
			if !reflect.DeepEqual(want, got.Value) {
				t.Fatalf("%q:\noracle  %#v\ndecoder %#v", text, want, got.Value)
			}
			checkFacts(t, text, got, l)
		case got.Facts.Stop == payload.StopDepth: // the oracle goes deeper, or reads on
		case fault.Code == payload.FaultNumberLength || fault.Code == payload.FaultNumberExponent:
		case err == nil:
			t.Fatalf("%q: %+v, the oracle accepts", text, fault)
		}
	})
}

// checkResult holds what is true of every result.
func checkResult(t *testing.T, text []byte, got payload.Result) {
	t.Helper()
	facts := got.Facts
	if facts.Complete == (facts.Stop != "") || (facts.Stop == payload.StopFault) != (facts.Fault != nil) || !facts.Complete && got.Value != nil {
		t.Fatalf("%q: %+v", text, got)
	}
	if facts.Fault != nil && (facts.Fault.Offset < 0 || facts.Fault.Offset > len(text)) {
		t.Fatalf("%q: offset %d", text, facts.Fault.Offset)
	}
	if facts.Bytes != len(bytes.Trim(text, " \t\r\n")) {
		t.Fatalf("%q: %d bytes", text, facts.Bytes)
	}
	if len(facts.ControlCharacters.Strings) > facts.ControlCharacters.Total {
		t.Fatalf("%q: %+v", text, facts.ControlCharacters)
	}
}

// checkFacts measures values, depth and control characters a second time, on the value.
func checkFacts(t *testing.T, text []byte, got payload.Result, l payload.Limits) {
	t.Helper()
	depth, deepest, strings, values := 0, map[string]bool{"": true}, 0, 0
	var walk func(value any, path string, level int)
	walk = func(value any, path string, level int) {
		values++
		if level > depth {
			depth, deepest = level, map[string]bool{}
		}
		if level == depth {
			deepest[path] = true
		}
		switch v := value.(type) {
		case string:
			strings += watchedIn(v, l)
		case []any:
			for i, item := range v {
				walk(item, path+"/"+strconv.Itoa(i), level+1)
			}
		case map[string]any:
			for key, member := range v {
				strings += watchedIn(key, l)
				walk(member, path+"/"+payload.EscapePointer(key), level+1)
			}
		}
	}
	walk(got.Value, "", 0)
	if values != got.Facts.Values || depth != got.Facts.Depth || !deepest[got.Facts.Deepest] || strings != got.Facts.ControlCharacters.Total {
		t.Fatalf("%q: %+v; want %d values, depth %d at one of %v, %d strings", text, got.Facts, values, depth, deepest, strings)
	}
}

func watchedIn(text string, l payload.Limits) int {
	if strings.ContainsFunc(text, l.Watched.Has) {
		return 1
	}
	return 0
}

// oracle builds the value from jsontext's tokens.
func oracle(text []byte) (any, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(text))
	value, err := build(decoder)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("trailing data")
	}
	return value, nil
}

func build(decoder *jsontext.Decoder) (any, error) {
	if decoder.PeekKind() == '0' {
		number, err := decoder.ReadValue()
		return json.Number(number), err
	}
	token, err := decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	case '[':
		list := []any{}
		for decoder.PeekKind() != ']' {
			item, err := build(decoder)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := decoder.ReadToken()
		return list, err
	case '{':
		object := map[string]any{}
		for decoder.PeekKind() != '}' {
			name, err := decoder.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			if object[key], err = build(decoder); err != nil {
				return nil, err
			}
		}
		_, err := decoder.ReadToken()
		return object, err
	default: // null
		return nil, nil
	}
}
