package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine"
)

// FileVariable is the environment variable with the name of the file, for commands that
// are not told by a flag. There is no name that is looked for unasked: a client may
// start sallyport in a folder that somebody else fills.
const FileVariable = "SALLYPORT_CONFIG"

// Sources are where settings come from: Flags beat Environ, which beats File, which
// beats the defaults.
type Sources struct {
	File    string   // "": none
	Environ []string // as os.Environ returns it
	Flags   *Flags   // nil: none
}

// Settings are the outcome of a Load.
type Settings struct {
	Config
	// Warnings are doubts that keep nothing from starting.
	Warnings []Problem

	file    string
	values  []Value
	origins map[string]Origin // by key, of what was set
	lookup  func(string) (string, bool)
}

// File returns the name of the file that was read, "" for none.
func (s *Settings) File() string { return s.file }

// Load reads all sources. An *Error holds every fault that was found in them; any other
// error is about a file that could not be read. With an error there are no settings.
func Load(from Sources) (*Settings, error) {
	fromFile := layer{}
	if from.File != "" {
		var err error
		if fromFile, err = readFile(from.File); err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
	}
	return assemble(from, fromFile)
}

func assemble(from Sources, fromFile layer) (*Settings, error) {
	fromEnvironment, environmentEdits := environment(from.Environ)
	fromFlags, flagEdits := from.Flags.layer()
	m := &merger{layer{settings: map[string]setting{}}}
	for _, l := range []layer{fromFile, fromEnvironment, fromFlags} { // the last one wins
		m.lay(l)
	}
	m.edit(environmentEdits)
	m.edit(flagEdits)
	m.constraints()
	s := &Settings{file: from.File, Warnings: m.warnings, origins: map[string]Origin{}, lookup: lookup(from.Environ)}
	m.fill(s)
	if len(m.problems) == 0 { // else what is left says nothing about the whole
		m.check(s)
	}
	if len(m.problems) > 0 {
		sortProblems(m.problems)
		return nil, &Error{m.problems}
	}
	return s, nil
}

// merger lays layers over each other.
type merger struct{ layer }

func (m *merger) lay(l layer) {
	m.problems = append(m.problems, l.problems...)
	m.warnings = append(m.warnings, l.warnings...)
	for _, o := range table {
		// Of a group, what a lower layer has does not mix with what this one has.
		if _, ok := l.settings[o.Key]; ok && o.group != "" {
			maps.DeleteFunc(m.settings, func(key string, _ setting) bool { return optionOf(key).group == o.group })
		}
	}
	maps.Copy(m.settings, l.settings)
	if l.upstreams != nil {
		m.upstreams = l.upstreams
	}
}

// edit sets what is meant for upstreams that are there. NAME= may be left out where
// there is but one.
func (m *merger) edit(all edits) {
	for _, e := range all {
		texts := map[int][]string{}
		for _, text := range e.texts {
			i, value, f := m.target(text)
			if f != nil {
				m.report(e.origin, e.option.Key, *f)
				continue
			}
			texts[i] = append(texts[i], value)
		}
		for _, i := range slices.Sorted(maps.Keys(texts)) {
			b := textReader{}
			b.set(m.upstreams[i].settings, e.option, e.option.keyOf(i), texts[i], e.origin)
			m.problems = append(m.problems, b.problems...)
		}
	}
}

func (m *merger) report(at Origin, key string, f fault) {
	m.problems = append(m.problems, Problem{Origin: at, Key: key, Problem: f.problem, Remedy: f.remedy, beyond: true})
}

// target finds the upstream that a text of the form [NAME=]VALUE is for.
func (m *merger) target(text string) (int, string, *fault) {
	head, rest, _ := strings.Cut(text, "=")
	var names []string
	for i, u := range m.upstreams {
		name, _ := u.settings["upstreams[].name"].value.(string)
		if name == head && name != "" {
			return i, rest, nil
		}
		names = append(names, name)
	}
	switch len(names) {
	case 0:
		return 0, "", &fault{problem: "is for an upstream, and there is none"}
	case 1:
		return 0, text, nil
	}
	return 0, "", &fault{problem: "must begin with the name of an upstream and =", remedy: "the upstreams are " + strings.Join(names, ", ")}
}

// keyOf returns the key of the option for the upstream at an index.
func (o *Option) keyOf(i int) string {
	return strings.Replace(o.Key, "upstreams[]", fmt.Sprintf("upstreams[%d]", i), 1)
}

// constraints applies the rules of objects to what the layers make together. What the
// file breaks for itself has been reported.
func (m *merger) constraints() {
	if len(m.problems) > 0 {
		return
	}
	for _, key := range sortedKeys(objects) {
		if key == "upstreams[]" {
			for i, u := range m.upstreams {
				m.constrain(key, fmt.Sprintf("upstreams[%d]", i), u.settings, u.origin)
			}
			continue
		}
		var at Origin
		for _, option := range sortedKeys(m.settings) {
			if strings.HasPrefix(option, key+".") {
				at = m.settings[option].origin
			}
		}
		if at != (Origin{}) {
			m.constrain(key, key, m.settings, at)
		}
	}
}

func (m *merger) constrain(object, key string, settings map[string]setting, at Origin) {
	has := func(member string) bool { _, ok := settings[join(object, member)]; return ok }
	for _, b := range objects[object].check(has) {
		place := at
		if b.member != "" {
			place = settings[join(object, b.member)].origin
		}
		m.report(place, join(key, b.member), fault{problem: b.problem, remedy: b.remedy})
	}
}

// fill makes the Config of what is set and of the defaults.
func (m *merger) fill(s *Settings) {
	for _, o := range table {
		if !o.perUpstream() {
			m.put(s, o, o.Key, m.settings, nil)
		}
	}
	s.Upstreams = make([]Upstream, len(m.upstreams))
	for i, u := range m.upstreams {
		for _, o := range table {
			if o.perUpstream() {
				m.put(s, o, o.keyOf(i), u.settings, &s.Upstreams[i])
			}
		}
		s.origins[fmt.Sprintf("upstreams[%d]", i)] = u.origin
	}
	s.fillMode()
	s.fillPaths()
	for i, host := range s.Listen.AllowedHosts {
		if strings.HasSuffix(host, "]") { // the guard compares an address without brackets
			s.Listen.AllowedHosts[i] = strings.Trim(host, "[]")
		}
	}
	s.fillValues()
}

// put writes one option into the Config.
func (m *merger) put(s *Settings, o *Option, key string, settings map[string]setting, u *Upstream) {
	set, ok := settings[o.Key]
	if !ok && o.Default == "" {
		return
	}
	if !ok {
		value, f := o.fromTexts([]string{o.Default})
		if f != nil {
			panic("default of " + o.Key + ": " + f.problem)
		}
		set.value = value
	} else {
		s.origins[key] = set.origin
	}
	field := reflect.ValueOf(o.field(&s.Config, u)).Elem()
	field.Set(reflect.ValueOf(set.value).Convert(field.Type()))
}

// fillMode asks the variable that the engine would ask, so that the mode is the one of
// this environment and is shown.
func (s *Settings) fillMode() {
	if s.Engine.Mode != "" {
		return
	}
	s.Engine.Mode = engine.Strict
	if text, ok := s.lookup(engine.ModeVariable); ok && strings.EqualFold(strings.TrimSpace(text), string(engine.Permissive)) {
		s.Engine.Mode = engine.Permissive
		s.origins["engine.mode"] = Origin{Variable: engine.ModeVariable}
	}
}

// fillPaths gives each upstream a path of its own.
func (s *Settings) fillPaths() {
	for i := range s.Upstreams {
		u := &s.Upstreams[i]
		if u.Path == "" {
			u.Path = "/" + u.Name
		}
	}
}
