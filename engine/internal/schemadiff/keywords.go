package schemadiff

import (
	"encoding/json"
	"strings"
)

// pair is a keyword with its value in each schema, and the keywords beside it.
type pair struct {
	key           string
	older, newer  any
	before, after map[string]any
}

func (p pair) added() bool   { return isAbsent(p.older) }
func (p pair) removed() bool { return isAbsent(p.newer) }

// what says the change of the values in plain words.
func (p pair) what() string {
	switch {
	case p.added():
		return label(p.key) + " added: " + show(p.newer)
	case p.removed():
		return label(p.key) + " removed (was " + show(p.older) + ")"
	default:
		return label(p.key) + " changed from " + show(p.older) + " to " + show(p.newer)
	}
}

// presence is the severity of a constraint that has come or gone.
func (p pair) presence() Severity {
	switch {
	case p.added():
		return Narrowed
	case p.removed():
		return Widened
	default:
		return Changed
	}
}

// present returns the value of a keyword that has come or gone.
func (p pair) present() any {
	if p.added() {
		return p.newer
	}
	return p.older
}

// isAnnotation says that a keyword is for readers only and refuses nothing.
func isAnnotation(key string) bool {
	switch key {
	case "title", "description", "examples", "default", "$comment", "deprecated", "readOnly", "writeOnly":
		return true
	}
	return strings.HasPrefix(key, "x-")
}

// keyword judges a keyword whose values are not Equal. It reports at least one change.
func (d *differ) keyword(at place, p pair) {
	switch p.key {
	case "type":
		d.types(at, p)
	case "enum":
		d.enum(at, p)
	case "const":
		d.report(at, p.presence(), p.what())
	case "required":
		d.required(at, p, p.key)
	case "pattern", "format":
		d.text(at, p)
	case "uniqueItems":
		d.uniqueItems(at, p)
	case "multipleOf":
		d.multipleOf(at, p)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
		d.bound(at, p, Widened)
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains":
		d.bound(at, p, Narrowed)
	case "properties", "patternProperties":
		d.properties(at, p)
	case "additionalProperties", "additionalItems", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		d.subschema(at, p)
	case "items":
		d.items(at, p)
	case "prefixItems":
		d.prefixItems(at, p)
	case "contains":
		d.contains(at, p)
	case "not":
		d.constraint(at, p, p.presence(), flipped)
	case "if", "then", "else":
		d.constraint(at, p, Changed, unsure)
	case "allOf", "anyOf", "oneOf":
		d.branches(at, p)
	case "dependentRequired", "dependentSchemas", "dependencies":
		d.dependents(at, p)
	case "$defs", "definitions":
		d.definitions(at, p)
	default:
		d.other(at, p)
	}
}

// other is for the keywords that no rule compares.
func (d *differ) other(at place, p pair) {
	switch {
	case isAnnotation(p.key) && d.loose && (isStructured(p.older) || isStructured(p.newer)):
		d.report(at, Changed, p.what()) // a $ref may take a part of it for a schema
	case isAnnotation(p.key):
		d.report(at, Text, p.what())
	case untellable[p.key], p.key == "timeoutSeconds" && at.depth == 1:
		d.report(at, Changed, p.what())
	default:
		d.report(at, Changed, "unknown keyword "+p.what())
	}
}

// Keywords of JSON Schema whose values say nothing to one who does not follow them.
var untellable = map[string]bool{
	"$schema": true, "$id": true, "id": true, "$anchor": true, "$dynamicAnchor": true, "$recursiveAnchor": true,
	"$ref": true, "$dynamicRef": true, "$recursiveRef": true, "$vocabulary": true,
	"contentEncoding": true, "contentMediaType": true, "contentSchema": true,
}

func isStructured(value any) bool {
	_, isArray := value.([]any)
	return isArray || isSchema(value)
}

func (d *differ) types(at place, p pair) {
	before, after := typeSet(p.older), typeSet(p.newer)
	severity := p.presence()
	switch {
	case before == nil && !p.added(), after == nil && !p.removed():
		severity = Changed
	case p.added() || p.removed():
	case contains(after, before) && contains(before, after):
		severity = Text
	case contains(after, before):
		severity = Widened
	case contains(before, after):
		severity = Narrowed
	}
	d.report(at, severity, p.what())
}

// typeSet returns the types that a value of "type" names, or nil if it is not valid.
func typeSet(value any) map[string]bool {
	names, isArray := value.([]any)
	if !isArray {
		names = []any{value}
	}
	set := map[string]bool{}
	for _, name := range names {
		switch name {
		case "number":
			set["number"], set["integer"] = true, true
		case "integer", "string", "boolean", "null", "array", "object":
			set[name.(string)] = true
		default:
			return nil
		}
	}
	if len(set) == 0 {
		return nil
	}
	return set
}

func contains(set, subset map[string]bool) bool {
	for name := range subset {
		if !set[name] {
			return false
		}
	}
	return true
}

func (d *differ) enum(at place, p pair) {
	before, isArray := p.older.([]any)
	after, isArrayNow := p.newer.([]any)
	switch {
	case isArray && isArrayNow:
		d.sets(at, p, before, after, Widened, "enum also allows ", "enum no longer allows ")
	case p.added() && isArrayNow:
		d.report(at, Narrowed, "enum added: "+showAll(after))
	case p.removed() && isArray:
		d.report(at, Widened, "enum removed (was "+showAll(before)+")")
	default:
		d.report(at, Changed, p.what())
	}
}

// required compares two arrays of names; an absent one has none.
func (d *differ) required(at place, p pair, subject string) {
	before, ok := names(p.older)
	after, okNow := names(p.newer)
	if !ok || !okNow {
		d.report(at, Changed, p.what())
		return
	}
	d.sets(at, p, before, after, Narrowed, subject+" now lists ", subject+" no longer lists ")
}

func names(value any) ([]any, bool) {
	list, ok := value.([]any)
	for _, name := range list {
		if _, isText := name.(string); !isText {
			return nil, false
		}
	}
	return list, ok || isAbsent(value)
}

// sets compares two arrays whose order is of no account. What comes in has the given
// severity, what goes out the opposite one.
func (d *differ) sets(at place, p pair, before, after []any, incoming Severity, more, less string) {
	in, out := without(after, before), without(before, after)
	if len(in) > 0 {
		d.report(at, incoming, more+showAll(in))
	}
	if len(out) > 0 {
		d.report(at, flip(incoming), less+showAll(out))
	}
	switch {
	case len(in)+len(out) > 0:
	case p.added() || p.removed():
		d.report(at, Text, p.what())
	default:
		d.report(at, Text, label(p.key)+" lists the same in another way")
	}
}

// without returns the values of a list that another one lacks, each once.
func without(list, other []any) (rest []any) {
	seen := map[string]bool{}
	for _, value := range other {
		seen[canonical(value)] = true
	}
	for _, value := range list {
		if key := canonical(value); !seen[key] {
			seen[key] = true
			rest = append(rest, value)
		}
	}
	return rest
}

// text is for pattern and format.
func (d *differ) text(at place, p pair) {
	severity := p.presence()
	if _, ok := p.present().(string); !ok {
		severity = Changed
	}
	d.report(at, severity, p.what())
}

func (d *differ) uniqueItems(at place, p pair) {
	before, ok := p.older.(bool)
	after, okNow := p.newer.(bool)
	severity := Text
	switch {
	case !ok && !p.added(), !okNow && !p.removed():
		severity = Changed
	case after && !before:
		severity = Narrowed
	case before && !after:
		severity = Widened
	}
	d.report(at, severity, p.what())
}

// What a bound is where it is absent, if that is a number.
var absentBounds = map[string]json.Number{"minLength": "0", "minItems": "0", "minProperties": "0", "minContains": "1"}

// bound compares two numbers; raised is the severity of a greater one.
func (d *differ) bound(at place, p pair, raised Severity) {
	standard, hasStandard := absentBounds[p.key]
	if (p.added() || p.removed()) && !hasStandard {
		severity := p.presence()
		if _, ok := p.present().(json.Number); !ok {
			severity = Changed
		}
		d.report(at, severity, p.what())
		return
	}
	older, newer := p.older, p.newer
	if p.added() {
		older = standard
	}
	if p.removed() {
		newer = standard
	}
	before, after := rational(older), rational(newer)
	if before == nil || after == nil {
		d.report(at, Changed, p.what())
		return
	}
	severity, verb := Text, ""
	switch before.Cmp(after) {
	case -1:
		severity, verb = raised, " raised from "
	case 1:
		severity, verb = flip(raised), " lowered from "
	}
	what := p.what()
	if !p.added() && !p.removed() {
		what = p.key + verb + show(p.older) + " to " + show(p.newer)
	}
	d.report(at, severity, what)
}

func (d *differ) multipleOf(at place, p pair) {
	before, after := rational(p.older), rational(p.newer)
	severity := p.presence()
	switch {
	case before != nil && before.Sign() <= 0, after != nil && after.Sign() <= 0,
		before == nil && !p.added(), after == nil && !p.removed():
		severity = Changed
	case p.added() || p.removed():
	case after.Mul(after, before.Inv(before)).IsInt():
		severity = Narrowed
	case after.Inv(after).IsInt():
		severity = Widened
	}
	d.report(at, severity, p.what())
}
