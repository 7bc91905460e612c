// Package gateway puts the judge in front of MCP servers that cannot be changed: a
// command that talks in lines, a server that is reached over HTTP, or a command that is
// to be reached over HTTP.
//
// It imports the server package and the engine, and carries bytes. It knows no Rego and
// no JSON Schema, and decides about no call.
package gateway
