// Package payload is the strict decoder: raw bytes in, one value and facts about
// it out, in one pass.
//
// It imports nothing of this project and knows no Rego, no schema and no MCP. It
// has no limit of its own and gives no verdict; what to measure and where to stop
// comes with each call.
package payload
