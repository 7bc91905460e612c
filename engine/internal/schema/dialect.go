package schema

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Dialect is a draft of JSON Schema, numbered as the validator does.
type Dialect int

// The drafts that are known here.
const (
	Draft4    Dialect = 4
	Draft6    Dialect = 6
	Draft7    Dialect = 7
	Draft2019 Dialect = 2019
	Draft2020 Dialect = 2020
)

// String returns the name as people write it: "draft 7", "draft 2020-12".
func (d Dialect) String() string {
	switch d {
	case Draft2019:
		return "draft 2019-09"
	case Draft2020:
		return "draft 2020-12"
	case Draft4, Draft6, Draft7:
	}
	return fmt.Sprintf("draft %d", int(d))
}

// validators returns the validator's own name for the draft.
func (d Dialect) validators() *jsonschema.Draft {
	switch d {
	case Draft4:
		return jsonschema.Draft4
	case Draft6:
		return jsonschema.Draft6
	case Draft2019:
		return jsonschema.Draft2019
	case Draft2020:
		return jsonschema.Draft2020
	case Draft7:
	}
	return jsonschema.Draft7
}

var dialects = map[string]Dialect{
	"json-schema.org/draft-04/schema":      Draft4,
	"json-schema.org/draft-06/schema":      Draft6,
	"json-schema.org/draft-07/schema":      Draft7,
	"json-schema.org/draft/2019-09/schema": Draft2019,
	"json-schema.org/draft/2020-12/schema": Draft2020,
}

// dialectOf reads $schema. known is false for everything but the five drafts by
// their own URLs. The validator takes more, and that more is dangerous:
// https://json-schema.org/schema is whatever is latest, and .../2020-12/meta/core,
// which it has as well, switches off type, properties and all other assertions.
// settled is false where nothing but a default tells the draft.
func dialectOf(document any, o Options) (d Dialect, known, settled bool) {
	object, _ := document.(map[string]any)
	value, declared := object["$schema"]
	switch {
	case declared:
		d, known = dialectNamed(value)
		return d, known, true
	case o.Declared != 0:
		return o.Declared, true, true
	case o.Default == Draft2020:
		return Draft2020, true, false
	}
	return Draft7, true, false
}

func dialectNamed(value any) (d Dialect, known bool) {
	text, _ := value.(string)
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "http" && scheme != "https" {
		return 0, false
	}
	d, known = dialects[strings.TrimSuffix(rest, "#")]
	return d, known
}

// doubt says why a keyword of a document that declares no $schema is a fault: who
// reads the document as the other draft ignores it. It returns "" where nothing is
// in doubt.
func (found *survey) doubt(inDraft7, in2020 bool) (problem, remedy string) {
	switch {
	case found.settled || inDraft7 == in2020:
		return "", ""
	case inDraft7:
		return "is ignored by readers that take a document without $schema for draft 2020-12", "declare $schema as draft 7"
	}
	return "is ignored by readers that take a document without $schema for draft 7", "declare $schema as draft 2020-12"
}
