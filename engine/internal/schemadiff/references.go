package schemadiff

import (
	"net/url"
	"strings"
)

// references are the facts about two whole documents that decide how far a change
// can be judged where it stands.
type references struct {
	named   map[string]bool // the definitions that a $ref names
	beyond  bool            // some reference may reach a definition in another way
	negated bool            // some reference is below "not", "oneOf" and the like
	outside bool            // some reference leads to another place than a definition
	loose   bool            // some reference counts on the place of an item or on an annotation

	unevaluated int  // most uses of unevaluatedProperties and unevaluatedItems in a document
	untold      bool // a change anywhere may act where it is negated
}

// Keywords whose members are named by the author, so that a name is no keyword.
var namedSchemas = map[string]bool{
	"properties": true, "patternProperties": true, "$defs": true, "definitions": true,
	"dependentSchemas": true, "dependencies": true, "dependentRequired": true,
}

// Keywords with one schema, which accepts less when its schema does.
var positive = map[string]bool{
	"items": true, "additionalProperties": true, "additionalItems": true, "propertyNames": true,
}

func survey(documents ...any) references {
	r := references{named: map[string]bool{}}
	most := 0
	for _, document := range documents {
		r.unevaluated = 0
		r.walk(document, false)
		most = max(most, r.unevaluated)
	}
	r.unevaluated = most
	r.untold = r.loose || r.negated && r.outside
	return r
}

// walk takes everything for a schema, data too: more references make a judgement
// more careful, never wrong.
func (r *references) walk(value any, negated bool) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			r.walk(item, negated)
		}
	case map[string]any:
		_, counted := v["maxContains"]
		for key, item := range v {
			members, isMap := item.(map[string]any)
			target, isText := item.(string)
			switch {
			case namedSchemas[key] && isMap:
				for _, member := range members {
					r.walk(member, negated)
				}
				continue
			case (key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef") && isText:
				r.negated = r.negated || negated
				r.target(target)
			case key == "unevaluatedProperties" || key == "unevaluatedItems":
				r.unevaluated++
			}
			r.walk(item, negated || key == "not" || key == "oneOf" || key == "if" || key == "contains" && counted)
		}
	}
}

// target notes where a reference leads.
func (r *references) target(reference string) {
	base, fragment, _ := strings.Cut(reference, "#")
	if base == "" && fragment == "" {
		r.outside = true
		return
	}
	decoded, err := url.PathUnescape(fragment)
	if err != nil || !strings.HasPrefix(decoded, "/") {
		r.outside, r.beyond = true, true // an anchor, or another document
		return
	}
	segments := strings.Split(decoded[1:], "/")
	for i, segment := range segments {
		segments[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(segment)
	}
	if base == "" && len(segments) == 2 && (segments[0] == "$defs" || segments[0] == "definitions") {
		r.named[segments[1]] = true
		return
	}
	r.outside, r.beyond = true, true
	for i := 0; i < len(segments); i++ {
		switch {
		case namedSchemas[segments[i]]:
			i++
		case !positive[segments[i]]:
			r.loose = true
		}
	}
}

// refersTo says whether a $ref of either document may lead to the definition.
func (r *references) refersTo(definition string) bool {
	return r.beyond || r.named[definition]
}
