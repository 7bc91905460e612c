// Package policies holds the first door's rules: Rego modules with their tests,
// their data, the JSON Schema of their input and the builtins that they may
// call. The folder works with the stock opa command alone; the Go here only
// embeds it.
//
// It is a leaf: it imports nothing of this project.
package policies

import "embed"

// FS holds the modules (with their tests), data.json, input.schema.json and
// capabilities.json.
//
//go:embed *.rego rules/*.rego packs/*.rego data.json input.schema.json capabilities.json
var FS embed.FS
