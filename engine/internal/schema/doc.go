// Package schema is the second door: it compiles a tool's JSON Schema, hardens
// it, validates payloads against it and says in its own words what is wrong.
//
// It imports the validator and nothing of this project but the packages below it
// (ecma for patterns, formats for formats); it knows no Rego and no MCP, and gets
// documents and payloads that are already decoded: map[string]any, []any,
// json.Number, string, bool and nil.
//
// A document passes three stations. Lint looks at how it is written, because JSON
// Schema ignores what it does not know and so allows what a slip of the pen was
// meant to forbid. The validator compiles it. Harden walks the compiled graph and
// refuses or rebuilds what would let a payload through, hide a violation, or take
// more than linear time.
//
// A validation has a budget of steps. The validator keeps nothing that belongs to one
// call, so budgets belong to copies of the compiled graph, which a pool lends out.
//
// Violations are data first: a walk over the validator's error tree decides place
// and keyword, and only reasons.go and union.go know the wording.
package schema
