package schema

import (
	"net/url"
	"strings"
)

// resource is a part of the document with a URL of its own, which references
// within it are relative to.
type resource struct {
	url     *url.URL
	at      string // pointer to it
	anchors map[string]bool
}

// reference is one $ref, or a relative of it.
type reference struct {
	at, text string
	from     *resource
	url      string // what it resolves to, with a plain fragment
	target   string // pointer into this document, if it is one
}

// enter returns the resource that the schema object belongs to, and registers
// what can be referred to.
func (found *survey) enter(object map[string]any, at string, within *resource) *resource {
	if _, refers := object["$ref"]; refers && found.draft <= Draft7 {
		return within // everything beside it is ignored
	}
	word := found.idWord()
	id, _ := object[word].(string)
	path, fragment, _ := strings.Cut(id, "#")
	if path != "" {
		parsed, err := within.url.Parse(path)
		if err != nil {
			found.refuse(at+"/"+word, noURL, "")
			return within
		}
		within = &resource{url: parsed, at: at, anchors: map[string]bool{}}
		if _, taken := found.resources[parsed.String()]; !taken { // else the validator refuses
			found.resources[parsed.String()] = within
		}
	}
	if found.draft <= Draft7 && fragment != "" {
		within.anchors[fragment] = true
	}
	if anchor, ok := object["$anchor"].(string); ok && found.draft >= Draft2019 {
		within.anchors[anchor] = true
	}
	// A dynamic reference may lead to it from where it names another.
	if anchor, ok := object["$dynamicAnchor"].(string); ok && found.draft >= Draft2020 {
		within.anchors[anchor] = true
		found.detached = append(found.detached, at)
	}
	return within
}

// idWord returns what the draft calls $id.
func (found *survey) idWord() string {
	if found.draft == Draft4 {
		return "id"
	}
	return "$id"
}

// followReferences resolves all references, and looks at the schemas that stand
// where only a reference says so.
func (found *survey) followReferences() {
	for i := 0; i < len(found.references); i++ { // the list grows on the way
		ref := found.references[i]
		if !found.resolve(ref) {
			continue
		}
		value := valueAt(found.document, tokensOf(ref.target))
		if _, missing := value.(absent); missing {
			found.faults = append(found.faults, found.dangles(ref))
		} else if !found.seen[ref.target] {
			found.schema(value, ref.target, found.resourceOf(ref.target))
		}
	}
}

// resolve sets url and target of ref, and reports whether it has a target that is
// a pointer into the document.
func (found *survey) resolve(ref *reference) bool {
	path, fragment, _ := strings.Cut(ref.text, "#")
	relative, err := url.Parse(path)
	fragment, err2 := url.PathUnescape(fragment)
	if err != nil || err2 != nil {
		found.refuse(ref.at, noURL, "")
		return false
	}
	resolved := ref.from.url.ResolveReference(relative)
	ref.url = resolved.String() + "#" + fragment
	target := found.resources[resolved.String()]
	switch {
	case path == "":
		target = ref.from
	case ref.from.url.Opaque != "" && !relative.IsAbs():
		// The validator takes it for the document itself, whatever it names.
		ref.url = ""
		found.faults = append(found.faults, found.fetches(ref))
		return false
	case target == nil:
		if resolved.Host != "json-schema.org" { // the validator has the metaschemas
			found.faults = append(found.faults, found.fetches(ref))
		}
		return false
	}
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		ref.target = target.at + fragment
		return true
	}
	if !target.anchors[fragment] {
		found.faults = append(found.faults, found.dangles(ref))
	}
	return false
}

// resourceOf returns the innermost resource around a pointer.
func (found *survey) resourceOf(at string) *resource {
	innermost := found.resources[baseURL(found.tool)]
	for _, r := range found.resources {
		if (at == r.at || strings.HasPrefix(at, r.at+"/")) && len(r.at) > len(innermost.at) {
			innermost = r
		}
	}
	return innermost
}

// referenceTo returns the first reference to a URL that the validator names.
func (found *survey) referenceTo(target string) *reference {
	path, fragment, hasFragment := strings.Cut(target, "#")
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	for _, ref := range found.references {
		to, _, _ := strings.Cut(ref.url, "#")
		if ref.url == path+"#"+fragment || ref.url == "" && strings.HasPrefix(ref.text, path) || !hasFragment && to == path ||
			ref.target != "" && path == baseURL(found.tool) && ref.target == fragment {
			return ref
		}
	}
	return &reference{text: target}
}

func (found *survey) fetches(ref *reference) *CompileError {
	shown := ref.text
	if full, _ := url.Parse(ref.url); full != nil && full.Scheme != "" && full.Scheme != "sallyport" {
		shown = ref.url[:strings.IndexByte(ref.url, '#')]
	}
	return found.fault(ref.at, "refers to "+quote(shown, 120)+", and nothing is ever fetched", "copy what it refers to into this document")
}

func (found *survey) dangles(ref *reference) *CompileError {
	return found.fault(ref.at, "refers to "+quote(ref.text, 120)+", which is not in this document", "correct it, or add what it refers to")
}
