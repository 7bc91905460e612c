package schema

// CheckRoot refuses a root that lets members pass by saying nothing about them:
// deny by default has to be written down, one way or the other. It does not look
// any further; Compile does. The error joins a *CompileError for every fault.
func CheckRoot(tool string, document any) error {
	root, ok := document.(map[string]any)
	if !ok {
		return joined([]*CompileError{{Tool: tool, Problem: "the root is not an object", Remedy: `start with {"type": "object", "additionalProperties": false, ...}`}})
	}
	var faults []*CompileError
	if root["type"] != "object" {
		faults = append(faults, &CompileError{
			Tool: tool, Location: "/type", Problem: `the root does not have "type": "object"`,
			Remedy: `set type to "object", which arguments always are`,
		})
	}
	_, closed := root["additionalProperties"]
	if d, known := dialectOf(document); !closed && known && d >= draft2019 {
		_, closed = root["unevaluatedProperties"]
	}
	if !closed {
		faults = append(faults, &CompileError{
			Tool: tool, Location: "/additionalProperties", Problem: "the root does not say whether other members are allowed",
			Remedy: "set additionalProperties to false",
		})
	}
	if len(faults) == 0 {
		return nil
	}
	return joined(faults)
}
