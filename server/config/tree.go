package config

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// object reads an object of the file into the settings.
func (r *reader) object(n *yaml.Node, s *shape, key string, into map[string]setting) {
	pairs, ok := r.pairs(n, key)
	if !ok {
		return
	}
	places := map[string]*yaml.Node{}
	for _, p := range pairs {
		member := s.members[p.name]
		if member == nil {
			r.unknown(p.node, key, p.name, s)
			continue
		}
		places[p.name] = p.node
		r.value(p.value, member, join(key, p.name), into)
	}
	for _, b := range s.object.check(func(member string) bool { return places[member] != nil }) {
		r.refuse(cmp.Or(places[b.member], n), join(key, b.member), b.problem, b.remedy)
	}
}

func join(key, member string) string { return strings.Trim(key+"."+member, ".") }

// unknown reports a key that there is not, with the one that was likely meant.
func (r *reader) unknown(n *yaml.Node, key, name string, s *shape) {
	remedy := "the keys here are " + strings.Join(s.names, ", ")
	if where := home(name, s); where != "" {
		remedy = "it belongs into " + where
	} else if near := nearest(name, s.names); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	r.refuse(n, key, "unknown key "+quoted(name), remedy)
}

// pair is one member of an object.
type pair struct {
	name        string
	node, value *yaml.Node // node is the key
}

// pairs returns the members of an object. A key that is there twice is reported, and
// counts once.
func (r *reader) pairs(n *yaml.Node, key string) ([]pair, bool) {
	if n.Kind != yaml.MappingNode {
		r.wrongType(n, key, "an object")
		return nil, false
	}
	var found []pair
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if name.Kind != yaml.ScalarNode || name.ShortTag() != "!!str" {
			r.refuseYAML(name, key, "has a key that is no string", "put it in quotes, if it is meant")
			continue
		}
		if first := seen[name.Value]; first != nil {
			r.refuseYAML(name, key, fmt.Sprintf("has the key %s twice", quoted(name.Value)), fmt.Sprintf("the first is in line %d", first.Line))
			continue
		}
		seen[name.Value] = name
		found = append(found, pair{name.Value, name, n.Content[i+1]})
	}
	return found, true
}

func (r *reader) wrongType(n *yaml.Node, key, wanted string) {
	if isNull(n) {
		r.refuse(n, key, "has no value but must be "+wanted, "leave the key out for the default")
		return
	}
	remedy := ""
	is := map[string]string{"!!int": "a number", "!!float": "a number", "!!bool": "true or false", "!!timestamp": "a date", "!!str": "a string", "!!map": "an object", "!!seq": "a list"}[n.ShortTag()]
	if is == "" {
		is = "something else"
	}
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(wanted, "a string") {
		remedy = "put it in quotes"
	}
	f := fault{problem: fmt.Sprintf("is %s but must be %s", is, wanted), remedy: remedy, beyond: n.ShortTag() == "!!timestamp"}
	r.report(r.at(n), key, f)
}

// value reads the value of one member.
func (r *reader) value(n *yaml.Node, s *shape, key string, into map[string]setting) {
	switch {
	case s.list:
		r.list(n, s, key)
	case s.option == nil:
		r.object(n, s, key, into)
	case s.option.Kind == References:
		r.references(n, s.option, key, into)
	case s.option.list():
		r.texts(n, s.option, key, into)
	default:
		if value, ok := r.scalar(n, s.option, key); ok {
			into[s.option.Key] = setting{r.resolve(s.option, value), r.at(n)}
		}
	}
}

// list reads the upstreams.
func (r *reader) list(n *yaml.Node, s *shape, key string) {
	if n.Kind != yaml.SequenceNode {
		r.wrongType(n, key, "a list")
		return
	}
	for i, item := range n.Content {
		e := entry{map[string]setting{}, r.at(item)}
		r.object(item, s, fmt.Sprintf("%s[%d]", key, i), e.settings)
		r.upstreams = append(r.upstreams, e)
	}
}

// scalar reads one string or number.
func (r *reader) scalar(n *yaml.Node, o *Option, key string) (any, bool) {
	switch {
	case o.Kind == Integer && !isInteger(n):
		r.number(n, o, key)
		return nil, false
	case o.Kind == Bool && (n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool"):
		r.wrongType(n, key, "true or false")
		return nil, false
	case o.Kind != Integer && o.Kind != Bool && (n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str"):
		wanted := "a string"
		if o.Kind == Duration {
			wanted = `a string such as "30s"`
		}
		r.wrongType(n, key, wanted)
		return nil, false
	}
	value, f := o.parse(n.Value)
	if f != nil {
		f.beyond = f.beyond || o.Kind == Bool // True is true for YAML
		r.report(r.at(n), key, *f)
		return nil, false
	}
	return value, true
}

// isInteger says so of one of more than 64 bits, too, which YAML takes for a float.
func isInteger(n *yaml.Node) bool {
	tag := n.ShortTag()
	return n.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float" && matches(patternInteger, n.Value))
}

// number reports what is no integer.
func (r *reader) number(n *yaml.Node, o *Option, key string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!float" {
		r.wrongType(n, key, "a number")
		return
	}
	f := notDecimal
	value, err := strconv.ParseFloat(n.Value, 64)
	// 4.0 is an integer for a JSON Schema.
	f.beyond = err == nil && value == math.Trunc(value) && value >= float64(o.Min) && value <= float64(o.Max)
	r.report(r.at(n), key, f)
}

// texts reads a list of strings.
func (r *reader) texts(n *yaml.Node, o *Option, key string, into map[string]setting) {
	if n.Kind != yaml.SequenceNode {
		r.wrongType(n, key, "a list of strings")
		return
	}
	list := []string{}
	for i, item := range n.Content {
		place := fmt.Sprintf("%s[%d]", key, i)
		value, ok := r.scalar(item, o, place)
		if !ok {
			continue
		}
		text := value.(string)
		if !o.repeats && slices.Contains(list, text) {
			r.refuse(item, place, "is in the list already", "leave it out")
			continue
		}
		list = append(list, text)
	}
	resolved := make([]string, 0, len(list))
	for _, text := range list {
		resolved = append(resolved, r.resolve(o, text).(string))
	}
	into[o.Key] = setting{resolved, r.at(n)}
}

// resolve makes a path relative to the folder of the file.
func (r *reader) resolve(o *Option, value any) any {
	text, ok := value.(string)
	if !ok || o.Kind != Path && o.Kind != Paths || slices.Contains(o.Choices, text) || filepath.IsAbs(text) {
		return value
	}
	return filepath.Join(r.folder, text)
}

// references reads names, each with where its value is.
func (r *reader) references(n *yaml.Node, o *Option, key string, into map[string]setting) {
	pairs, ok := r.pairs(n, key)
	if !ok {
		return
	}
	found := map[string]Reference{}
	for _, p := range pairs {
		if f := o.checkName(p.name); f != nil {
			r.report(r.at(p.node), key, fault{"the key " + quoted(p.name) + " " + f.problem, f.remedy, f.beyond})
			continue
		}
		if !o.plain { // names of headers are the same in any case
			if twin := twinOf(p.name, found); twin != "" {
				r.refuseYAML(p.node, key, fmt.Sprintf("has %s and %s, which are the same header", quoted(twin), quoted(p.name)), "leave one")
				continue
			}
		}
		if ref, ok := r.reference(p.value, o, join(key, p.name)); ok {
			found[p.name] = ref
		}
	}
	into[o.Key] = setting{found, r.at(n)}
}

func twinOf(name string, found map[string]Reference) string {
	for other := range found {
		if strings.EqualFold(other, name) {
			return other
		}
	}
	return ""
}

// reference reads where one value is: {file: NAME}, {env: NAME} or, where that is
// allowed, the text itself.
func (r *reader) reference(n *yaml.Node, o *Option, key string) (Reference, bool) {
	if o.plain && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if !matches(patternText, n.Value) {
			r.refuse(n, key, "must not have a NUL in it", "")
			return Reference{}, false
		}
		return Reference{text: n.Value, set: true}, true
	}
	if n.Kind != yaml.MappingNode {
		wanted := "an object with file or env"
		if o.plain {
			wanted = "a string, or an object with file or env"
		}
		r.wrongType(n, key, wanted)
		return Reference{}, false
	}
	settings := map[string]setting{}
	before := len(r.problems)
	r.object(n, referenceShape, key, settings)
	file, _ := settings["file"].value.(string)
	env, _ := settings["env"].value.(string)
	return Reference{File: file, Env: env}, len(r.problems) == before
}

// referenceShape is the shape of a reference.
var referenceShape = &shape{
	object: object{exactlyOne: []string{"file", "env"}},
	names:  []string{"file", "env"},
	members: map[string]*shape{
		"file": {option: &Option{Key: "file", Kind: Path, pattern: patternPath, what: "a file", Usage: "file with the value, on a single line"}},
		"env":  {option: &Option{Key: "env", Kind: Text, pattern: patternVariable, what: whatVariable, Usage: "name of the environment variable with the value"}},
	},
}
