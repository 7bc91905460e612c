package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"testing/fstest"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// lenientCall is how encoding/json reads a message into a struct: members in any case,
// the last of several.
type lenientCall struct {
	Method string
	Params struct {
		Name      string
		Arguments json.RawMessage
	}
}

// lastKeyWins is how JavaScript reads one: members as they are spelt, the last of several.
func lastKeyWins(text []byte) (c lenientCall) {
	var message, params map[string]json.RawMessage
	_ = json.Unmarshal(text, &message)
	_ = json.Unmarshal(message["method"], &c.Method)
	_ = json.Unmarshal(message["params"], &params)
	_ = json.Unmarshal(params["name"], &c.Params.Name)
	c.Params.Arguments = params["arguments"]
	return c
}

// FuzzJudge holds that a lenient reader sees no call in what is forwarded but the one that
// was judged, that nothing is forwarded but the bytes that came, and that every answer is
// one JSON value on one line.
func FuzzJudge(f *testing.F) {
	e, err := engine.New(context.Background(), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()),
		engine.WithSchemas(fstest.MapFS{"t.json": {Data: []byte(`{"type": "object", "additionalProperties": true}`)}}))
	if err != nil {
		f.Fatal(err)
	}
	j, err := server.NewJudge(e)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := j.Judge(context.Background(), text)
		switch d.Action {
		case server.Reply:
			if !json.Valid(d.Message) || bytes.ContainsAny(d.Message, "\n\r") {
				t.Fatalf("%q is answered with %q", text, d.Message)
			}
			return
		case server.Drop:
			return
		case server.Forward:
		}
		if !bytes.Contains(text, d.Message) {
			t.Fatalf("%q is forwarded as %q", text, d.Message)
		}
		var folded lenientCall
		if err := json.Unmarshal(d.Message, &folded); err != nil && json.Valid(d.Message) {
			// A member of another type than the struct has: what was read before counts.
			folded.Method = lastKeyWins(d.Message).Method
		}
		for reader, seen := range map[string]lenientCall{"folding case": folded, "last key wins": lastKeyWins(d.Message)} {
			switch {
			case seen.Method == "tools/call" && d.Tool == "":
				t.Fatalf("%q passes without a judgement, and %s reads a call of %q", d.Message, reader, seen.Params.Name)
			case d.Tool != "" && (seen.Method != "tools/call" || seen.Params.Name != d.Tool):
				t.Fatalf("%q is judged as a call of %q, and %s reads %q, %q", d.Message, d.Tool, reader, seen.Method, seen.Params.Name)
			}
		}
	})
}
