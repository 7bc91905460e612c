package pins

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sallyport-mcp/sallyport/engine"
)

// Severity says what a change of a tool means. For changes within a schema it is the
// engine's.
type Severity string

// The severities.
const (
	// Severe is a change of what hosts go by when they decide whether to ask a person
	// before a call (MCP, ToolAnnotations), in either direction.
	Severe          Severity = "severe"
	Widened                  = Severity(engine.Widened)
	Narrowed                 = Severity(engine.Narrowed)
	Changed                  = Severity(engine.Changed)
	DescriptionOnly          = Severity(engine.DescriptionOnly) // texts alone, which models read all the same
)

// Change is one difference between a tool and its pin.
type Change struct {
	Location string // RFC 6901 pointer into the tool as it is listed, or into the pin for what was removed
	Severity Severity
	Change   string // one line in plain words, ASCII
}

// Changes returns what has drifted, sorted by location; nothing for other states. It
// compares the schemas, which takes longer than to find out that they differ.
func (f Finding) Changes() []Change {
	var changes []Change
	for _, member := range f.Members {
		was, existed := f.was.members[member]
		now, exists := f.now.members[member]
		location := "/" + escapePointer(member)
		switch {
		case member == "annotations":
			changes = append(changes, annotationChanges(was, now)...)
		case existed && exists && (member == "inputSchema" || member == "outputSchema"):
			changes = append(changes, schemaChanges(location, f.was.parts[member], f.now.parts[member])...)
		case !existed:
			changes = append(changes, Change{location, severityOf(member), quote(member, maxShownName) + " added: " + show(now)})
		case !exists:
			changes = append(changes, Change{location, severityOf(member), quote(member, maxShownName) + " removed (was " + show(was) + ")"})
		default:
			changes = append(changes, Change{location, severityOf(member), changed(member, was, now)})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Location, b.Location) })
	return changes
}

func severityOf(member string) Severity {
	if member == "title" || member == "description" {
		return DescriptionOnly
	}
	return Changed
}

func schemaChanges(location string, was, now json.RawMessage) []Change {
	found, err := engine.DiffSchemas(was, now)
	var changes []Change
	for _, c := range found {
		changes = append(changes, Change{location + c.Location, Severity(c.Severity), c.Change})
	}
	if err != nil || len(changes) == 0 { // the pin says that they differ
		changes = []Change{{location, Changed, "changed, and cannot be compared"}}
	}
	return changes
}

// hints are the annotations that hosts go by, with what they are where they are absent
// (MCP, ToolAnnotations).
var hints = map[string]bool{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true}

func annotationChanges(was, now any) []Change {
	before, isObject := was.(map[string]any)
	after, isObjectNow := now.(map[string]any)
	if !isObject && was != nil || !isObjectNow && now != nil {
		return []Change{{"/annotations", Severe, changed("annotations", was, now)}}
	}
	var changes []Change
	names := maps.Clone(before)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		older, existed := before[name]
		newer, exists := after[name]
		if existed == exists && bytes.Equal(canonical(older), canonical(newer)) {
			continue
		}
		changes = append(changes, Change{"/annotations/" + escapePointer(name), annotationSeverity(name, before, after), annotationChange(name, before, after)})
	}
	if len(changes) == 0 { // absent, null or empty
		changes = append(changes, Change{"/annotations", Changed, changed("annotations", was, now)})
	}
	return changes
}

func annotationSeverity(name string, before, after map[string]any) Severity {
	absent, isHint := hints[name]
	switch {
	case isHint && !bytes.Equal(canonical(valueOr(before, name, absent)), canonical(valueOr(after, name, absent))):
		return Severe
	case name == "title":
		return DescriptionOnly
	}
	return Changed
}

func annotationChange(name string, before, after map[string]any) string {
	older, existed := before[name]
	newer, exists := after[name]
	switch {
	case !existed:
		return quote(name, maxShownName) + " added: " + show(newer)
	case !exists:
		return quote(name, maxShownName) + " removed (was " + show(older) + ")"
	}
	return changed(name, older, newer)
}

func valueOr(members map[string]any, name string, absent bool) any {
	if value, ok := members[name]; ok {
		return value
	}
	return absent
}

func escapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// changed says how a value has changed. Of two long texts it shows where they part.
func changed(name string, was, now any) string {
	older, isText := was.(string)
	newer, isTextNow := now.(string)
	subject := quote(name, maxShownName) + " changed"
	if !isText || !isTextNow {
		return subject + " from " + show(was) + " to " + show(now)
	}
	const context = 16
	start := max(sharedStart(older, newer)-context, 0)
	for start > 0 && !utf8.RuneStart(older[start]) {
		start--
	}
	if start > 0 {
		subject += ", from byte " + strconv.Itoa(start) + " on,"
	}
	return subject + " from " + show(older[start:]) + " to " + show(newer[start:])
}

// sharedStart is how many bytes two texts have in common at their start.
func sharedStart(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// show returns a value as JSON in ASCII, cut.
func show(value any) string { return cut(string(escape(canonical(value), isASCII)), maxShownValue) }
