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

// maxRounds is how often a payload is repaired and judged again: what comes out of a
// string may need repairs itself, and a null that is dropped may turn out to be needed.
const maxRounds = 8

// place is a place in a payload at which, or below which, something is to be changed. It
// takes no pointers to find one: a key may be long, and stand above thousands of values.
type place struct {
	below map[string]*place // by token
	edit  RepairKind        // "" for none
}

// to returns the place that tokens lead to, made on the way where that is wanted, else nil
// where there is none.
func (p *place) to(tokens []string, made bool) *place {
	for _, token := range tokens {
		next := p.below[token]
		if next == nil {
			if !made {
				return nil
			}
			if p.below == nil {
				p.below = map[string]*place{}
			}
			next = &place{}
			p.below[token] = next
		}
		p = next
	}
	return p
}

// edits are the changes that are to be made to one payload.
type edits struct {
	root place
	list []edit // one for each place
}

type edit struct {
	tokens []string
	kind   RepairKind
}

func (e *edits) add(tokens []string, kind RepairKind) {
	if at := e.root.to(tokens, true); at.edit == "" {
		at.edit = kind
		e.list = append(e.list, edit{tokens, kind})
	}
}

// judgeRepaired repairs a payload that only the schema rejects, and has both doors
// judge the bytes that result. It returns the first judgement where no repair is
// possible, and otherwise that of the repaired payload.
func (e *Engine) judgeRepaired(ctx context.Context, r *registry, c call, l leniency, first judgement) (judgement, error) {
	j := first
	required := &place{} // nulls that cannot be dropped
	for range maxRounds {
		changes := editsFor(j, l, required)
		if len(changes.list) == 0 || len(j.repairs)+len(changes.list) > e.reading.Leniency.MaxRepairs {
			break
		}
		raw, err := rewrite(j.raw, &changes.root)
		if err != nil {
			return judgement{}, err
		}
		next, err := e.judgeAsIs(ctx, r, call{tool: c.tool, mode: c.mode, raw: raw, counted: true})
		if err != nil {
			return judgement{}, err
		}
		if missesDropped(next.broken, &changes.root, required) {
			continue // without that edit
		}
		next.repairs = j.repairs
		for _, change := range changes.list {
			next.repairs = append(next.repairs, Repair{Path: pointerOf(change.tokens, e.reading.MaxPathBytes), Kind: change.kind})
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

// editsFor returns the repairs that the violations of a judgement call for.
func editsFor(j judgement, l leniency, required *place) *edits {
	changes := &edits{}
	held := map[string]string{} // what a text holds, since several violations may concern it
	for _, v := range j.broken {
		if len(v.Tokens) == 0 {
			continue
		}
		switch value := at(j.payload, v.Tokens).(type) {
		case nullMember:
			if l.dropNulls && forbidsNull[v.Keyword] && !required.marked(v.Tokens) {
				changes.add(v.Tokens, DropNull)
			}
		case string:
			if !l.unwrapJSONStrings || len(v.Wanted) == 0 || slices.Contains(v.Wanted, "string") {
				continue
			}
			kind, known := held[value]
			if !known {
				kind = schema.HeldType(value)
				held[value] = kind
			}
			if kind != "" && slices.Contains(v.Wanted, kind) {
				changes.add(v.Tokens, UnwrapJSONString)
			}
		}
	}
	return changes
}

// marked says whether something is to be done at this very place.
func (p *place) marked(tokens []string) bool {
	found := p.to(tokens, false)
	return found != nil && found.edit != ""
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
func missesDropped(broken []schema.Violation, changes, required *place) bool {
	misses := false
	for _, v := range broken {
		if !missing[v.Keyword] {
			continue
		}
		if dropped := changes.to(v.Tokens, false); dropped != nil && dropped.edit == DropNull {
			required.to(v.Tokens, true).edit = DropNull
			misses = true
		}
	}
	return misses
}

var missing = map[string]bool{"required": true, "dependentRequired": true, "dependencies": true}
