package pins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDefinitionBytes bounds one tool as a server lists it.
const maxDefinitionBytes = 1 << 20

// notPinned is the only member of a tool that may change freely.
const notPinned = "icons"

// definition is a tool as a server lists it, without what is not pinned.
type definition struct {
	name    string
	members map[string]any
	parts   map[string][]byte // each member in canonical form
	digest  string
}

// readDefinition reads an entry of a server's list. With an error the definition has the
// name, if that much can be read.
func readDefinition(entry []byte) (definition, error) {
	if len(entry) > maxDefinitionBytes {
		return definition{name: nameIn(entry)}, fmt.Errorf("larger than %d bytes", maxDefinitionBytes)
	}
	value, err := decode(entry)
	if err != nil {
		return definition{name: nameIn(entry)}, err
	}
	return newDefinition(value)
}

func newDefinition(value any) (definition, error) {
	members, ok := value.(map[string]any)
	if !ok {
		return definition{}, errors.New("not an object")
	}
	name, ok := members["name"].(string)
	if !ok || name == "" {
		return definition{}, at("/name", "the name is missing, empty or not a string")
	}
	d := definition{name: name, members: maps.Clone(members), parts: map[string][]byte{}}
	delete(d.members, notPinned)
	for member, value := range d.members {
		d.parts[member] = canonical(value)
	}
	d.digest = digestOf(d.parts)
	return d, nil
}

// nameIn finds the name in an entry that cannot be read as a whole.
func nameIn(entry []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(entry), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != jsontext.KindBeginObject {
		return ""
	}
	found := ""
	for d.PeekKind() == jsontext.KindString {
		token, err := d.ReadToken()
		if err != nil {
			break
		}
		if token.String() != "name" {
			if err := d.SkipValue(); err != nil {
				break
			}
			continue
		}
		name, err := d.ReadToken()
		if err != nil || name.Kind() != jsontext.KindString || found != "" {
			return ""
		}
		found = name.String()
	}
	return found
}

// digestOf is the SHA-256 of a definition: over its members in order, each by name and
// by the SHA-256 of its canonical form. The texts in front keep one kind of hash from
// being taken for another.
func digestOf(parts map[string][]byte) string {
	whole := sha256.New()
	whole.Write([]byte("sallyport pin 1 tool\n"))
	for _, member := range slices.Sorted(maps.Keys(parts)) {
		part := sha256.New()
		part.Write(fmt.Appendf(nil, "sallyport pin 1 member\n%d %s\n", len(member), member))
		part.Write(parts[member])
		whole.Write(part.Sum(nil))
	}
	return hex.EncodeToString(whole.Sum(nil))
}

// differing names the members that two definitions do not share.
func differing(was, now definition) []string {
	names := map[string]bool{}
	for member, part := range was.parts {
		if other, ok := now.parts[member]; !ok || !bytes.Equal(part, other) {
			names[member] = true
		}
	}
	for member := range now.parts {
		if _, ok := was.parts[member]; !ok {
			names[member] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// text is the definition as a lock file has it: canonical, but one member a line, with
// nothing hidden in it.
func (d definition) text() []byte {
	text := jsontext.Value(canonical(d.members))
	if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
		panic(err) // canonical form is JSON
	}
	return escapeHidden(text)
}
