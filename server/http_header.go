package server

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// header returns a header that may be written in base64 (MCP 2026-07-28, streamable
// HTTP). ok is false where it is absent; one that is there twice, or cannot be decoded,
// has a value that no body has.
func header(h http.Header, name string) (value string, ok bool) {
	values := h.Values(name)
	switch len(values) {
	case 0:
		return "", false
	case 1:
	default:
		return noValue, true
	}
	inner, prefixed := strings.CutPrefix(values[0], "=?base64?")
	inner, suffixed := strings.CutSuffix(inner, "?=")
	if !prefixed || !suffixed {
		return values[0], true
	}
	decoded, err := base64.StdEncoding.DecodeString(inner)
	if err != nil {
		return noValue, true
	}
	return string(decoded), true
}

// noValue is no method, name or version: it is no UTF-8.
const noValue = "\xff"

// codeHeaderMismatch is HeaderMismatch (MCP 2026-07-28, error codes).
const codeHeaderMismatch = -32020

// disagreement compares the headers that mirror a request with its body (MCP
// 2026-07-28, streamable HTTP). Earlier revisions have but the version, and that not in
// the body.
func disagreement(h http.Header, body []byte) string {
	m, err := frame.Read(body)
	if err != nil || m.Kind == frame.Response {
		return ""
	}
	var params frame.Members
	if len(m.Params) > 0 && m.Params[0] == '{' {
		if params, err = frame.Object(m.Params, frame.CallNames); err != nil {
			if m.Method == methodCall {
				return "" // the judge says what is wrong
			}
			return "params cannot be read"
		}
	}
	version := versionOf(params)
	mirrored, ok := header(h, "MCP-Protocol-Version")
	// Where the body has none, the server has a better answer to all but a call.
	if version != "" && (!ok || mirrored != version) || version == "" && m.Method == methodCall && mirrored >= firstStateless {
		return "the header MCP-Protocol-Version disagrees with the body"
	}
	if mirrored, ok := header(h, "Mcp-Method"); ok && mirrored != m.Method || !ok && version >= firstStateless {
		return "the header Mcp-Method disagrees with the body"
	}
	if m.Method != methodCall {
		return ""
	}
	name, _ := frame.String(params["name"])
	if mirrored, ok := header(h, "Mcp-Name"); ok && mirrored != name || !ok && version >= firstStateless {
		return "the header Mcp-Name disagrees with the body"
	}
	return ""
}
