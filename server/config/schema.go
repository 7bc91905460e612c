package config

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSONSchema returns a JSON Schema (Draft 7) of the file, for editors; it is shipped as
// sallyport.schema.json. The parser knows more: keys that are there twice, names and
// paths that two upstreams share, bounds of durations, and whatever of YAML is not JSON.
func JSONSchema() []byte {
	whole := root.schema()
	whole["$schema"] = "http://json-schema.org/draft-07/schema#"
	whole["title"] = "sallyport.yaml"
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(whole); err != nil {
		panic(err) // maps of strings and numbers
	}
	return b.Bytes()
}

type document = map[string]any

func (s *shape) schema() document {
	if s.option != nil {
		return s.option.schema()
	}
	members := document{}
	for name, member := range s.members {
		members[name] = member.schema()
	}
	d := document{"type": "object", "additionalProperties": false, "properties": members}
	if s.object.usage != "" {
		d["description"] = s.object.usage
	}
	if len(s.object.required) > 0 {
		d["required"] = s.object.required
	}
	var either []document
	for _, name := range s.object.exactlyOne {
		either = append(either, document{"required": []string{name}})
	}
	if len(either) > 0 {
		d["oneOf"] = either
	}
	if len(s.object.needs) > 0 {
		needs := document{}
		for name, needed := range s.object.needs {
			needs[name] = []string{needed}
		}
		d["dependencies"] = needs
	}
	if s.list {
		return document{"type": "array", "items": d}
	}
	return d
}

func (o *Option) schema() document {
	d := o.valueSchema()
	d["description"] = sentence(o)
	return d
}

func (o *Option) valueSchema() document {
	item := document{"type": "string", "pattern": o.pattern}
	switch o.Kind {
	case Choice:
		d := document{"enum": o.Choices}
		if o.Default != "" {
			d["default"] = o.Default
		}
		return d
	case Bool:
		return document{"type": "boolean", "default": o.Default == "true"}
	case Integer:
		d := document{"type": "integer", "minimum": o.Min, "maximum": o.Max}
		if o.Default != "" {
			d["default"] = json.Number(o.Default)
		}
		return d
	case Duration:
		return document{"type": "string", "pattern": patternDuration, "default": o.Default}
	case Texts, Paths:
		d := document{"type": "array", "items": item}
		if !o.repeats {
			d["uniqueItems"] = true
		}
		return d
	case References:
		return o.referencesSchema()
	case Text, Path:
	}
	if o.Default != "" {
		item["default"] = o.Default
	}
	return item
}

func (o *Option) referencesSchema() document {
	names := document{"pattern": o.pattern}
	if o.refuse != "" {
		names["not"] = document{"pattern": o.refuse}
	}
	value := referenceShape.schema()
	if o.plain {
		value = document{"anyOf": []document{{"type": "string", "pattern": patternText}, value}}
	}
	return document{"type": "object", "propertyNames": names, "additionalProperties": value}
}

// sentence describes an option for an editor.
func sentence(o *Option) string {
	if o.Default != "" {
		return fmt.Sprintf("%s. Default: %s.", o.Usage, o.Default)
	}
	if o.Absent != "" {
		return fmt.Sprintf("%s. Default: %s.", o.Usage, o.Absent)
	}
	return o.Usage + "."
}
