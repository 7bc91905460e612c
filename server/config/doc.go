// Package config reads sallyport.yaml, and lays the environment and flags over it.
//
// One table (see Options) says what can be set. The parser, the flags, the variables,
// the JSON Schema for editors and the reference for readers all come from it. What is
// set is checked here; what it means is done by whoever takes the Config.
//
// It imports the engine and the server, whose settings it fills in, so that a server
// with an embedded engine can read the same file as the gateway. It knows no transport
// and starts nothing.
package config
