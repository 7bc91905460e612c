// Package schemadiff compares two versions of a JSON Schema document and says of
// each structural change whether the new schema accepts more, less, or whether that
// cannot be told from the documents.
//
// It imports only the standard library. It knows no MCP and no Rego, compiles no
// schema and validates no instance: a severity is a statement about two texts.
package schemadiff

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Severity says what a change means for the instances that a schema accepts.
type Severity string

// The severities. Widened and Narrowed are bounds: a schema whose changes are all
// Narrowed or Text accepts nothing that its older version refused, and the other way
// round. They do not promise that an instance exists which shows the change.
const (
	Widened  Severity = "widened"     // the new schema accepts values that the old one refused
	Narrowed Severity = "narrowed"    // it refuses values that the old one accepted
	Changed  Severity = "changed"     // it may do both, or it cannot be told
	Text     Severity = "description" // it accepts the same: annotations, or another spelling
)

// Change is one difference between two schema documents.
type Change struct {
	Pointer  string // RFC 6901, into the new document, or into the old one for what was removed
	Severity Severity
	What     string // one line in plain words, ASCII
}

// maxDepth is how many schemas within schemas are compared one by one. What is
// deeper is reported as one change.
const maxDepth = 64

// Diff returns the changes from one schema document to another, sorted by pointer,
// then by What; none for documents that are Equal. The documents are JSON decoded
// with json.Number for numbers. They need not be valid schemas: where a keyword has a
// value of the wrong type, its change is Changed.
func Diff(older, newer any) []Change {
	d := differ{references: survey(older, newer)}
	d.schema(place{}, older, newer)
	slices.SortFunc(d.changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.What, b.What), cmp.Compare(a.Severity, b.Severity))
	})
	return d.changes
}

type differ struct {
	references
	changes []Change
}

// sense is how a change of a subschema bears on the whole document.
type sense int

const (
	asIs    sense = iota
	flipped       // below "not"
	unsure        // below "oneOf", "if" and the like
)

// place is where two values are compared, as a pointer into each document.
type place struct {
	older, newer string
	gone         bool // the newer document has nothing here
	sense        sense
	depth        int // schemas above
}

func (p place) down(segment string) place {
	segment = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(segment)
	return place{older: p.older + segment, newer: p.newer + segment, sense: p.sense, depth: p.depth}
}

// member is down for a key that the newer document may lack.
func (p place) member(key string, newer any) place {
	p = p.down(key)
	p.gone = isAbsent(newer)
	return p
}

// branch is down for two items of an array that need not have the same index.
func (p place) branch(older, newer int) place {
	b := p.down(strconv.Itoa(older))
	b.newer = p.down(strconv.Itoa(newer)).newer
	return b
}

func (p place) below(s sense) place {
	switch {
	case p.sense == unsure || s == unsure:
		p.sense = unsure
	case p.sense == flipped && s == flipped:
		p.sense = asIs
	case s == flipped:
		p.sense = flipped
	}
	return p
}

// report records a change whose severity is that of the schema it is in.
func (d *differ) report(at place, severity Severity, what string) {
	switch {
	case severity == Text:
	case at.sense == unsure || d.untold:
		severity = Changed
	case at.sense == flipped:
		severity = flip(severity)
	}
	pointer := at.newer
	if at.gone {
		pointer = at.older
	}
	d.changes = append(d.changes, Change{Pointer: pointer, Severity: severity, What: what})
}

func flip(s Severity) Severity {
	switch s {
	case Widened:
		return Narrowed
	case Narrowed:
		return Widened
	default:
		return s
	}
}

// both is the severity of two changes that come together.
func both(a, b Severity) Severity {
	switch {
	case a == b || b == Text:
		return a
	case a == Text:
		return b
	default:
		return Changed
	}
}

// absent stands for a keyword or member that a document does not have.
type absent struct{}

func isAbsent(value any) bool {
	_, ok := value.(absent)
	return ok
}

func lookup(m map[string]any, key string) any {
	if value, ok := m[key]; ok {
		return value
	}
	return absent{}
}

// orTrue is the schema that holds where a keyword is absent.
func orTrue(schema any) any {
	if isAbsent(schema) {
		return true
	}
	return schema
}

func union[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// schema compares two schemas, keyword by keyword.
func (d *differ) schema(at place, older, newer any) {
	before, after := keywordsOf(older), keywordsOf(newer)
	never, neverNow := acceptsNothing(older), acceptsNothing(newer)
	switch {
	case Equal(older, newer):
	case !isSchema(older) || !isSchema(newer):
		d.report(at, Changed, "not a schema: was "+show(older)+", now "+show(newer))
	case at.depth > maxDepth:
		d.report(at, Changed, "changed, and nested too deep to be compared")
	case never && !neverNow:
		d.report(at, Widened, "accepted nothing, now "+show(newer))
	case neverNow && !never:
		d.report(at, Narrowed, "accepts nothing now, was "+show(older))
	case len(before) == 0 && len(after) == 0, never && (before == nil || after == nil):
		d.report(at, Text, "written as "+show(newer)+", was "+show(older))
	default:
		at.depth++
		for _, key := range union(before, after) {
			p := pair{key: key, older: lookup(before, key), newer: lookup(after, key), before: before, after: after}
			if !Equal(p.older, p.newer) {
				d.keyword(at.member(key, p.newer), p)
			}
		}
	}
}

// relation is the severity of having one schema in the place of another.
func (d *differ) relation(at place, older, newer any) Severity {
	always, alwaysNow := acceptsAll(older), acceptsAll(newer)
	never, neverNow := acceptsNothing(older), acceptsNothing(newer)
	switch {
	case !isSchema(older) || !isSchema(newer):
		return Changed
	case always && alwaysNow, never && neverNow:
		return Text
	case always, neverNow:
		return Narrowed
	case never, alwaysNow:
		return Widened
	}
	nested := differ{references: d.references}
	nested.schema(place{depth: at.depth}, older, newer)
	total := Text
	for _, c := range nested.changes {
		total = both(total, c.Severity)
	}
	return total
}

func isSchema(value any) bool {
	switch value.(type) {
	case bool, map[string]any:
		return true
	}
	return false
}

// keywordsOf returns the keywords of a schema: none for true, nil for false.
func keywordsOf(schema any) map[string]any {
	if schema == true {
		return map[string]any{}
	}
	keywords, _ := schema.(map[string]any)
	return keywords
}

// acceptsAll says that a schema has no keyword that could refuse anything.
func acceptsAll(schema any) bool {
	keywords := keywordsOf(schema)
	for key := range keywords {
		if !isAnnotation(key) {
			return false
		}
	}
	return keywords != nil
}

// acceptsNothing knows the schema false, also as {"not": {}}.
func acceptsNothing(schema any) bool {
	keywords, ok := schema.(map[string]any)
	for key := range keywords {
		if key != "not" && !isAnnotation(key) {
			return false
		}
	}
	return schema == false || ok && acceptsAll(lookup(keywords, "not"))
}
