// Package workshop is for those who write and review rules: it runs their tests, writes the
// first lines of new ones, and compares what two sets of rules make of the same calls.
//
// It knows the engine and the embedded policies, and nothing of MCP or of terminals. It
// gives no verdict of its own.
package workshop
