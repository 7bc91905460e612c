package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine/internal/schema"
)

// RepairKind names a change that may be made to a payload.
type RepairKind string

// The two kinds of repair. Both are off unless the operator allows them for a tool.
const (
	// DropNull leaves out an optional member whose value is null, where its schema
	// forbids null.
	DropNull RepairKind = "drop_null"
	// UnwrapJSONString puts an object or array in the place of a string that holds
	// its JSON text, where the schema wants one and no string.
	UnwrapJSONString RepairKind = "unwrap_json_string"
)

// Repair is one change made to a payload before it was judged.
type Repair struct {
	Path string     `json:"path"` // RFC 6901 pointer, fit to show as a Violation's is
	Kind RepairKind `json:"repair"`
}

// leniency says which repairs a tool's payloads may have.
type leniency struct{ dropNulls, unwrapJSONStrings bool }

func (e *Engine) leniencyFor(tool string) leniency {
	return leniency{e.reading.Leniency.DropNulls[tool], e.reading.Leniency.UnwrapJSONStrings[tool]}
}

// maxRepairs is how often a payload is repaired and judged again: what comes out of a
// string may need repairs itself, and a null that is dropped may turn out to be needed.
const maxRepairs = 8

// judgeRepaired repairs a payload that only the schema rejects, and has both doors
// judge the bytes that result. It returns the first judgement where no repair is
// possible, and otherwise that of the repaired payload.
func (e *Engine) judgeRepaired(ctx context.Context, r *registry, c call, l leniency, first judgement) (judgement, error) {
	j := first
	required := map[string]bool{} // nulls that cannot be dropped, by path
	for range maxRepairs {
		edits := editsFor(j, l, required)
		if len(edits) == 0 {
			break
		}
		raw, err := rewrite(j.raw, edits)
		if err != nil {
			return judgement{}, err
		}
		next, err := e.judgeAsIs(ctx, r, call{tool: c.tool, mode: c.mode, raw: raw, counted: true})
		if err != nil {
			return judgement{}, err
		}
		if missesDropped(next.broken, edits, required) {
			continue // without that edit
		}
		next.repairs = j.repairs
		for path, kind := range edits {
			next.repairs = append(next.repairs, Repair{Path: cut(printable(path), e.reading.MaxPathBytes), Kind: kind})
		}
		j = next
		if j.ruled || j.refusal == nil {
			break
		}
	}
	slices.SortFunc(j.repairs, func(a, b Repair) int { return strings.Compare(a.Path, b.Path) })
	if j.refusal != nil {
		j.refusal.Repairs = j.repairs
		if j.bypassed {
			j.payload, j.raw, j.repairs = first.payload, first.raw, nil
		}
	}
	return j, nil
}

// editsFor returns the repairs that the violations of a judgement call for, by path.
func editsFor(j judgement, l leniency, required map[string]bool) map[string]RepairKind {
	edits := map[string]RepairKind{}
	for _, v := range j.broken {
		if len(v.Tokens) == 0 {
			continue
		}
		path := pathOf(v.Tokens)
		switch value := at(j.payload, v.Tokens).(type) {
		case nullMember:
			if l.dropNulls && forbidsNull[v.Keyword] && !required[path] {
				edits[path] = DropNull
			}
		case string:
			if l.unwrapJSONStrings && !slices.Contains(v.Wanted, "string") {
				if held := schema.HeldType(value); held != "" && slices.Contains(v.Wanted, held) {
					edits[path] = UnwrapJSONString
				}
			}
		}
	}
	return edits
}

// forbidsNull are the keywords that say what a member may be, as opposed to whether
// it may be there at all.
var forbidsNull = map[string]bool{"type": true, "enum": true, "const": true, "anyOf": true, "oneOf": true, "not": true}

// nullMember is what at returns for a member of an object that is null. An item of
// an array cannot be left out without moving the others.
type nullMember struct{}

// at returns the value that tokens lead to, nil where there is none.
func at(value any, tokens []string) any {
	for i, token := range tokens {
		switch v := value.(type) {
		case map[string]any:
			member, exists := v[token]
			if exists && member == nil && i == len(tokens)-1 {
				return nullMember{}
			}
			value = member
		case []any:
			index, ok := indexOf(token, len(v))
			if !ok {
				return nil
			}
			value = v[index]
		default:
			return nil
		}
	}
	return value
}

// missesDropped says whether the schema now misses members that were dropped, and
// adds them to required.
func missesDropped(broken []schema.Violation, edits map[string]RepairKind, required map[string]bool) bool {
	misses := false
	for _, v := range broken {
		path := pathOf(v.Tokens)
		if edits[path] == DropNull && missing[v.Keyword] {
			required[path], misses = true, true
		}
	}
	return misses
}

var missing = map[string]bool{"required": true, "dependentRequired": true, "dependencies": true}
