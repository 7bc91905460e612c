package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/server"
)

func TestReadCall(t *testing.T) {
	for name, c := range map[string]struct {
		message string
		want    server.Call
	}{
		"request": {
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"n": 1.50}}}`,
			server.Call{Tool: "t", Arguments: []byte(`{"n": 1.50}`)},
		},
		"method with an escape": {
			`{"jsonrpc":"2.0","id":1,"method":"tools\/c\u0061ll","params":{"name":"\u0074"}}`,
			server.Call{Tool: "t"},
		},
		"bare params":           {`{"name":"t","arguments":[]}`, server.Call{Tool: "t", Arguments: []byte(`[]`)}},
		"null arguments":        {`{"name":"t","arguments":null}`, server.Call{Tool: "t", Arguments: []byte(`null`)}},
		"name missing":          {`{"arguments":{}}`, server.Call{Arguments: []byte(`{}`)}},
		"name a number":         {`{"name":7}`, server.Call{}},
		"name a lone surrogate": {`{"name":"\ud800"}`, server.Call{}},
		"record":                {`{"decision_id":"d","input":{"tool":"t","payload":{"n": 1.50}}}`, server.Call{Tool: "t", Arguments: []byte(`{"n": 1.50}`)}},
		"masked record": {
			`{"decision_id":"d","input":{"tool":"t","payload":{}},"custom":{"masked":["/a"]}}`,
			server.Call{Tool: "t", Arguments: []byte(`{}`), Masked: []string{"/a"}},
		},
		"params missing": {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, server.Call{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := server.ReadCall([]byte(c.message))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.message, diff)
			}
		})
	}
}

func TestReadCallRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		message string
		want    server.MessageError
	}{
		"no JSON":       {`hello`, server.MessageError{-32700, "not JSON: unexpected character at byte 0"}},
		"batch":         {`[]`, server.MessageError{-32600, "the message is not a JSON object"}},
		"other method":  {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, server.MessageError{-32600, "the message is not a tools/call request"}},
		"a response":    {`{"jsonrpc":"2.0","id":1,"result":{}}`, server.MessageError{-32600, "the message is not a tools/call request"}},
		"method a list": {`{"method":["tools/call"]}`, server.MessageError{-32600, "the message is not a tools/call request"}},
		"params a list": {`{"method":"tools/call","params":[]}`, server.MessageError{-32600, "params of tools/call must be an object"}},
		"two names":     {`{"name":"a","name":"b"}`, server.MessageError{-32600, `a member of the message occurs twice: "name"`}},
		"case in params": {`{"method":"tools/call","params":{"name":"a","Name":"b"}}`,
			server.MessageError{-32600, `the message has a member that differs from "name" only in case: "Name"`}},
		"record of another decision": {`{"decision_id":"d","input":{"user":"u"}}`, server.MessageError{-32600, "the input of the decision names no tool"}},
		"record without an object":   {`{"decision_id":"d","input":[]}`, server.MessageError{-32600, "the input of the decision is not that of a call"}},
		"record with two payloads": {`{"decision_id":"d","input":{"tool":"t","payload":{},"payload":{}}}`,
			server.MessageError{-32600, "the input of the decision is not that of a call"}},
		"record whose custom is no object": {`{"decision_id":"d","input":{"tool":"t","payload":{}},"custom":1}`,
			server.MessageError{-32600, "the member custom of the decision cannot be read"}},
		"too long": {`{"name":"` + strings.Repeat("x", server.MaxMessageBytes) + `"}`,
			server.MessageError{-32600, "the message has more than 4194304 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := server.ReadCall([]byte(c.message))
			var got *server.MessageError
			if !errors.As(err, &got) {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(c.want, *got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecordWithoutArguments(t *testing.T) {
	for message, want := range map[string]string{
		`{"decision_id":"d","input":{"tool":"t"},"custom":{"left_out":"too long"}}`: "the record has kept no arguments: too long",
		`{"decision_id":"d","input":{"tool":"t"}}`:                                  "the record has kept no arguments: it does not say why",
	} {
		_, err := server.ReadCall([]byte(message))
		var notKept *server.NotKeptError
		if !errors.As(err, &notKept) || err.Error() != want {
			t.Errorf("%s: %v", message, err)
		}
	}
}
