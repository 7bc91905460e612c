// Package engine judges the arguments of MCP tool calls: deny rules written in
// Rego first, the tool's JSON Schema second. What both find comes back as one
// list of {path, reason}.
//
// It is the whole public face of the library and the only place where the two
// doors meet. It knows no transport and no protocol message; the caller brings
// the tool name and the raw bytes of the arguments.
//
// The engine measures and renders. Limits, lists, codes and verdicts are in the
// policy; see the folder policies.
package engine
