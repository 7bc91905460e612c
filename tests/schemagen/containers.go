package schemagen

import (
	"errors"
	"maps"
	"slices"
	"strconv"
)

func (b *builder) array(kw map[string]any, path []string, open []openUnion) (any, error) {
	least, most := count(kw, "minItems", 0), count(kw, "maxItems", -1)
	n := least
	if !b.calm(path) {
		n += b.rand.IntN(4)
		if b.mode == full {
			n = max(n, 1)
		}
		if most >= 0 && (n > most || most <= 64 && b.rand.IntN(4) == 0) {
			n = most
		}
	}
	if prefix, _ := kw["prefixItems"].([]any); kw["items"] == false {
		n = min(n, len(prefix))
	}
	if n > maxLength || n < least {
		return nil, b.fail(path, errors.New("cannot generate for minItems"))
	}
	list := []any{}
	for len(list) < n {
		v, err := b.item(kw, list, path, open)
		if errors.Is(err, errNever) && len(list) >= least {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// item makes the value that may follow those of a list.
func (b *builder) item(kw map[string]any, list []any, path []string, open []openUnion) (any, error) {
	s, here := any(true), child(path, strconv.Itoa(len(list)))
	if prefix, _ := kw["prefixItems"].([]any); len(list) < len(prefix) {
		s = prefix[len(list)]
	} else if items, ok := kw["items"]; ok {
		s = items
	}
	known := len(b.places)
	for range attempts {
		v, err := b.value(s, here, open)
		if err != nil || kw["uniqueItems"] != true || !contains(list, v) {
			return v, err
		}
		b.places = b.places[:known]
	}
	return nil, b.fail(here, errNever)
}

func (b *builder) object(kw map[string]any, path []string, open []openUnion) (any, error) {
	properties, _ := kw["properties"].(map[string]any)
	required, _ := kw["required"].([]any)
	names := slices.AppendSeq([]string(nil), maps.Keys(properties))
	for _, name := range required {
		if _, named := properties[name.(string)]; !named {
			names = append(names, name.(string))
		}
	}
	slices.Sort(names)
	object := map[string]any{}
	for _, name := range slices.Compact(names) {
		s, named := properties[name]
		if !named {
			s = restOf(kw)
		}
		must := slices.Contains(required, any(name))
		if !must && (s == false || b.calm(path) || b.mode == mixed && b.rand.IntN(2) == 0) {
			continue
		}
		v, err := b.value(s, child(path, name), open)
		if errors.Is(err, errNever) && !must {
			continue
		} else if err != nil {
			return nil, err
		}
		object[name] = v
	}
	if namesAsk(kw) && len(names) > 0 {
		return nil, b.fail(path, errors.New("cannot generate for propertyNames beside properties"))
	}
	return object, b.extras(object, kw, path, open)
}

// extras adds members that the schema does not name, where it lets it.
func (b *builder) extras(object, kw map[string]any, path []string, open []openUnion) error {
	rest := restOf(kw)
	_, asks := rest.(map[string]any)
	if rest == false || b.calm(path) || !asks && b.rand.IntN(4) > 0 {
		return nil
	}
	for range 1 + b.rand.IntN(2) {
		name := []string{"x-extra", "Größe", "a/b~c", "extra_1"}[b.rand.IntN(4)]
		if namesAsk(kw) {
			flat, unions, err := b.doc.flat(kw["propertyNames"], 0)
			if err != nil || len(unions) > 0 {
				return b.fail(path, errors.New("cannot generate for this propertyNames"))
			}
			flat["type"] = "string"
			v, err := b.fit(flat, path, nil)
			if err != nil {
				return err
			}
			name = v.(string)
		}
		if _, taken := object[name]; taken || hasKey(kw["properties"], name) {
			continue
		}
		v, err := b.value(rest, child(path, name), open)
		if err != nil {
			return err
		}
		object[name] = v
	}
	return nil
}

func hasKey(properties any, name string) bool {
	m, _ := properties.(map[string]any)
	_, ok := m[name]
	return ok
}

// restOf is the schema of the members that are not named.
func restOf(kw map[string]any) any {
	if rest, ok := kw["additionalProperties"]; ok {
		return rest
	}
	return true
}

// namesAsk says whether propertyNames asks for more than a string.
func namesAsk(kw map[string]any) bool {
	s, ok := kw["propertyNames"]
	return ok && s != true && !equal(s, map[string]any{"type": "string"})
}
