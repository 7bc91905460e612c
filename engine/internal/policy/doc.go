// Package policy is the first door: it compiles the Rego rules and evaluates
// them for one call.
//
// It imports OPA's ast, topdown and storage packages and nothing of this
// project. It knows no JSON Schema and no MCP, and it holds no limit, list,
// code or reason of its own: what is refused, and why, is read from the policy.
package policy
