// Package mcpsdk puts the judge of package server into servers of the official Go SDK
// (github.com/modelcontextprotocol/go-sdk).
//
// There are two places. Transport wraps a transport: it keeps code and data of every
// refusal, also of unknown tools. Middleware is for servers whose transport is not at
// hand, such as those of an HTTP handler: the SDK replaces message and data of an unknown
// tool (-32601) there, and it answers some malformed messages itself, before any
// middleware. What neither can see is how the envelope was written, since the SDK has
// read it: duplicate members, other spellings. The guards of package server see that.
//
// The package translates and decides nothing.
package mcpsdk
