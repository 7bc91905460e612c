package schema

// CheckRoot looks at whether the root lets members pass by saying nothing about
// them: deny by default has to be written down, one way or the other. With OpenRoot
// it warns of that; a root that says nothing at all is refused in any case. It does
// not look any further; Compile does. The error joins a *CompileError for every
// fault.
func CheckRoot(tool string, document any, o Options) ([]Warning, error) {
	root, ok := document.(map[string]any)
	if !ok {
		return nil, joined([]*CompileError{{Tool: tool, Problem: "the root is not an object", Remedy: `start with {"type": "object", "additionalProperties": false, ...}`}})
	}
	if len(root) == 0 {
		return nil, joined([]*CompileError{{Tool: tool, Problem: "the schema is empty, so it allows everything", Remedy: `say at least {"type": "object"}`}})
	}
	var faults []*CompileError
	var warnings []Warning
	find := func(fault bool, location, problem, remedy string) {
		if fault {
			faults = append(faults, &CompileError{Tool: tool, Location: location, Problem: problem, Remedy: remedy})
		} else {
			warnings = append(warnings, Warning{Location: location, Problem: problem, Remedy: remedy})
		}
	}
	if kind, present := root["type"]; kind != "object" {
		find(present || !o.OpenRoot, "/type", `the root does not have "type": "object"`, `set type to "object", which arguments always are`)
	}
	_, closed := root["additionalProperties"]
	if d, known, _ := dialectOf(document, o); !closed && known && d >= Draft2019 {
		_, closed = root["unevaluatedProperties"]
	}
	if !closed {
		find(!o.OpenRoot, "/additionalProperties", "the root does not say whether other members are allowed", "set additionalProperties to false")
	}
	if len(faults) > 0 {
		return nil, joined(faults)
	}
	return warnings, nil
}
