package config

import (
	"maps"
	"slices"
	"strings"
)

// shape is what may stand at one place of the file: an option, or an object of shapes.
type shape struct {
	key     string  // such as "engine.leniency", "upstreams[]"; "" for the whole file
	option  *Option // nil for an object
	object  object
	list    bool // the value is a list of such objects
	members map[string]*shape
	names   []string // of members, in order
}

// root is the shape of the file.
var root = func() *shape {
	whole := newShape("")
	for _, o := range table {
		at := whole
		parts := strings.Split(o.Key, ".")
		for i, part := range parts {
			name, list := strings.CutSuffix(part, "[]")
			next := at.members[name]
			if next == nil {
				next = newShape(strings.Join(parts[:i+1], "."))
				next.list = list
				at.members[name] = next
				at.names = append(at.names, name)
			}
			at = next
		}
		at.option = o
	}
	return whole
}()

func newShape(key string) *shape {
	return &shape{key: key, object: objects[key], members: map[string]*shape{}}
}

// home returns the key of another object that has a member of this name, "" where
// there is none.
func home(name string, at *shape) string {
	for _, o := range table {
		if o.member() == name && strings.TrimSuffix(o.Key, "."+name) != at.key {
			return strings.TrimSuffix(o.Key, "."+name)
		}
	}
	for key := range objects {
		if i := strings.LastIndexByte(key, '.'); i >= 0 && key[i+1:] == name && key[:i] != at.key {
			return key[:i]
		}
	}
	return ""
}

// broken is a member that is missing, or that must not be there.
type broken struct {
	member  string // where to point, "" for the object
	problem string
	remedy  string
}

// check applies the rules of the object to the names of the members that it has.
func (o object) check(has func(member string) bool) []broken {
	var found []broken
	for _, member := range o.required {
		if !has(member) {
			found = append(found, broken{problem: "needs " + member})
		}
	}
	if len(o.exactlyOne) > 0 {
		given := slices.DeleteFunc(slices.Clone(o.exactlyOne), func(member string) bool { return !has(member) })
		switch len(given) {
		case 0:
			found = append(found, broken{problem: "needs either " + strings.Join(o.exactlyOne, " or ")})
		case 1:
		default:
			found = append(found, broken{member: given[1], problem: "cannot stand beside " + given[0], remedy: "choose one"})
		}
	}
	for _, member := range sortedKeys(o.needs) {
		if has(member) && !has(o.needs[member]) {
			found = append(found, broken{member: member, problem: "has no meaning without " + o.needs[member]})
		}
	}
	return found
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
