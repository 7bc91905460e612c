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
		"params missing":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, server.Call{}},
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
