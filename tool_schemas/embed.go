// Package toolschemas holds the second door's contracts: one JSON Schema per
// tool, Draft 7, in a file whose stem is the tool's name. These bytes are both
// what is advertised in tools/list and what is enforced.
//
// It is a leaf: it imports nothing of this project.
package toolschemas

import "embed"

// FS holds the schema files, all at its root.
//
//go:embed *.json
var FS embed.FS
