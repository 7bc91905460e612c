package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Flags takes what the command line sets.
type Flags struct {
	given   map[string][]string // by the name of the flag
	command []string
}

// Register adds a flag for every option that has one.
func (f *Flags) Register(set *pflag.FlagSet) {
	for _, o := range table {
		if o.Flag != "" && set.Lookup(o.Flag) == nil {
			set.Var(&flagValue{flags: f, option: o}, o.Flag, flagUsage(o))
			if o.Kind == Bool {
				set.Lookup(o.Flag).NoOptDefVal = "true"
			}
		}
	}
}

// SetCommand sets what stands after "--": a program and its arguments, which become
// the one upstream.
func (f *Flags) SetCommand(command []string) { f.command = slices.Clone(command) }

// flagValue hands what a flag is given to the Flags. It is looked at in Load, so that
// the faults of all flags are in one report.
type flagValue struct {
	flags  *Flags
	option *Option
}

// String implements pflag.Value. Defaults are in the usage.
func (*flagValue) String() string { return "" }

// Set implements pflag.Value.
func (v *flagValue) Set(text string) error {
	if v.flags.given == nil {
		v.flags.given = map[string][]string{}
	}
	v.flags.given[v.option.Flag] = append(v.flags.given[v.option.Flag], text)
	return nil
}

// Type implements pflag.Value: it stands in the help for the value.
func (v *flagValue) Type() string { return v.option.placeholder() }

// placeholder stands for the value in help and reference.
func (o *Option) placeholder() string {
	if o.Key == "upstreams[].name" || o.Key == "upstreams[].url" {
		return "[NAME=]URL"
	}
	prefix := ""
	if o.perUpstream() {
		prefix = "[NAME=]"
	}
	switch o.Kind {
	case Choice:
		return prefix + strings.Join(o.Choices, "|")
	case Bool:
		return "bool" // the name that pflag leaves out of the help
	case Integer:
		return prefix + "N"
	case Duration:
		return prefix + "DURATION"
	case References:
		if o.plain {
			return prefix + "VARIABLE=env:VARIABLE|file:FILE|text:TEXT"
		}
		return prefix + "HEADER=env:VARIABLE|file:FILE"
	case Path, Paths:
		kind := "FILE"
		if o.folder {
			kind = "DIR"
		}
		return prefix + strings.Join(append([]string{kind}, o.Choices...), "|")
	case Text, Texts:
	}
	return prefix + map[string]string{
		patternTool: "TOOL", patternAddress: "HOST:PORT", patternHost: "HOST", patternOrigin: "ORIGIN", patternVariable: "VARIABLE", patternPrefix: "PATH", patternURL: "URL",
	}[o.pattern]
}

func flagUsage(o *Option) string {
	usage := o.Usage
	if o.Flag == "upstream" {
		usage = "server to stand in front of; may be repeated"
	} else if o.list() || o.perUpstream() {
		usage += "; may be repeated"
	}
	if o.Default != "" {
		return usage + " (default " + o.Default + ")"
	}
	return usage
}

// layerOf makes a layer of texts, by the name of the flag. origin says where those of
// one are from.
func layerOf(given map[string][]string, origin func(*Option) Origin) (layer, edits) {
	b := textReader{layer: layer{settings: map[string]setting{}}}
	for _, o := range table {
		texts, ok := given[o.Flag]
		switch {
		case !ok || o.Flag == "" || o.Key == "upstreams[].name":
		case o.Flag == "upstream":
			b.addUpstreams(texts, origin(o))
		case o.perUpstream():
			b.edits = append(b.edits, edit{o, texts, origin(o)})
		default:
			b.set(b.settings, o, o.Key, texts, origin(o))
		}
	}
	return b.layer, b.edits
}

// edits change what is set for upstreams that other layers may have named.
type edits []edit

type edit struct {
	option *Option
	texts  []string
	origin Origin
}

// textReader reads values that are texts, of flags or variables.
type textReader struct {
	layer
	edits edits
}

func (b *textReader) report(at Origin, key string, f fault) {
	b.problems = append(b.problems, Problem{Origin: at, Key: key, Problem: f.problem, Remedy: f.remedy, beyond: true})
}

// addUpstreams reads texts of the form [NAME=]URL.
func (b *textReader) addUpstreams(texts []string, at Origin) {
	for i, text := range texts {
		key := fmt.Sprintf("upstreams[%d]", i)
		name, url, ok := strings.Cut(text, "=")
		e := entry{map[string]setting{}, at}
		if !ok || strings.ContainsAny(name, ":/") { // there may be a = in a URL
			name, url = unnamed, text
			e.settings["upstreams[].path"] = setting{"/", at}
		}
		b.set(e.settings, optionOf("upstreams[].name"), key+".name", []string{name}, at)
		b.set(e.settings, optionOf("upstreams[].url"), key+".url", []string{url}, at)
		b.upstreams = append(b.upstreams, e)
	}
}

// set reads the texts for one option. Of several for a single value the last counts.
func (b *textReader) set(into map[string]setting, o *Option, key string, texts []string, at Origin) {
	value, f := o.fromTexts(texts)
	if f != nil {
		b.report(at, key, *f)
		return
	}
	into[o.Key] = setting{value, at}
}

func (o *Option) fromTexts(texts []string) (any, *fault) {
	if o.Kind == References {
		return o.fromPairs(texts)
	}
	if !o.list() {
		return o.parse(texts[len(texts)-1])
	}
	list := []string{}
	for _, text := range texts {
		if _, f := o.parse(text); f != nil {
			return nil, f
		}
		if o.repeats || !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list, nil
}

// fromPairs reads texts of the form NAME=env:VARIABLE.
func (o *Option) fromPairs(texts []string) (any, *fault) {
	found := map[string]Reference{}
	for _, text := range texts {
		name, source, ok := strings.Cut(text, "=")
		if !ok {
			return nil, &fault{problem: "must be " + strings.TrimPrefix(o.placeholder(), "[NAME=]")}
		}
		if f := o.checkName(name); f != nil {
			return nil, f
		}
		kind, where, _ := strings.Cut(source, ":")
		ref := Reference{}
		switch {
		case kind == "file" && matches(patternPath, where):
			ref.File = filepath.Clean(where)
		case kind == "env" && matches(patternVariable, where):
			ref.Env = where
		case kind == "text" && o.plain && matches(patternText, where):
			ref.text, ref.set = where, true
		default:
			return nil, &fault{problem: "must be " + strings.TrimPrefix(o.placeholder(), "[NAME=]")}
		}
		if twin := twinOf(name, found); twin != "" && twin != name && !o.plain {
			return nil, &fault{problem: fmt.Sprintf("has %s and %s, which are the same header", quoted(twin), quoted(name))}
		}
		found[name] = ref
	}
	return found, nil
}

// ofFlags is the layer of the command line.
func (f *Flags) layer() (layer, edits) {
	if f == nil {
		return layer{}, nil
	}
	l, e := layerOf(maps.Clone(f.given), func(o *Option) Origin { return Origin{Flag: "--" + o.Flag} })
	if len(f.command) == 0 {
		return l, e
	}
	at := Origin{Flag: "--"}
	b := textReader{layer: l}
	if len(l.upstreams) > 0 {
		b.report(at, "upstreams", fault{problem: "a command cannot stand beside --upstream", remedy: "choose one"})
	}
	child := entry{map[string]setting{"upstreams[].name": {unnamed, at}, "upstreams[].path": {"/", at}}, at}
	b.set(child.settings, optionOf("upstreams[].command"), "upstreams[0].command", f.command[:1], at)
	b.set(child.settings, optionOf("upstreams[].args"), "upstreams[0].args", f.command[1:], at)
	b.upstreams = []entry{child}
	return b.layer, e
}

// unnamed is the name of an upstream that has none on the command line.
const unnamed = "server"
