// Package schema is the second door: it compiles a tool's JSON Schema, hardens
// it, validates payloads against it and says in its own words what is wrong.
//
// It imports the validator and nothing of this project; it knows no Rego and no
// MCP, and gets documents and payloads that are already decoded.
package schema
