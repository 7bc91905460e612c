package pins

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// version is that of the lock file's form.
	version = 1
	// maxFileBytes bounds a lock file.
	maxFileBytes = 64 << 20
)

// pinSet is what a lock file says: the approved tools by name, of each upstream by name.
type pinSet map[string]map[string]definition

// fileText is a lock file.
type fileText struct {
	Version   int                     `json:"version"`
	Upstreams map[string]upstreamText `json:"upstreams"`
}

type upstreamText struct {
	Tools map[string]pinText `json:"tools"`
}

type pinText struct {
	Digest     string         `json:"digest"`
	Definition jsontext.Value `json:"definition"`
}

// readFile reads a lock file. The error names file and place; it is fs.ErrNotExist if
// there is no file.
func readFile(name string) (pinSet, error) {
	info, err := os.Stat(name) // before it is opened, since a pipe would be waited for
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a file", name)
	case info.Size() > maxFileBytes:
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxFileBytes)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	p, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// parse reads the text of a lock file, strictly.
func parse(text []byte) (pinSet, error) {
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("larger than %d bytes", maxFileBytes)
	}
	if err := checkVersion(text); err != nil {
		return nil, err
	}
	var file fileText
	if err := json.Unmarshal(text, &file, json.RejectUnknownMembers(true)); err != nil {
		return nil, placed(err, text)
	}
	if file.Upstreams == nil {
		return nil, at("/upstreams", "missing")
	}
	p := pinSet{}
	for _, name := range slices.Sorted(maps.Keys(file.Upstreams)) {
		tools, err := parseUpstream("/upstreams/"+escapePointer(name), file.Upstreams[name])
		if err != nil {
			return nil, err
		}
		p[name] = tools
	}
	return p, nil
}

// checkVersion reads the version alone, since other versions may have other members.
func checkVersion(text []byte) error {
	var file struct {
		Version jsontext.Value `json:"version"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return placed(err, text)
	}
	if string(file.Version) != fmt.Sprint(version) {
		return at("/version", "must be %d: the file is none of pins, or is of another release of sallyport", version)
	}
	return nil
}

func parseUpstream(location string, u upstreamText) (map[string]definition, error) {
	if u.Tools == nil {
		return nil, at(location+"/tools", "missing")
	}
	tools := map[string]definition{}
	for _, name := range slices.Sorted(maps.Keys(u.Tools)) {
		here := location + "/tools/" + escapePointer(name)
		d, err := parsePin(here, u.Tools[name])
		if err != nil {
			return nil, err
		}
		if d.name != name {
			return nil, at(here+"/definition/name", "must be the name that the pin stands under")
		}
		tools[name] = d
	}
	return tools, nil
}

func parsePin(location string, p pinText) (definition, error) {
	if p.Definition == nil {
		return definition{}, at(location+"/definition", "missing")
	}
	value, err := decode(p.Definition)
	if err != nil {
		return definition{}, within(location+"/definition", err)
	}
	d, err := newDefinition(value)
	if err != nil {
		return definition{}, within(location+"/definition", err)
	}
	if len(value.(map[string]any)) != len(d.members) {
		return definition{}, at(location+"/definition/"+notPinned, "is never pinned")
	}
	if d.digest != p.Digest {
		return definition{}, at(location+"/digest", "is not that of the definition: the file was edited, merged or damaged")
	}
	return d, nil
}

// within puts a pointer in front of the place of an error. Lines are those of a part, so
// they are left out.
func within(location string, err error) error {
	var known *placeError
	if errors.As(err, &known) {
		return at(location+known.pointer, "%w", known.cause)
	}
	return at(location, "%w", err)
}

// text returns the lock file's text: sorted, and one member a line.
func (p pinSet) text() ([]byte, error) {
	file := fileText{Version: version, Upstreams: map[string]upstreamText{}}
	for name, tools := range p {
		u := upstreamText{Tools: map[string]pinText{}}
		for tool, d := range tools {
			u.Tools[tool] = pinText{Digest: d.digest, Definition: canonical(d.members)}
		}
		file.Upstreams[name] = u
	}
	text, err := json.Marshal(file, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, err
	}
	text = append(escapeHidden(text), '\n')
	if _, err := parse(text); err != nil { // never write what cannot be read
		return nil, err
	}
	return text, nil
}
