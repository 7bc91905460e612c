// Package frame reads one raw JSON-RPC message strictly enough that no reader
// behind it can see another message in the same bytes.
//
// It finds the members of the envelope and of params as byte ranges and leaves
// the arguments to the engine, byte for byte. It knows JSON-RPC and the shape of
// a tools/call, and nothing of policies, schemas or transports.
package frame
