package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// codeInvalidParams is a JSON-RPC code (section 5.1 there).
const codeInvalidParams = -32602

// statusOf is the HTTP status that the revisions without sessions have for an error (MCP
// 2026-07-28, streamable HTTP).
func statusOf(code int) int {
	switch code {
	case -32601: // the method is not known
		return http.StatusNotFound
	case codeInvalidParams, -32020, -32021, -32022: // headers, capabilities, version
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// namesVersion says whether a request has the member of _meta that makes it one of the
// revisions without sessions.
func namesVersion(m frame.Message) bool {
	if len(m.Params) == 0 || m.Params[0] != '{' {
		return false
	}
	params, err := frame.Object(m.Params, nil)
	if err != nil {
		return false
	}
	meta, err := frame.Object(params["_meta"], nil)
	if err != nil {
		return false
	}
	version, ok := frame.String(meta["io.modelcontextprotocol/protocolVersion"])
	return ok && version != ""
}

// answerError answers a request with an error of the bridge's own.
func answerError(w http.ResponseWriter, status int, id []byte, code int, message string) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "error": map[string]any{"code": code, "message": message}})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// byStatus answers with a status, instead of a stream, where the first that comes is an
// error that has one.
type byStatus struct {
	http.ResponseWriter
	held    int // the status of a stream that has not begun
	decided bool
}

// WriteHeader implements http.ResponseWriter.
func (b *byStatus) WriteHeader(status int) {
	if !b.decided && status == http.StatusOK {
		b.held = status
		return
	}
	b.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (b *byStatus) Write(p []byte) (int, error) {
	if b.decided {
		return b.ResponseWriter.Write(p)
	}
	b.decided = true
	message := p
	if data, ok := bytes.CutPrefix(p, []byte("event: message\ndata: ")); ok {
		message = bytes.TrimSuffix(data, []byte("\n\n"))
	}
	if status := errorStatus(message); status != http.StatusOK {
		b.Header().Set("Content-Type", "application/json")
		b.ResponseWriter.WriteHeader(status)
		_, err := b.ResponseWriter.Write(message)
		return len(p), err
	}
	if b.held != 0 {
		b.ResponseWriter.WriteHeader(b.held)
	}
	return b.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (b *byStatus) Flush() {
	if b.decided {
		_ = http.NewResponseController(b.ResponseWriter).Flush()
	}
}

func errorStatus(message []byte) int {
	m, err := frame.Read(message)
	if err != nil || m.Kind != frame.Response || m.Error == nil {
		return http.StatusOK
	}
	var failure struct{ Code int }
	if json.Unmarshal(m.Error, &failure) != nil {
		return http.StatusOK
	}
	return statusOf(failure.Code)
}
