package hand

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Decoder is Decode or DecodeTokens.
type Decoder func(raw []byte) (any, Facts, *Violation)

// Judge holds the compiled schemas of all tools.
type Judge struct {
	decode  Decoder
	schemas map[string]*jsonschema.Schema
	exempt  []string
}

// roleTool is the one tool whose role has to be a known one.
const roleTool = "bernstein_create_subtask"

// Roles are the known ones.
var Roles = []string{
	"adversary", "analyst", "architect", "backend", "ci-fixer", "data", "devops", "docs", "frontend", "manager", "ml-engineer",
	"prompt-engineer", "qa", "resolver", "retrieval", "reviewer", "security", "visionary", "vp",
}

// New compiles the schemas, by tool, and reads payloads with decode. For tools that are
// exempt there is no limit on size.
func New(decode Decoder, documents map[string][]byte, exempt ...string) (*Judge, error) {
	j := &Judge{decode: decode, schemas: map[string]*jsonschema.Schema{}, exempt: exempt}
	for tool, document := range documents {
		s, err := Compile(tool, document)
		if err != nil {
			return nil, err
		}
		j.schemas[tool] = s
	}
	return j, nil
}

// Compile compiles one schema with the validator as it comes, draft 7 by default.
func Compile(tool string, document []byte) (*jsonschema.Schema, error) {
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", tool, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	url := "mem:///" + tool + ".json"
	if err := c.AddResource(url, decoded); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", tool, err)
	}
	s, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", tool, err)
	}
	return s, nil
}

// Judge returns the decoded arguments of a call, or what is wrong with them, sorted.
func (j *Judge) Judge(tool string, raw []byte) (map[string]any, []Violation) {
	schema := j.schemas[tool]
	if schema == nil {
		return nil, []Violation{{"", "unknown tool"}}
	}
	limit := MaxBytes
	if len(raw) > MaxBytes && slices.Contains(j.exempt, tool) {
		limit = maxBytesExempt
	}
	object, facts, fault := Object(j.decode, raw, limit)
	if fault != nil {
		return nil, []Violation{*fault}
	}
	found := Rules(tool, object, &facts)
	found = Schema(schema, object, found)
	if len(found) > 0 {
		return nil, ordered(found)
	}
	return object, nil
}

// Object decodes arguments: a JSON object of at most limit bytes.
func Object(decode Decoder, raw []byte, limit int) (map[string]any, Facts, *Violation) {
	if len(raw) > limit && len(bytes.Trim(raw, " \t\r\n")) > limit {
		return nil, Facts{}, &Violation{"", "payload too large"}
	}
	value, facts, fault := decode(raw)
	if fault != nil {
		return nil, facts, fault
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, facts, &Violation{"", "arguments must be a JSON object"}
	}
	return object, facts, nil
}

// Rules are the deny rules that are left once a payload has been decoded.
func Rules(tool string, object map[string]any, facts *Facts) (found []Violation) {
	for _, c := range facts.Controls {
		found = append(found, Violation{c.Path, c.reason()})
	}
	if tool == roleTool {
		if role, given := object["role"]; given {
			if text, ok := role.(string); !ok || !slices.Contains(Roles, text) {
				found = append(found, Violation{"/role", "role is not one of " + strings.Join(Roles, ", ")})
			}
		}
	}
	return found
}

func (c *Control) reason() string {
	var b strings.Builder
	if c.Key {
		b.WriteString("the key has forbidden control characters:")
	} else {
		b.WriteString("the string has forbidden control characters:")
	}
	for i, set := range c.CodePoints {
		for ; set != 0; set &= set - 1 {
			fmt.Fprintf(&b, " U+%04X", i<<6+bits.TrailingZeros64(set))
		}
	}
	return b.String()
}

var printer = message.NewPrinter(language.English)

// Schema validates a decoded payload and adds what is wrong to found.
func Schema(s *jsonschema.Schema, object map[string]any, found []Violation) []Violation {
	err := s.Validate(object)
	if err == nil {
		return found
	}
	var broken *jsonschema.ValidationError
	if !errors.As(err, &broken) {
		return append(found, Violation{"", err.Error()})
	}
	return leaves(broken, found)
}

func leaves(e *jsonschema.ValidationError, found []Violation) []Violation {
	for _, cause := range e.Causes {
		found = leaves(cause, found)
	}
	if len(e.Causes) > 0 {
		return found
	}
	path := ""
	for _, t := range e.InstanceLocation {
		path += "/" + escaper.Replace(t)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			found = append(found, Violation{path + "/" + escaper.Replace(name), "required property is missing"})
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			found = append(found, Violation{path + "/" + escaper.Replace(name), "unexpected property"})
		}
	default:
		found = append(found, Violation{path, e.ErrorKind.LocalizedString(printer)})
	}
	return found
}

func ordered(found []Violation) []Violation {
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason))
	})
	found = slices.Compact(found)
	return found[:min(len(found), maxViolations)]
}
