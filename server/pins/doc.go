// Package pins remembers what the tools of an MCP server were when somebody trusted
// them, and says what has changed since.
//
// A server can list a tool that is harmless when it is looked at, and another one under
// the same name afterwards. A pin is the whole definition of one tool as it was approved;
// what differs from its pin, or has none, is to be withheld.
//
// A pin covers every member of a tool but icons. That includes _meta, since hosts act
// upon it (the pages that a tool shows are named there), and members that no revision of
// MCP knows yet: a model may get to see them, and what is not covered could change
// unseen. Icons are left out because no model reads them, and because their addresses
// are often signed anew for each list.
//
// A lock file has approved definitions only. What a server lists now is never written
// there before somebody has approved it: a server that is not trusted cannot make the
// file grow, and the file can be read-only but for the first run and for approvals.
//
// It imports the engine for the comparison of schemas alone, and knows no transport.
package pins
