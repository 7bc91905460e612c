package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
)

// checkFields makes sure that rules of the user's own read members of the payload that some
// tool has: a condition on any other never holds, and the rule is silent. Where schemas come
// from a server they may change, so there it is a warning.
func (e *Engine) checkFields() error {
	documents := map[string]any{}
	for name, t := range e.tools {
		var document any
		if json.Unmarshal(t.document, &document) == nil {
			documents[name] = document
		}
	}
	var faults []error
	for _, read := range e.policy.PayloadReads() {
		if problem := unreadable(read, documents); problem != "" {
			faults = append(faults, fmt.Errorf("%s:%d: %s", read.File, read.Line, problem))
		}
	}
	if e.settings.loadPolicy == AllOrNothing {
		return errors.Join(faults...)
	}
	for _, fault := range faults {
		e.logger.Warn("a rule reads what no tool has", zap.String("problem", printable(fault.Error())))
	}
	return nil
}

// unreadable says why no call can have what a rule reads; "" where one can.
func unreadable(read policy.PayloadRead, documents map[string]any) string {
	path := "input.payload." + strings.Join(read.Path, ".")
	if len(read.Tools) == 0 && len(read.Path) > 0 {
		for _, document := range documents {
			if mayHave(document, read.Path) {
				return ""
			}
		}
		return fmt.Sprintf("reads %s, which no tool has; correct the name", path)
	}
	for _, tool := range read.Tools {
		document, exists := documents[tool]
		switch {
		case !exists:
			return fmt.Sprintf("is for the tool %q, which is not registered; correct the name", printable(tool))
		case mayHave(document, read.Path):
			return ""
		}
	}
	return fmt.Sprintf("reads %s, which the tool %s does not have; correct the name", path, strings.Join(read.Tools, ", "))
}

// mayHave says whether a value of this schema may have a member at path. Keywords beside
// properties can only forbid more, but for a few.
func mayHave(schema any, path []string) bool {
	object, ok := schema.(map[string]any)
	if !ok || len(path) == 0 {
		return schema != false
	}
	for _, word := range []string{"$ref", "$dynamicRef", "$recursiveRef", "patternProperties"} {
		if _, more := object[word]; more {
			return true
		}
	}
	if !mayBeObject(object["type"]) {
		return false
	}
	properties, _ := object["properties"].(map[string]any)
	if member, exists := properties[path[0]]; exists {
		return mayHave(member, path[1:])
	}
	if object["unevaluatedProperties"] == false {
		for _, word := range []string{"allOf", "anyOf", "oneOf", "if", "dependentSchemas"} {
			if _, more := object[word]; more {
				return true
			}
		}
		return false
	}
	return object["additionalProperties"] != false
}

func mayBeObject(kind any) bool {
	switch k := kind.(type) {
	case string:
		return k == "object"
	case []any:
		return slices.Contains(k, any("object"))
	}
	return true
}
