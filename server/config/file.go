package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Bounds of the file itself.
const (
	longestFile  = 1 << 20 // bytes
	deepest      = 20      // levels; the shape has five
	mostProblems = 100     // in one report
)

// layer is what one source sets.
type layer struct {
	settings  map[string]setting // by key, of what is no upstream's
	upstreams []entry            // nil: none are given
	problems  []Problem
	warnings  []Problem
}

// entry is one upstream of a layer.
type entry struct {
	settings map[string]setting // by key
	origin   Origin
}

// readFile reads a file. The error says that there is no text to judge.
func readFile(name string) (layer, error) {
	file, err := os.Open(name)
	if err != nil {
		return layer{}, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, longestFile+1))
	if err != nil {
		return layer{}, err
	}
	return parseFile(name, text), nil
}

// parseFile reads the text of a file. Every fault in it is in the layer's problems.
func parseFile(name string, text []byte) layer {
	r := &reader{file: name, folder: filepath.Dir(name), layer: layer{settings: map[string]setting{}}}
	if node := r.document(text); node != nil {
		r.object(node, root, "", r.settings)
	}
	if len(r.problems) > mostProblems {
		sortProblems(r.problems)
		r.problems = append(r.problems[:mostProblems], Problem{Origin: Origin{File: name}, Problem: "has more faults than are listed here"})
	}
	return r.layer
}

type reader struct {
	file, folder string
	layer
}

func (r *reader) at(n *yaml.Node) Origin { return Origin{File: r.file, Line: n.Line, Column: n.Column} }

func (r *reader) report(at Origin, key string, f fault) {
	r.problems = append(r.problems, Problem{Origin: at, Key: key, Problem: f.problem, Remedy: f.remedy, beyond: f.beyond})
}

func (r *reader) refuse(n *yaml.Node, key, problem, remedy string) {
	r.report(r.at(n), key, fault{problem: problem, remedy: remedy})
}

// refuseYAML is about what YAML has and JSON has not.
func (r *reader) refuseYAML(n *yaml.Node, key, problem, remedy string) {
	r.report(r.at(n), key, fault{problem: problem, remedy: remedy, beyond: true})
}

// document returns the one value of the text, nil where there is none or a fault.
func (r *reader) document(text []byte) *yaml.Node {
	whole := Origin{File: r.file}
	switch {
	case len(text) > longestFile:
		r.report(whole, "", fault{fmt.Sprintf("has more than %d bytes", longestFile), "", true})
		return nil
	case !utf8.Valid(text):
		r.report(r.place(text, invalidAt(text)), "", fault{"is not UTF-8", "save it in UTF-8", true})
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil // nothing but comments: all defaults
	} else if err != nil {
		r.syntax(text, err)
		return nil
	}
	if err := decoder.Decode(&second); err == nil {
		r.refuseYAML(second.Content[0], "", "a second document begins here", "leave one document in the file")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(text, err)
		return nil
	}
	node := document.Content[0]
	if !r.plain(node, "", 1) {
		return nil
	}
	if isNull(node) && node.Value == "" {
		return nil
	}
	return node
}

// plain refuses what a reader could take for another value than it is, or what
// multiplies what it stands for.
func (r *reader) plain(n *yaml.Node, key string, depth int) bool {
	switch {
	case depth > deepest:
		r.refuse(n, key, fmt.Sprintf("is nested deeper than %d levels", deepest), "")
		return false
	case n.Kind == yaml.AliasNode:
		r.refuseYAML(n, key, "is an alias", "write the value out")
		return false
	case n.Anchor != "":
		r.refuseYAML(n, key, "has an anchor", "leave it out: aliases are not allowed")
		return false
	case n.Style&yaml.TaggedStyle != 0:
		r.refuseYAML(n, key, "has an explicit tag", "leave it out")
		return false
	}
	good := true
	for _, inner := range n.Content {
		good = r.plain(inner, key, depth+1) && good
	}
	return good
}

// syntax reports what the parser of YAML says.
func (r *reader) syntax(text []byte, err error) {
	at, problem := Origin{File: r.file}, "is not YAML"
	var e *yaml.LoadError
	if errors.As(err, &e) {
		at = r.place(text, e.Mark.Index)
		if e.Mark.Line > 0 {
			at.Line, at.Column = e.Mark.Line, max(e.Mark.Column, 1)
		}
		switch e.Stage {
		case "composer": // it would repeat what may be a text with a * before it
			problem = "is not YAML that can be taken here: an alias, or a text that begins with *"
		default:
			problem = "is not YAML: " + e.Message
		}
	}
	r.report(at, "", fault{printable(problem), "", true})
}

// place counts lines and columns up to an offset in bytes.
func (r *reader) place(text []byte, offset int) Origin {
	before := text[:min(max(offset, 0), len(text))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return Origin{File: r.file, Line: 1 + bytes.Count(before, []byte("\n")), Column: 1 + utf8.RuneCount(line)}
}

func invalidAt(text []byte) int {
	return len(text) - len(bytes.TrimLeftFunc(text, func(c rune) bool { return c != utf8.RuneError }))
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
