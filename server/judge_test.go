package server_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

func TestRejections(t *testing.T) {
	const data = `{"tool":"greet","errors":[{"path":"/name","reason":"required property is missing"}]}`
	modernBad := strings.Replace(modernCall, `{"name":"Ada"}`, `{}`, 1)
	unknown := strings.Replace(badCall, `"greet"`, `"nobody"`, 1)
	const unknownAnswer = `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown tool \"nobody\": no schema is registered for a tool of this name","data":{"tool":"nobody","errors":[{"path":"","reason":"no schema is registered for a tool of this name"}]}}}`
	for name, c := range map[string]struct {
		rejections      server.Rejections
		message, answer string
		code            int
	}{
		"as an error":             {server.ProtocolErrors, badCall, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid arguments for \"greet\": /name required property is missing","data":` + data + `}}`, -32602},
		"as an error, stateless":  {server.ProtocolErrors, modernBad, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid arguments for \"greet\": /name required property is missing","data":` + data + `}}`, -32602},
		"as a result":             {server.ToolResults, badCall, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"invalid arguments for \"greet\": /name required property is missing\n/name: required property is missing"}],"structuredContent":` + data + `,"isError":true}}`, -32602},
		"as a result, stateless":  {server.ToolResults, modernBad, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"invalid arguments for \"greet\": /name required property is missing\n/name: required property is missing"}],"structuredContent":` + data + `,"isError":true}}`, -32602},
		"unknown tool":            {server.ProtocolErrors, unknown, unknownAnswer, -32601},
		"unknown tool, as result": {server.ToolResults, unknown, unknownAnswer, -32601},
		"not a call, as result":   {server.ToolResults, `[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is not a JSON object"}}`, -32600},
	} {
		t.Run(name, func(t *testing.T) {
			d := newJudge(t, server.WithRejections(c.rejections)).Judge(context.Background(), []byte(c.message))
			if diff := cmp.Diff(c.answer, string(d.Message)); diff != "" || d.Action != server.Reply || d.Code != c.code {
				t.Errorf("%+v (-want +got):\n%s", d, diff)
			}
		})
	}
}

func TestRepairedArgumentsAreSplicedIn(t *testing.T) {
	e, err := engine.New(context.Background(), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()), engine.WithUnwrapJSONStrings("t"),
		engine.WithSchemas(fstest.MapFS{"t.json": {Data: []byte(`{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "array"}}}`)}}))
	if err != nil {
		t.Fatal(err)
	}
	j, err := server.NewJudge(e)
	if err != nil {
		t.Fatal(err)
	}
	d := j.Judge(context.Background(), []byte(` { "id" : 1.0 , "params":{ "arguments": {"a": "[2.50]"} ,"x":[ ], "name":"t"},"method":"tools/call" } `))
	want := `{ "id" : 1.0 , "params":{ "arguments": {"a":[2.50]} ,"x":[ ], "name":"t"},"method":"tools/call" }`
	if string(d.Message) != want || d.Action != server.Forward || d.Tool != "t" || string(d.ID) != "1.0" {
		t.Errorf("%+v\n%s\nwant %s", d, d.Message, want)
	}
}

func TestDecisions(t *testing.T) {
	j := newJudge(t)
	for message, want := range map[string]server.Decision{
		goodCall:    {Action: server.Forward, ID: []byte("1"), Tool: "greet"},
		pingMessage: {Action: server.Forward, ID: []byte("1")},
		strings.Replace(strings.Replace(goodCall, "greet", "slow", 1), `{"name":"Ada"}`, "{}", 1):         {Action: server.Forward, ID: []byte("1"), Tool: "slow", Timeout: 200 * time.Millisecond},
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`:                 {Action: server.Forward, Cancels: []byte(`"a"`)},
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","requestId":"b"}}`: {Action: server.Forward},
		`{"jsonrpc":"2.0","id":3,"result":{"method":"tools/call"}}`:                                       {Action: server.Forward},
	} {
		d := j.Judge(context.Background(), []byte(message))
		if string(d.Message) != message {
			t.Errorf("%s is forwarded as %s", message, d.Message)
		}
		d.Message = nil
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("%s (-want +got):\n%s", message, diff)
		}
	}
}

// Whatever fails, nothing is forwarded, and the caller gets an answer.
func TestFaultsAreRefusals(t *testing.T) {
	broken, err := server.NewJudge(&engine.Engine{}) // it has nothing to judge with, and panics
	if err != nil {
		t.Fatal(err)
	}
	d := broken.Judge(context.Background(), []byte(goodCall))
	if d.Action != server.Reply || d.Code != -32603 || !strings.Contains(string(d.Message), `"id":1,"error":{"code":-32603`) {
		t.Errorf("a panic: %+v, %s", d, d.Message)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if d := newJudge(t).Judge(ctx, []byte(goodCall)); d.Action != server.Reply || d.Code != -32602 {
		t.Errorf("a context that has ended: %+v, %s", d, d.Message)
	}
}

func TestDroppedCallsAreRecorded(t *testing.T) {
	core, logs := observer.New(zapcore.WarnLevel)
	d := newJudge(t, server.WithLogger(zap.New(core))).Judge(context.Background(), []byte(strings.Replace(goodCall, `"id":1,`, "", 1)))
	if d.Action != server.Drop || logs.FilterMessage("a tools/call without a usable id is dropped").Len() != 1 {
		t.Errorf("%+v, %v", d, logs.All())
	}
}

func TestNewJudgeRefuses(t *testing.T) {
	for want, build := range map[string]func() (*server.Judge, error){
		"a judge needs an engine": func() (*server.Judge, error) { return server.NewJudge(nil) },
		"the logger is nil":       func() (*server.Judge, error) { return server.NewJudge(&engine.Engine{}, server.WithLogger(nil)) },
		`rejections "loud" is neither "protocol_error" nor "tool_result"`: func() (*server.Judge, error) {
			return server.NewJudge(&engine.Engine{}, server.WithRejections("loud"))
		},
	} {
		if j, err := build(); j != nil || err == nil || err.Error() != want {
			t.Errorf("%v, %v; want %s", j, err, want)
		}
	}
}

// Answers from the server pass as they are, but for lists of tools.
func TestAnswer(t *testing.T) {
	j := newJudge(t)
	const enforced = `{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string"}}}`
	for answer, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"inputSchema"}]}}`: "",
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`:                                       "",
		`{"jsonrpc":"2.0","id":1,"result":{"tools":"inputSchema"}}`:                            "",
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"inputSchema"}}`:                  "",
		`inputSchema, no JSON`: "",
		`the tools are loaded`: withheld("null"),
		`{"jsonrpc":"2.0","id":1,"result":{ "nextCursor": "2", "tools": [ {"name":"other","inputSchema":{}} , {"title": "T", "inputSchema" : {"x": 1.0} ,"name":"gr\u0065et"} ], "ttlMs": 5.0 }}`: `{"jsonrpc":"2.0","id":1,"result":{ "nextCursor": "2", "tools": [{"title": "T", "inputSchema" : ` + enforced + ` ,"name":"gr\u0065et"}], "ttlMs": 5.0 }}`,
		`{"jsonrpc":"2.0","id":1,"result":{"\u0074ools":[{"name":"other","input\u0053chema":{}}]}}`:                                                                                               `{"jsonrpc":"2.0","id":1,"result":{"\u0074ools":[]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"other","description":"without a schema"}]}}`:                                                                                         `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","result":{"tools":[{"name":"other"}]}}`:                                                                                                             `{"jsonrpc":"2.0","id":1,"method":"x","result":{"tools":[]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":5,"inputSchema":{}}]}}`:                                                                                                               withheld("1"),
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"greet","name":"other","inputSchema":{}}]}}`:                                                                                          withheld("1"),
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[],"Tools":[{"name":"other","inputSchema":{}}]}}`:                                                                                              withheld("1"),
		`{"jsonrpc":"2.0","id":1,"result":{"Tools":[{"name":"other"}]}}`:                                                                                                                          withheld("1"),
		`{"jsonrpc":"2.0","id":1,"Result":{"tools":[{"name":"other"}]}}`:                                                                                                                          withheld("1"),
		`{"jsonrpc":"2.0","id":1,"result":{},"r\u0065sult":{"tools":[{"name":"other"}]}}`:                                                                                                         withheld("1"),
		`{"jsonrpc":"2.0","id":1,"method":5,"result":{"t\u006fols":[{"name":"other"}]}}`:                                                                                                          withheld("1"),
		"\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"other"}]}}`:                                                                                                         withheld("1"),
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"other\",\"description\":\"\xff\"}]}}":                                                                                   withheld("1"),
		`[{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"other"}]}}]`:                                                                                                                        withheld("null"),
		`{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"other"}]}}`:                                                                                      withheld("1"),
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"tool\n"}],"content":[]}}`:                                                                                            "",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff the tool \\n\"}]}}":                                                                            "",
		`[{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"the tool"}}]`:                                                                                                       "",
		`{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"tools":[{"name":"other"}]}}`:                                                                                                    "",
	} {
		if want == "" {
			want = answer
		}
		if got := string(j.Answer(context.Background(), []byte(answer))); got != want {
			t.Errorf("%s becomes\n%s\nwant\n%s", answer, got, want)
		}
	}
}
