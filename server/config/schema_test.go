package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

// withinSchema says whether the parser accepts the text but for what a JSON Schema
// cannot say.
func withinSchema(text []byte) (accepted bool, err error) {
	_, err = assemble(Sources{File: "sallyport.yaml"}, parseFile("sallyport.yaml", text))
	var all *Error
	if errors.As(err, &all) {
		for _, p := range all.Problems {
			if !p.beyond {
				return false, err
			}
		}
	}
	return true, err
}

// agree fails where schema and parser see one JSON document in different ways.
func agree(t testing.TB, schema *jsonschema.Schema, text []byte) (accepted bool) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	refused := schema.Validate(document)
	accepted, fault := withinSchema(text)
	if accepted != (refused == nil) {
		t.Fatalf("%s\nthe schema says: %v\nthe parser says: %v", text, refused, fault)
	}
	return accepted
}

// What schema and parser have to see alike, and how.
func TestSchemaAndParser(t *testing.T) {
	schema := compileSchema(t)
	for text, want := range map[string]bool{
		`{}`:                                    true,
		`null`:                                  false,
		`[]`:                                    false,
		`{"engine": {}}`:                        true,
		`{"engine": null}`:                      false,
		`{"engine": {"mode": "strict"}}`:        true,
		`{"engine": {"mode": "Strict"}}`:        false,
		`{"engine": {"mode": true}}`:            false,
		`{"engine": {"mods": "strict"}}`:        false,
		`{"engine": {"max_violations": 1}}`:     true,
		`{"engine": {"max_violations": 10000}}`: true,
		`{"engine": {"max_violations": 10001}}`: false,
		`{"engine": {"max_violations": -1}}`:    false,
		`{"engine": {"max_violations": 5.5}}`:   false,
		`{"engine": {"max_violations": 5.0}}`:   true, // beyond: the parser wants 5
		`{"engine": {"max_violations": 99999999999999999999}}`:                   false,
		`{"engine": {"rules_timeout": "1h"}}`:                                    true, // beyond: above a minute
		`{"engine": {"rules_timeout": "1 h"}}`:                                   false,
		`{"engine": {"schemas": ""}}`:                                            false,
		`{"engine": {"schemas": "bundled"}}`:                                     true,
		`{"engine": {"allow_unsafe_args": ["a", "b"]}}`:                          true,
		`{"engine": {"allow_unsafe_args": ["a", "a"]}}`:                          false,
		`{"engine": {"allow_unsafe_args": [1]}}`:                                 false,
		`{"listen": {"tls": {"cert": "a", "key": "b"}}}`:                         true,
		`{"listen": {"tls": {"key": "b"}}}`:                                      false,
		`{"listen": {"token": {"file": "a", "env": "B"}}}`:                       false,
		`{"listen": {"token": {"env": "1B"}}}`:                                   false,
		`{"listen": {"address": "[::1]:80"}}`:                                    true,
		`{"listen": {"address": "localhost:65535"}}`:                             true,
		`{"listen": {"address": "localhost:65536"}}`:                             false,
		`{"listen": {"address": "localhost:99999"}}`:                             false,
		`{"listen": {"address": "localhost"}}`:                                   false,
		`{"upstreams": []}`:                                                      true,
		`{"upstreams": {}}`:                                                      false,
		`{"upstreams": [{"name": "a", "command": "b"}]}`:                         true,
		`{"upstreams": [{"name": "a"}]}`:                                         false,
		`{"upstreams": [{"command": "b"}]}`:                                      false,
		`{"upstreams": [{"name": "a", "command": "b", "args": ["", "x", "x"]}]}`: true,
		`{"upstreams": [{"name": "a", "command": "b", "headers": {}}]}`:          false,
		`{"upstreams": [{"name": "a", "command": "b", "env": {"A": "", "B": {"file": "c"}, "C": {"env": "D"}}}]}`: true,
		`{"upstreams": [{"name": "a", "command": "b", "env": {"A": 1}}]}`:                                         false,
		`{"upstreams": [{"name": "a", "command": "b", "env": {"A B": "c"}}]}`:                                     false,
		`{"upstreams": [{"name": "a", "command": "b"}, {"name": "a", "command": "b"}]}`:                           true, // beyond: one name
		`{"upstreams": [{"name": "a", "url": "https://a:1/b%20c?d=e%2F"}]}`:                                       true, // beyond: no address
		`{"upstreams": [{"name": "a", "url": "https://a/%zz"}]}`:                                                  false,
		`{"upstreams": [{"name": "a", "url": "https://a#b"}]}`:                                                    false,
		`{"upstreams": [{"name": "a", "url": "http://a", "headers": {"X-A": {"env": "B"}}}]}`:                     true,
		`{"upstreams": [{"name": "a", "url": "http://a", "headers": {"hOSt": {"env": "B"}}}]}`:                    false,
		`{"upstreams": [{"name": "a", "url": "http://a", "headers": {"X-A": "b"}}]}`:                              false,
	} {
		if got := agree(t, schema, []byte(text)); got != want {
			t.Errorf("%s: accepted: %t, want %t", text, got, want)
		}
	}
}

// maker makes documents that are mostly right.
type maker struct{ *rand.Rand }

func (m maker) one(of ...any) any { return of[m.IntN(len(of))] }

// rarely is true in one of n cases.
func (m maker) rarely(n int) bool { return m.IntN(n) == 0 }

// value makes a value for a shape.
func (m maker) value(s *shape) any {
	switch {
	case m.rarely(60):
		return m.one(nil, true, 0, -3, 1.5, "", "x", []any{}, []any{"a", 1}, map[string]any{}, map[string]any{"file": "a"})
	case s.list:
		list := make([]any, m.IntN(3))
		for i := range list {
			list[i] = m.object(s)
		}
		return list
	case s.option == nil:
		return m.object(s)
	}
	return m.option(s.option)
}

func (m maker) object(s *shape) map[string]any {
	made := map[string]any{}
	skip := s.object.exactlyOne
	if len(skip) > 0 && !m.rarely(8) { // one of them, and what goes with it
		chosen := skip[m.IntN(len(skip))]
		made[chosen] = m.value(s.members[chosen])
	}
	for _, name := range s.names {
		needed := s.object.needs[name]
		switch {
		case made[name] != nil || len(skip) > 0 && contains(skip, name) && !m.rarely(20):
		case needed != "" && made[needed] == nil && !m.rarely(10):
		case contains(s.object.required, name) && !m.rarely(20) || m.rarely(2):
			made[name] = m.value(s.members[name])
		}
	}
	if m.rarely(40) {
		made[m.one("mode", "Mode", "file", "x", "").(string)] = m.one("strict", nil)
	}
	return made
}

func contains(list []string, name string) bool {
	for _, item := range list {
		if item == name {
			return true
		}
	}
	return false
}

func (m maker) option(o *Option) any {
	switch o.Kind {
	case Choice:
		if m.rarely(20) {
			return m.one("", "x", o.Choices[0]+" ")
		}
		return o.Choices[m.IntN(len(o.Choices))]
	case Bool:
		return m.one(true, false, "true", 1)
	case Integer:
		return m.one(o.Min, o.Max, o.Min, o.Max, o.Min+1, o.Max-1, o.Min-1, o.Max+1)
	case Duration:
		return m.one("1s", "1m30s", "100ms", "0.5h", "0s", "", "1", "s", "1d", "999999999h")
	case Texts, Paths:
		list := make([]any, m.IntN(3))
		for i := range list {
			list[i] = m.text(o)
		}
		return list
	case References:
		made := map[string]any{}
		for range m.IntN(3) {
			name := m.one("A", "X_Y", "Authorization", "x-a", "Host", "a b", "", "MCP-Name", "é").(string)
			if o.plain && m.rarely(2) {
				made[name] = m.text(o)
				continue
			}
			made[name] = m.object(referenceShape)
		}
		return made
	case Text, Path:
	}
	return m.text(o)
}

func (m maker) text(o *Option) any {
	if m.rarely(25) {
		return m.one("", " ", "a b", "é", "\u0000", "a\nb", "\u007f", "x:y", 1, nil, "1:2:3", "\u2028", "😀")
	}
	switch o.pattern {
	case patternAddress, patternHost:
		return m.one("a:1", "127.0.0.1:8080", "[::1]:80", "a.b-c:65535", "a:65536", ":1", "a", "a:", "-a:1", "[::1]")
	case patternOrigin:
		return m.one("https://a", "http://a.b:1", "vscode-webview://x", "null", "https://a/", "HTTPS://a", "https://a:99999")
	case patternURL:
		return m.one("http://a", "https://a.b:1/c/d?e=f", "http://[::1]:1/", "http://a//b", "ftp://a", "http://a b", "http://u@a", "http://a/%2", "http://a?%41&b=[", "http://a/ü", "http://a", "https://b/")
	case patternPrefix:
		return m.one("/", "/a", "/a/b.c", "a", "/a/", "/../a", "/a//b", "/.a", "/%41", "/~x")
	}
	return m.one("a", "b", "A_1", "x-y", "./z", "name", "1a", "$A", "\\", "\"")
}

// FuzzSchema makes documents by chance and wants schema and parser to agree on each. The
// seeds alone are a hundred documents.
func FuzzSchema(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed)
	}
	schema := compileSchema(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		document := maker{rand.New(rand.NewPCG(seed, 1))}.value(root)
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, schema, text)
	})
}

// The generator is worth something only if both verdicts are common.
func TestMadeDocuments(t *testing.T) {
	schema := compileSchema(t)
	accepted := 0
	for seed := range uint64(1000) {
		text, err := json.Marshal(maker{rand.New(rand.NewPCG(seed, 1))}.value(root))
		if err != nil {
			t.Fatal(err)
		}
		if agree(t, schema, text) {
			accepted++
		}
	}
	t.Logf("%d of 1000 made documents are accepted", accepted)
	if accepted < 100 || accepted > 900 {
		t.Errorf("%d of 1000 made documents are accepted", accepted)
	}
}

// errNotJSON says that a YAML document stands for no JSON that is beyond doubt.
var errNotJSON = errors.New("not JSON")

// asJSON is what an editor takes a YAML node for.
func asJSON(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		made := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := asJSON(n.Content[i+1])
			if _, twice := made[n.Content[i].Value]; err != nil || twice || n.Content[i].ShortTag() != "!!str" {
				return nil, errNotJSON
			}
			made[n.Content[i].Value] = value
		}
		return made, nil
	case yaml.SequenceNode:
		made := []any{}
		for _, item := range n.Content {
			value, err := asJSON(item)
			if err != nil {
				return nil, err
			}
			made = append(made, value)
		}
		return made, nil
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!str":
			return n.Value, nil
		case "!!bool":
			return strconv.ParseBool(n.Value)
		case "!!null":
			return nil, nil
		case "!!int":
			if json.Valid([]byte(n.Value)) {
				return json.Number(n.Value), nil
			}
		}
	case yaml.DocumentNode, yaml.AliasNode, yaml.StreamNode:
	}
	return nil, errNotJSON
}

// FuzzParse holds that the parser does not panic, that every fault has a place in the
// file, that no text of the file is shown but keys, and that the schema accepts whatever
// the parser accepts.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "# nothing\n", twoUpstreams, example(f), "engine: {mode: strict}\n", "log: &a {level: info}\nengine: *a\n", "<<: {}\n", "a: !!binary x\n", "? [a]\n: b\n", "%YAML 1.2\n---\n{}\n...\n",
		"listen: {token: s3cr3t-s3cr3t, address: \"s3cr3t-s3cr3t\"}\n", "engine: {mode: |\n  s3cr3t-s3cr3t\n}", "upstreams:\n- name: a\n  command: b\n  env: {A: s3cr3t-s3cr3t, B: [s3cr3t-s3cr3t]}\n", "\xef\xbb\xbflog: {}\n", "a: \"\\uD800\"", "\xff\xfea\x00",
	} {
		f.Add([]byte(text))
	}
	schema := compileSchema(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := assemble(Sources{File: "sallyport.yaml"}, parseFile("sallyport.yaml", text))
		if err != nil {
			checkFaults(t, text, err)
			return
		}
		for _, v := range s.Values() {
			_ = v.Value
		}
		var document yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Fatalf("%q is accepted and is no YAML: %v", text, err)
		}
		var value any = map[string]any{}
		if len(document.Content) > 0 && (document.Content[0].ShortTag() != "!!null" || document.Content[0].Value != "") {
			if value, err = asJSON(document.Content[0]); err != nil {
				t.Fatalf("%q is accepted and is no JSON", text)
			}
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(encoded)); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Fatalf("the parser accepts %q, the schema does not: %v", text, err)
		}
	})
}

func checkFaults(t *testing.T, text []byte, err error) {
	t.Helper()
	var all *Error
	if !errors.As(err, &all) || len(all.Problems) == 0 {
		t.Fatalf("%q: %v is no list of faults", text, err)
	}
	lines := 2 + bytes.Count(text, []byte("\n"))
	for _, other := range []string{"\r", "\u0085", "\u2028", "\u2029"} { // lines end here too, for YAML
		lines += bytes.Count(text, []byte(other))
	}
	for _, p := range all.Problems {
		ofWhole := len(all.Problems) > mostProblems || len(text) > longestFile
		if at := p.Origin; !ofWhole && (at.Line < 1 || at.Column < 1 || at.Line > lines) {
			t.Fatalf("%q: the place of %q is not in the file", text, p)
		}
	}
	const marker = "s3cr3t" // a value in the seeds
	if strings.Contains(err.Error(), marker) && !isInKey(text, marker) {
		t.Fatalf("%q: a value is shown: %v", text, err)
	}
}

// isInKey says that a key has the marker in it, and keys are shown.
func isInKey(text []byte, marker string) bool {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return false
	}
	found := false
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		for i, inner := range n.Content {
			found = found || n.Kind == yaml.MappingNode && i%2 == 0 && strings.Contains(inner.Value, marker)
			walk(inner)
		}
	}
	walk(&document)
	return found
}
