package frame_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// FuzzObject compares with encoding/json, which is laxer on text but knows the
// same grammar: what Object accepts, json.Valid accepts, each member has the
// value that a map of raw messages has, and nothing is accepted twice.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":[1,2.50,"\u00e9\n"]}}}`,
		`{"name":"a","Name":"b"}`, `{"argument\u017f":{}}`, `[{}]`, `{"a":[}`, "\xEF\xBB\xBF{}", `{"a":"\\"}`, `{"a":1}{"b":2}`, `{"":""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		members, err := frame.Object(text, frame.AllNames)
		if err != nil {
			var refused *frame.Error
			if !errors.As(err, &refused) || refused.Code != frame.CodeParseError && refused.Code != frame.CodeInvalidRequest || refused.Message == "" {
				t.Fatalf("%q: error %#v", text, err)
			}
			if refused.Code == frame.CodeParseError && json.Valid(text) && utf8.Valid(text) && !bytes.Contains(text, []byte(`\u`)) {
				t.Fatalf("%q is JSON, but: %v", text, err)
			}
			return
		}
		if !json.Valid(text) && !bytes.Contains(text, bytes.Repeat([]byte("["), 1000)) && !bytes.Contains(text, bytes.Repeat([]byte("{"), 1000)) {
			t.Fatalf("%q is accepted and is no JSON", text)
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			return // nested deeper than encoding/json reads
		}
		if len(want) != len(members) {
			t.Fatalf("%q: %d members, want %d", text, len(members), len(want))
		}
		for name, value := range want {
			if !bytes.Equal(members[name], value) {
				t.Fatalf("%q: member %q is %q, want %q", text, name, members[name], value)
			}
		}
	})
}
