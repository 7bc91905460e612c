// Package server stands between MCP messages and the engine. It reads a raw
// message, has its arguments judged, and never encodes them anew.
//
// It imports the engine and knows JSON-RPC and MCP; it knows no Rego and no JSON
// Schema.
package server
