package schemagen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// union is an anyOf or oneOf.
type union struct {
	one      bool
	branches []any
}

// flat returns the keywords of a schema, and of all that it refers to or combines,
// as one schema without $ref and allOf; its unions come separately.
func (d *document) flat(s any, depth int) (map[string]any, []union, error) {
	if depth > 32 {
		return nil, nil, fmt.Errorf("$ref leads back to itself")
	}
	if b, ok := s.(bool); ok {
		if !b {
			return nil, nil, errNever
		}
		return map[string]any{}, nil, nil
	}
	kw, unions := map[string]any{}, []union(nil)
	var parts []any
	source := s.(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(source)) {
		switch v := source[k]; {
		case k == "$ref":
			target, _, err := d.target(v.(string))
			if err != nil {
				return nil, nil, err
			}
			parts = append(parts, target)
		case k == "allOf":
			parts = append(parts, v.([]any)...)
		case k != "anyOf" && k != "oneOf" && !slices.Contains(annotations, k):
			kw[k] = v
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if branches, ok := source[k].([]any); ok {
			unions = append(unions, union{k == "oneOf", branches})
		}
	}
	for _, part := range parts {
		more, inner, err := d.flat(part, depth+1)
		if err != nil {
			return nil, nil, err
		}
		if kw, err = meet(kw, more); err != nil {
			return nil, nil, err
		}
		unions = append(unions, inner...)
	}
	return kw, unions, nil
}

// meet returns the keywords that ask for what a and b ask for.
func meet(a, b map[string]any) (map[string]any, error) {
	out := maps.Clone(a)
	for _, k := range slices.Sorted(maps.Keys(b)) {
		old, both := a[k]
		switch {
		case k == "properties", k == "additionalProperties":
		case !both:
			out[k] = b[k]
		case equal(old, b[k]):
		case k == "required":
			out[k] = slices.Concat(old.([]any), b[k].([]any))
		case k == "uniqueItems":
			out[k] = true
		case k == "items", k == "propertyNames":
			out[k] = conjunction(old, b[k])
		case k == "minimum", k == "exclusiveMinimum", k == "minLength", k == "minItems":
			out[k] = larger(old, b[k], 1)
		case k == "maximum", k == "exclusiveMaximum", k == "maxLength", k == "maxItems":
			out[k] = larger(old, b[k], -1)
		case k == "type", k == "enum":
			var common []any
			for _, v := range asList(old) {
				if contains(asList(b[k]), v) || k == "type" && v == "integer" && contains(asList(b[k]), "number") {
					common = append(common, v)
				} else if k == "type" && v == "number" && contains(asList(b[k]), "integer") {
					common = append(common, "integer")
				}
			}
			if len(common) == 0 {
				return nil, errNever
			}
			out[k] = common
		case k == "const":
			return nil, errNever
		default:
			return nil, fmt.Errorf("cannot merge two values of %s", k)
		}
	}
	if _, tuple := out["prefixItems"]; tuple && (a["prefixItems"] != nil || a["items"] != nil) && (b["prefixItems"] != nil || b["items"] != nil) {
		return nil, fmt.Errorf("cannot merge prefixItems")
	}
	meetProperties(out, a, b)
	return out, nil
}

// meetProperties lets the additionalProperties of one side rule the properties that only the other names.
func meetProperties(out, a, b map[string]any) {
	pa, _ := a["properties"].(map[string]any)
	pb, _ := b["properties"].(map[string]any)
	restA, hasA := a["additionalProperties"]
	restB, hasB := b["additionalProperties"]
	properties := map[string]any{}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(pa)), slices.Collect(maps.Keys(pb))) {
		sa, namedA := pa[name]
		sb, namedB := pb[name]
		switch {
		case namedA && namedB:
			properties[name] = conjunction(sa, sb)
		case namedA && hasB:
			properties[name] = conjunction(sa, restB)
		case namedA:
			properties[name] = sa
		case hasA:
			properties[name] = conjunction(sb, restA)
		default:
			properties[name] = sb
		}
	}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	if hasA && hasB {
		out["additionalProperties"] = conjunction(restA, restB)
	} else if hasB {
		out["additionalProperties"] = restB
	}
}

// conjunction is the schema that asks for what two schemas ask for.
func conjunction(a, b any) any {
	switch {
	case equal(a, b), b == true, a == false:
		return a
	case a == true, b == false:
		return b
	}
	return map[string]any{"allOf": []any{a, b}}
}

func larger(a, b any, sign int) any {
	if rat(a.(json.Number)).Cmp(rat(b.(json.Number)))*sign > 0 {
		return a
	}
	return b
}

// refuses says that a schema certainly refuses a value. It looks at few keywords; false
// means "not known", never "accepts".
func (d *document) refuses(s any, v any, depth int) bool {
	kw, ok := s.(map[string]any)
	if !ok || depth > 64 {
		return s == false
	}
	every := func(list any) bool {
		branches, ok := list.([]any)
		return ok && !slices.ContainsFunc(branches, func(b any) bool { return !d.refuses(b, v, depth+1) })
	}
	parts, _ := kw["allOf"].([]any)
	if ref, ok := kw["$ref"].(string); ok {
		if target, _, err := d.target(ref); err == nil {
			parts = append(slices.Clone(parts), target)
		}
	}
	if slices.ContainsFunc(parts, func(p any) bool { return d.refuses(p, v, depth+1) }) || every(kw["anyOf"]) || every(kw["oneOf"]) {
		return true
	}
	if t, ok := kw["type"]; ok && !hasType(v, asList(t)) {
		return true
	}
	if members, ok := kw["enum"].([]any); ok && !contains(members, v) {
		return true
	}
	if c, ok := kw["const"]; ok && !equal(c, v) {
		return true
	}
	switch v := v.(type) {
	case []any:
		items, ok := kw["items"]
		return ok && kw["prefixItems"] == nil && slices.ContainsFunc(v, func(e any) bool { return d.refuses(items, e, depth+1) })
	case map[string]any:
		return d.refusesMembers(kw, v, depth)
	}
	return false
}

func (d *document) refusesMembers(kw, v map[string]any, depth int) bool {
	required, _ := kw["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return true
		}
	}
	properties, _ := kw["properties"].(map[string]any)
	rest, closed := kw["additionalProperties"]
	for name, member := range v {
		if s, named := properties[name]; named && d.refuses(s, member, depth+1) || !named && closed && d.refuses(rest, member, depth+1) {
			return true
		}
	}
	return false
}
