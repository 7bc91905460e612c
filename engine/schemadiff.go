package engine

import (
	"encoding/json"
	"fmt"

	"github.com/sallyport-mcp/sallyport/engine/internal/schemadiff"
)

// Severity says what a change of a schema means for the calls that it lets pass.
type Severity string

// The severities. A change within "not" counts the other way round.
const (
	Widened         Severity = "widened"     // what was refused passes now
	Narrowed        Severity = "narrowed"    // what passed is refused now
	Changed         Severity = "changed"     // both may be, or it cannot be told
	DescriptionOnly Severity = "description" // texts for people and models alone
)

// SchemaChange is one difference between two schema documents.
type SchemaChange struct {
	Location string // RFC 6901 pointer, into the old document for what was removed
	Severity Severity
	Change   string // one line in plain words
}

// DiffSchemas returns what has changed from one schema document to another, by
// location; nothing where they say the same. It looks at the documents alone: they
// need not compile. The error says which one is not JSON, and where.
func DiffSchemas(older, newer json.RawMessage) ([]SchemaChange, error) {
	before, err := decodeDocument(older, dataFileLimits)
	if err != nil {
		return nil, fmt.Errorf("old schema: %w", err)
	}
	after, err := decodeDocument(newer, dataFileLimits)
	if err != nil {
		return nil, fmt.Errorf("new schema: %w", err)
	}
	var changes []SchemaChange
	for _, c := range schemadiff.Diff(before, after) {
		changes = append(changes, SchemaChange{Location: c.Pointer, Severity: Severity(c.Severity), Change: c.What})
	}
	return changes, nil
}
