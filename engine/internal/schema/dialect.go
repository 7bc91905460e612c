package schema

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// draft numbers a dialect of JSON Schema as the validator does.
type draft int

const (
	draft4    draft = 4
	draft6    draft = 6
	draft7    draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

func (d draft) String() string {
	switch d {
	case draft2019:
		return "draft 2019-09"
	case draft2020:
		return "draft 2020-12"
	case draft4, draft6, draft7:
	}
	return fmt.Sprintf("draft %d", int(d))
}

// validators returns the validator's own name for the draft.
func (d draft) validators() *jsonschema.Draft {
	switch d {
	case draft4:
		return jsonschema.Draft4
	case draft6:
		return jsonschema.Draft6
	case draft2019:
		return jsonschema.Draft2019
	case draft2020:
		return jsonschema.Draft2020
	case draft7:
	}
	return jsonschema.Draft7
}

var dialects = map[string]draft{
	"json-schema.org/draft-04/schema":      draft4,
	"json-schema.org/draft-06/schema":      draft6,
	"json-schema.org/draft-07/schema":      draft7,
	"json-schema.org/draft/2019-09/schema": draft2019,
	"json-schema.org/draft/2020-12/schema": draft2020,
}

// dialectOf reads $schema; without one a document is Draft 7. known is false for
// everything but the five drafts by their own URLs. The validator takes more, and
// that more is dangerous: https://json-schema.org/schema is whatever is latest, and
// .../2020-12/meta/core, which it has as well, switches off type, properties and
// all other assertions.
func dialectOf(document any) (d draft, known bool) {
	object, _ := document.(map[string]any)
	value, declared := object["$schema"]
	if !declared {
		return draft7, true
	}
	text, _ := value.(string)
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "http" && scheme != "https" {
		return draft7, false
	}
	d, known = dialects[strings.TrimSuffix(rest, "#")]
	return d, known
}
