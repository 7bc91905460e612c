// Package schema is the second door: it compiles a tool's JSON Schema, hardens
// it, validates payloads against it and says in its own words what is wrong.
//
// It imports the validator and nothing of this project; it knows no Rego and no
// MCP, and gets documents and payloads that are already decoded: map[string]any,
// []any, json.Number, string, bool and nil.
//
// A document passes three stations. Lint looks at how it is written, because JSON
// Schema ignores what it does not know and so allows what a slip of the pen was
// meant to forbid. The validator compiles it. Harden walks the compiled graph and
// refuses or rebuilds what would let a payload through, or hide a violation.
//
// Violations are data first: a walk over the validator's error tree decides place
// and keyword, and only reasons.go knows the wording.
package schema
