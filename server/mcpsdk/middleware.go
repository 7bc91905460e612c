package mcpsdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-mcp/sallyport/server"
)

// Middleware returns receiving middleware that puts every tools/call to the judge, and
// rewrites every answer to tools/list. Add it last, so that it comes first: what is added
// later runs before it.
func Middleware(j *server.Judge) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			call, isCall := request.(*mcp.CallToolRequest)
			if method == "tools/call" && (!isCall || call.Params == nil) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the call could not be read, so it is refused"}
			}
			if isCall {
				return judgeCall(ctx, j, next, method, call)
			}
			result, err := next(ctx, method, request)
			if list, isList := result.(*mcp.ListToolsResult); isList && err == nil {
				return rewriteList(j, list)
			}
			return result, err
		}
	}
}

// standInID is the id of the message that the judge gets to see: middleware is not told
// the real one.
const standInID = "0"

func judgeCall(ctx context.Context, j *server.Judge, next mcp.MethodHandler, method string, call *mcp.CallToolRequest) (mcp.Result, error) {
	message, err := standIn(call.Params)
	if err != nil {
		return nil, err
	}
	d := j.Judge(ctx, message)
	if d.Action != server.Forward {
		return refusal(d)
	}
	var params struct {
		Params struct{ Arguments json.RawMessage }
	}
	if err := json.Unmarshal(d.Message, &params); err != nil {
		return nil, fmt.Errorf("judged call: %w", err)
	}
	if d.Timeout == 0 {
		call.Params.Arguments = params.Params.Arguments
		return next(ctx, method, call)
	}
	call.Params.Arguments = params.Params.Arguments
	return within(ctx, j, d, func(ctx context.Context) (mcp.Result, error) { return next(ctx, method, call) })
}

// standIn is the call as the client may have written it, with the very bytes of its
// arguments.
func standIn(p *mcp.CallToolParamsRaw) ([]byte, error) {
	name, err := json.Marshal(p.Name)
	if err != nil {
		return nil, err
	}
	message := append([]byte(`{"jsonrpc":"2.0","id":`+standInID+`,"method":"tools/call","params":{"name":`), name...)
	if version, ok := p.Meta[metaVersion].(string); ok {
		meta, err := json.Marshal(map[string]string{metaVersion: version})
		if err != nil {
			return nil, err
		}
		message = append(append(message, `,"_meta":`...), meta...)
	}
	if len(p.Arguments) > 0 {
		message = append(append(message, `,"arguments":`...), p.Arguments...)
	}
	return append(message, "}}"...), nil
}

const metaVersion = "io.modelcontextprotocol/protocolVersion"

// refusal turns the judge's reply into what middleware returns.
func refusal(d server.Decision) (mcp.Result, error) {
	var reply struct {
		Error  *jsonrpc.Error
		Result *mcp.CallToolResult
	}
	if d.Action != server.Reply || json.Unmarshal(d.Message, &reply) != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the call could not be judged, so it is refused"}
	}
	if reply.Error != nil {
		return nil, reply.Error
	}
	return reply.Result, nil
}

// within runs a call and gives up on it once its time is over; its context ends then.
func within(ctx context.Context, j *server.Judge, d server.Decision, run func(context.Context) (mcp.Result, error)) (mcp.Result, error) {
	bounded, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	type outcome struct {
		result   mcp.Result
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.result, o.err = run(bounded)
	}()
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked) // as it would without the bound
		}
		return o.result, o.err
	case <-bounded.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err() // by the caller
		}
		d.ID = []byte(standInID)
		return refusal(server.Decision{Action: server.Reply, Message: j.TimeoutReply(d)})
	}
}

// rewriteList has the judge look at a list of tools.
func rewriteList(j *server.Judge, list *mcp.ListToolsResult) (mcp.Result, error) {
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	answer := j.Answer(context.Background(), []byte(`{"jsonrpc":"2.0","id":`+standInID+`,"result":`+string(raw)+`}`))
	var rewritten struct {
		Error  *jsonrpc.Error
		Result struct {
			Tools []struct {
				Name        string
				InputSchema json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(answer, &rewritten); err != nil {
		return nil, err
	}
	if rewritten.Error != nil {
		return nil, rewritten.Error
	}
	schemas := map[string]json.RawMessage{}
	for _, tool := range rewritten.Result.Tools {
		schemas[tool.Name] = tool.InputSchema
	}
	// A copy, since the SDK's own list is shared.
	kept := *list
	kept.Tools = nil
	for _, tool := range list.Tools {
		if schema, registered := schemas[tool.Name]; registered {
			own := *tool
			own.InputSchema = schema
			kept.Tools = append(kept.Tools, &own)
		}
	}
	if kept.Tools == nil {
		kept.Tools = []*mcp.Tool{}
	}
	return &kept, nil
}
