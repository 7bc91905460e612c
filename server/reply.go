package server

import (
	"bytes"
	"encoding/json"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// rpcError is the error object of a JSON-RPC 2.0 response (section 5.1 there).
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

var noID = []byte("null")

// errorReply is a whole response with an error. Without an id it has the id null, which
// JSON-RPC wants for a message whose id could not be read.
func errorReply(id []byte, e rpcError) []byte {
	if id == nil {
		id = noID
	}
	return encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", id, e})
}

// refusal is the answer to a refused call. An unknown tool is a protocol error in
// either form (MCP, tools, error handling).
func (j *Judge) refusal(id []byte, params frame.Members, refusal *engine.ValidationError) []byte {
	if j.rejections.Load() == ToolResults && refusal.Code != engine.CodeMethodNotFound {
		return resultReply(id, refusal, isStateless(params))
	}
	e := refusal.JSONRPC()
	return errorReply(id, rpcError{Code: e.Code, Message: e.Message, Data: e.Data})
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolResult struct {
	ResultType string              `json:"resultType,omitempty"`
	Content    []textContent       `json:"content"`
	Structured engine.RPCErrorData `json:"structuredContent"`
	IsError    bool                `json:"isError"`
}

// resultReply is a tool result that says what is wrong: a line for each violation, and
// the same list for programs. resultType came with the stateless revision, which wants
// it, and which earlier ones do not know.
func resultReply(id []byte, refusal *engine.ValidationError, stateless bool) []byte {
	data := refusal.JSONRPC().Data
	var text bytes.Buffer
	text.WriteString(refusal.Message)
	for _, v := range data.Errors {
		text.WriteString("\n")
		if v.Path != "" {
			text.WriteString(v.Path + ": ")
		}
		text.WriteString(v.Reason)
	}
	result := toolResult{Content: []textContent{{"text", text.String()}}, Structured: data, IsError: true}
	if stateless {
		result.ResultType = "complete"
	}
	return encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  toolResult      `json:"result"`
	}{"2.0", id, result})
}

// firstStateless is the first revision of MCP without sessions. Revisions are dates, so
// they compare as text.
const firstStateless = "2026-07-28"

const metaVersion = "io.modelcontextprotocol/protocolVersion"

// versionOf returns the revision that the _meta of a request names, "" for earlier ones,
// which name it once per session.
func versionOf(params frame.Members) string {
	meta, err := frame.Object(params["_meta"], nil)
	if err != nil {
		return ""
	}
	version, _ := frame.String(meta[metaVersion])
	return version
}

func isStateless(params frame.Members) bool { return versionOf(params) >= firstStateless }

// encode writes JSON without escapes for HTML, and without a line feed.
func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // only plain values come here, and ids that have been read
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
