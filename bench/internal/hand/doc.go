// Package hand is the lower bound: the checks of the engine for the bundled rules,
// written out in Go as fast as is reasonable, with no rule engine.
//
// It makes the same decisions (strict JSON, size, depth, control characters, roles,
// the tool's schema) and lists violations as {path, reason}. What it cannot do is
// what the engine is for: its limits are constants, nobody can read, test or replace
// its rules without a Go compiler, and its reasons are the validator's own.
//
// It may import the schema validator, and nothing of the product: whatever the
// product does slowly must not slow this down.
package hand
