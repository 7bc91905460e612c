// Package schemagen is test support: it makes payloads for a JSON Schema that are
// valid by construction, and payloads with one damage that makes them invalid by
// construction. No validator is asked, so the verdict on a payload can be used to
// test one. It imports nothing of this project, and no program may import it.
package schemagen

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Generator makes payloads for one schema document. Two generators of the same
// document and seed make the same payloads in the same order.
type Generator struct {
	doc  document
	rand *rand.Rand
}

// Damaged is a payload that its schema refuses, for the one reason given. Payloads may
// share memory with each other and with the schema: encode them, do not change them.
type Damaged struct {
	Payload any
	Path    string // RFC 6901 pointer of the damage; for a missing property, the path it would have
	Kind    string // one of the Kind constants
}

// trials is how many payloads New makes to learn that a document can be generated for.
const trials = 40

// New returns a generator for a decoded schema document: map[string]any, []any,
// json.Number, string, bool and nil. Draft 7 and 2020-12 are understood. The error
// names the first keyword that it cannot generate for, with its pointer, or the
// place for which no payload is valid for certain.
func New(schema any, seed uint64) (*Generator, error) {
	g := &Generator{doc: document{root: schema}, rand: rand.New(rand.NewPCG(seed, 0))}
	if err := g.doc.check(); err != nil {
		return nil, err
	}
	trial := &Generator{doc: g.doc, rand: rand.New(rand.NewPCG(seed, 1))}
	for i := range trials {
		if _, err := trial.build(i % modes); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// document is a schema with what its dialect says.
type document struct {
	root   any
	legacy bool // draft 7: no prefixItems, and $ref hides the keywords beside it
}

// Keywords by what their value holds. Any other keyword is refused by check.
var (
	annotations = []string{"$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default",
		"examples", "deprecated", "readOnly", "writeOnly"}
	numeric = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "minItems", "maxItems"}
	single = []string{"items", "additionalProperties", "propertyNames"}
	lists  = []string{"prefixItems", "anyOf", "oneOf", "allOf"}
)

func (d *document) check() error {
	if root, ok := d.root.(map[string]any); ok {
		switch dialect, _ := root["$schema"].(string); strings.TrimSuffix(dialect, "#") {
		case "", "https://json-schema.org/draft/2020-12/schema":
		case "http://json-schema.org/draft-07/schema":
			d.legacy = true
		default:
			return fmt.Errorf("at /$schema: cannot generate for %s", dialect)
		}
	}
	return d.checkSchema(d.root, nil, map[string]bool{})
}

// checkSchema looks at the schemas that a payload can meet, in the order of their keywords.
func (d *document) checkSchema(s any, at []string, seen map[string]bool) error {
	if seen[pointer(at)] {
		return nil
	}
	seen[pointer(at)] = true
	kw, ok := s.(map[string]any)
	if _, isBool := s.(bool); isBool {
		return nil
	} else if !ok {
		return fmt.Errorf("at %s: not a schema", pointer(at))
	}
	for _, k := range slices.Sorted(maps.Keys(kw)) {
		if err := d.checkKeyword(kw, k, at, seen); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) checkKeyword(kw map[string]any, k string, at []string, seen map[string]bool) error {
	v, here := kw[k], child(at, k)
	members, _ := v.(map[string]any)
	elements, isList := v.([]any)
	text, _ := v.(string)
	bad := fmt.Errorf("at %s: cannot generate for %s", pointer(here), k)
	switch {
	case k == "$id" && len(at) > 0, k == "prefixItems" && d.legacy:
		return bad
	case slices.Contains(annotations, k), k == "const", k == "uniqueItems":
	case slices.Contains(numeric, k):
		if _, ok := v.(json.Number); !ok {
			return bad
		}
	case slices.Contains(single, k):
		return d.checkSchema(v, here, seen)
	case slices.Contains(lists, k) && len(elements) > 0:
		for i, e := range elements {
			if err := d.checkSchema(e, child(here, strconv.Itoa(i)), seen); err != nil {
				return err
			}
		}
	case k == "properties" && members != nil:
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if err := d.checkSchema(members[name], child(here, name), seen); err != nil {
				return err
			}
		}
	case k == "$ref":
		target, path, err := d.target(text)
		if err != nil {
			return fmt.Errorf("at %s: %w", pointer(here), err)
		}
		for beside := range kw {
			if d.legacy && beside != k && !slices.Contains(annotations, beside) {
				return bad
			}
		}
		return d.checkSchema(target, path, seen)
	case k == "type":
		for _, t := range asList(v) {
			if !slices.Contains(types, t) {
				return bad
			}
		}
	case (k == "enum" || k == "required") && isList:
	case k == "pattern" && patterns[text].fit != nil:
	case k == "format" && formats[text] != nil:
	default:
		return bad
	}
	return nil
}

func (d *document) target(ref string) (any, []string, error) {
	if ref == "#" {
		return d.root, nil, nil
	}
	if !strings.HasPrefix(ref, "#/") {
		return nil, nil, fmt.Errorf("cannot follow %q", ref)
	}
	var path []string
	for _, token := range strings.Split(ref[2:], "/") {
		path = append(path, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	if s, ok := lookup(d.root, path); ok {
		return s, path, nil
	}
	return nil, nil, fmt.Errorf("%q leads nowhere", ref)
}

// errNever is for schemas that no value fits.
var errNever = errors.New("no value fits")
