package server

import (
	"encoding/base64"
	"net/http"
	"strings"
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
