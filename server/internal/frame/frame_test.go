package frame_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

func TestObject(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	for name, c := range map[string]struct {
		text string
		want map[string]string
	}{
		"empty":                    {`{}`, map[string]string{}},
		"white space stays inside": {" {\"a\" : [ 1 , 2.50 ] } \n", map[string]string{"a": "[ 1 , 2.50 ]"}},
		"every type": {`{"a":{"b":"}"},"c":"\"]\\","d":-1.5e3,"e":true,"f":null}`,
			map[string]string{"a": `{"b":"}"}`, "c": `"\"]\\"`, "d": "-1.5e3", "e": "true", "f": "null"}},
		"name with escapes":        {`{"m\u0065thod":1}`, map[string]string{"method": "1"}},
		"duplicate keys in values": {`{"arguments":{"a":1,"a":2}}`, map[string]string{"arguments": `{"a":1,"a":2}`}},
		"lone surrogate in values": {`{"arguments":{"a":"\ud800"}}`, map[string]string{"arguments": `{"a":"\ud800"}`}},
		"nested beyond any parser": {`{"arguments":` + deep + strings.Repeat("]", 100_000) + `}`,
			map[string]string{"arguments": deep + strings.Repeat("]", 100_000)}},
		"similar, not reserved": {`{"Color":1,"color":2}`, map[string]string{"Color": "1", "color": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			members, err := frame.Object([]byte(c.text), frame.AllNames)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for name, value := range members {
				got[name] = string(value)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestObjectRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want frame.Error
	}{
		"nothing":               {"", frame.Error{-32700, "not JSON: the message is empty"}},
		"white space":           {" \t\n", frame.Error{-32700, "not JSON: the message is empty"}},
		"byte order mark":       {"\xEF\xBB\xBF{}", frame.Error{-32700, "not JSON: the message starts with a byte order mark"}},
		"not UTF-8":             {"{\"a\":\"\xff\"}", frame.Error{-32700, "not JSON: the message is not valid UTF-8"}},
		"no JSON":               {"hello", frame.Error{-32700, "not JSON: unexpected character at byte 0"}},
		"batch":                 {`[{"method":"tools/call"}]`, frame.Error{-32600, "the message is not a JSON object"}},
		"number":                {`5`, frame.Error{-32600, "the message is not a JSON object"}},
		"broken batch":          {`[{]`, frame.Error{-32700, "not JSON: the message ends too early"}},
		"two values":            {`{} {}`, frame.Error{-32700, "not JSON: there is more after the message, at byte 3"}},
		"ends early":            {`{"a":1`, frame.Error{-32700, "not JSON: the message ends too early"}},
		"ends in a string":      {`{"a":"x`, frame.Error{-32700, "not JSON: the message ends too early"}},
		"ends in an escape":     {`{"a":"x\`, frame.Error{-32700, "not JSON: the message ends too early"}},
		"no colon":              {`{"a" 1}`, frame.Error{-32700, "not JSON: unexpected character at byte 5"}},
		"no value":              {`{"a":}`, frame.Error{-32700, "not JSON: unexpected character at byte 5"}},
		"trailing comma":        {`{"a":1,}`, frame.Error{-32700, "not JSON: unexpected character at byte 7"}},
		"no comma":              {`{"a":1 "b":2}`, frame.Error{-32700, "not JSON: unexpected character at byte 7"}},
		"unquoted name":         {`{a:1}`, frame.Error{-32700, "not JSON: unexpected character at byte 1"}},
		"lone surrogate name":   {`{"\ud800":1}`, frame.Error{-32700, "not JSON: unexpected character at byte 1"}},
		"bad literal":           {`{"a":tru}`, frame.Error{-32700, "not JSON: unexpected character at byte 8"}},
		"bad number":            {`{"a":01}`, frame.Error{-32700, "not JSON: unexpected character at byte 6"}},
		"mismatched brackets":   {`{"a":[1}}`, frame.Error{-32700, "not JSON: unexpected character at byte 7"}},
		"control in a string":   {"{\"a\":\"\x01\"}", frame.Error{-32700, "not JSON: unexpected character at byte 6"}},
		"member twice":          {`{"method":1,"method":2}`, frame.Error{-32600, `a member of the message occurs twice: "method"`}},
		"twice, by escape":      {`{"method":1,"\u006dethod":2}`, frame.Error{-32600, `a member of the message occurs twice: "method"`}},
		"unreserved twice":      {`{"x":1,"x":2}`, frame.Error{-32600, `a member of the message occurs twice: "x"`}},
		"another case":          {`{"Method":1}`, frame.Error{-32600, `the message has a member that differs from "method" only in case: "Method"`}},
		"long s":                {`{"argumentſ":1}`, frame.Error{-32600, `the message has a member that differs from "arguments" only in case: "argument\u017f"`}},
		"Kelvin sign in a task": {`{"tas` + "\u212a" + `":1}`, frame.Error{-32600, `the message has a member that differs from "task" only in case: "tas\u212a"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := frame.Object([]byte(c.text), frame.AllNames)
			var got *frame.Error
			if !errors.As(err, &got) {
				t.Fatalf("%q: error %v", c.text, err)
			}
			if diff := cmp.Diff(c.want, *got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.text, diff)
			}
		})
	}
}
