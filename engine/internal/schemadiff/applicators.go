package schemadiff

import "strconv"

// unlessEvaluated gives up on a keyword that comes or goes where unevaluatedProperties
// or unevaluatedItems is in use: a keyword that refuses more also evaluates more, and
// what is evaluated is let pass.
func (d *differ) unlessEvaluated(severity Severity) Severity {
	if d.unevaluated > 0 {
		return Changed
	}
	return severity
}

// subschema is for a keyword with one schema that is true where it is absent.
func (d *differ) subschema(at place, p pair) {
	older, newer := orTrue(p.older), orTrue(p.newer)
	if older != true && newer != true {
		d.schema(at, older, newer)
		return
	}
	severity := d.relation(at, older, newer)
	switch {
	case !p.added() && !p.removed(), p.key == "propertyNames":
	case p.key == "unevaluatedProperties" || p.key == "unevaluatedItems":
		if d.unevaluated > 1 {
			severity = Changed // one counts as evaluated what the other has looked at
		}
	default:
		severity = d.unlessEvaluated(severity)
	}
	d.report(at, severity, p.what())
}

// contains is in doubt where maxContains refuses more when its schema accepts more.
func (d *differ) contains(at place, p pair) {
	below := asIs
	if !isAbsent(lookup(p.before, "maxContains")) || !isAbsent(lookup(p.after, "maxContains")) {
		below = unsure
	}
	d.constraint(at, p, d.unlessEvaluated(p.presence()), below)
}

// constraint is for a keyword with one schema that is in force only when present.
func (d *differ) constraint(at place, p pair, presence Severity, below sense) {
	switch {
	case !p.added() && !p.removed():
		d.schema(at.below(below), p.older, p.newer)
	case isSchema(p.present()):
		d.report(at, presence, p.what())
	default:
		d.report(at, Changed, p.what())
	}
}

// mapsOf returns the members of two objects, none for an absent one.
func mapsOf(p pair) (before, after map[string]any, ok bool) {
	before, isMap := p.older.(map[string]any)
	after, isMapNow := p.newer.(map[string]any)
	return before, after, (isMap || p.added()) && (isMapNow || p.removed())
}

// members calls judge for each member that differs. Objects that it cannot look into
// and an empty one that has come or gone are reported here.
func (d *differ) members(at place, p pair, judge func(at place, m pair)) {
	before, after, ok := mapsOf(p)
	switch {
	case !ok:
		d.report(at, Changed, p.what())
	case len(before)+len(after) == 0:
		d.report(at, Text, p.what())
	}
	if !ok {
		return
	}
	for _, name := range union(before, after) {
		m := pair{key: name, older: lookup(before, name), newer: lookup(after, name)}
		if !Equal(m.older, m.newer) {
			judge(at.member(name, m.newer), m)
		}
	}
}

// properties is for properties and patternProperties. A name that comes in is one that
// additionalProperties judged before, one that goes out is judged by it now.
func (d *differ) properties(at place, p pair) {
	noun := "property"
	if p.key == "patternProperties" {
		noun = "pattern property"
	}
	d.members(at, p, func(at place, m pair) {
		switch {
		case m.added():
			what := noun + " added" + optional(p, p.after, m.key)
			d.report(at, d.incoming(at, p.key, p.before, m.newer), what)
		case m.removed():
			what := noun + " removed" + optional(p, p.before, m.key)
			d.report(at, flip(d.incoming(at, p.key, p.after, m.older)), what)
		default:
			d.schema(at, m.older, m.newer)
		}
	})
}

func optional(p pair, keywords map[string]any, name string) string {
	if p.key != "properties" {
		return ""
	}
	list, _ := keywords["required"].([]any)
	for _, required := range list {
		if required == name {
			return " (required)"
		}
	}
	return " (optional)"
}

// incoming is the severity of a property or pattern that one side has and the other,
// whose keywords are given, has not. Backwards it is the severity of its removal.
func (d *differ) incoming(at place, key string, other map[string]any, schema any) Severity {
	severity := d.relation(at, orTrue(lookup(other, "additionalProperties")), schema)
	overlaps := hasMembers(other, "patternProperties") || key == "patternProperties" && hasMembers(other, "properties")
	if overlaps && !acceptsAll(schema) {
		severity = both(severity, Narrowed) // for a name that was, and still is, judged by another one too
	}
	return d.unlessEvaluated(severity)
}

func hasMembers(keywords map[string]any, key string) bool {
	members, isMap := keywords[key].(map[string]any)
	return len(members) > 0 || !isMap && keywords[key] != nil
}

// items is one schema, or up to draft 2019-09 an array with additionalItems after it.
func (d *differ) items(at place, p pair) {
	before, isArray := p.older.([]any)
	after, isArrayNow := p.newer.([]any)
	switch {
	case isArray && isArrayNow:
		d.tuple(at, before, after, lookup(p.before, "additionalItems"), lookup(p.after, "additionalItems"))
	case !isArray && !isArrayNow:
		d.subschema(at, p)
	default:
		d.report(at, d.unlessEvaluated(p.presence()), p.what())
	}
}

func (d *differ) prefixItems(at place, p pair) {
	before, isArray := p.older.([]any)
	after, isArrayNow := p.newer.([]any)
	switch {
	case !isArray && !p.added(), !isArrayNow && !p.removed():
		d.report(at, Changed, p.what())
	case len(before)+len(after) == 0:
		d.report(at, Text, p.what())
	default:
		d.tuple(at, before, after, lookup(p.before, "items"), lookup(p.after, "items"))
	}
}

// tuple compares schemas by position. What has no schema of its own on one side is
// judged there by the rest.
func (d *differ) tuple(at place, before, after []any, rest, restNow any) {
	for i := range max(len(before), len(after)) {
		item := at.down(strconv.Itoa(i))
		switch {
		case i >= len(before):
			d.report(item, d.unlessEvaluated(d.relation(item, orTrue(rest), after[i])), "item schema added: "+show(after[i]))
		case i >= len(after):
			item.gone = true
			d.report(item, d.unlessEvaluated(d.relation(item, before[i], orTrue(restNow))), "item schema removed (was "+show(before[i])+")")
		default:
			d.schema(item, before[i], after[i])
		}
	}
}

// dependents is for dependentRequired, dependentSchemas and dependencies, whose values
// are arrays of names, schemas, or either.
func (d *differ) dependents(at place, p pair) {
	d.members(at, p, func(at place, m pair) {
		_, okNames := names(m.present())
		_, listed := names(m.older)
		_, listedNow := names(m.newer)
		switch {
		case (m.added() || m.removed()) && okNames:
			d.report(at, m.presence(), "dependency "+m.what())
		case (m.added() || m.removed()) && isSchema(m.present()):
			d.report(at, d.unlessEvaluated(m.presence()), "dependency "+m.what())
		case listed && listedNow:
			d.required(at, m, "dependency "+label(m.key))
		case isSchema(m.older) && isSchema(m.newer):
			d.schema(at, m.older, m.newer)
		default:
			d.report(at, Changed, "dependency "+m.what())
		}
	})
}

// definitions act where a $ref names them, wherever they stand.
func (d *differ) definitions(at place, p pair) {
	at.sense = asIs
	if d.negated {
		at.sense = unsure
	}
	d.members(at, p, func(at place, m pair) {
		switch {
		case !m.added() && !m.removed():
			d.schema(at, m.older, m.newer)
		case d.refersTo(m.key):
			d.report(at, Changed, "definition "+m.what())
		default:
			d.report(at, Text, "definition "+m.what()+"; nothing refers to it")
		}
	})
}
