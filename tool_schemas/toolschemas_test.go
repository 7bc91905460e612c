package toolschemas_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	toolschemas "github.com/sallyport-mcp/sallyport/tool_schemas"
)

// tools are the names of all tools, sorted.
var tools = []string{
	"bernstein_approve",
	"bernstein_cancel",
	"bernstein_claim",
	"bernstein_complete",
	"bernstein_context",
	"bernstein_cost",
	"bernstein_create_subtask",
	"bernstein_health",
	"bernstein_post_artifact",
	"bernstein_post_message",
	"bernstein_run",
	"bernstein_run_status",
	"bernstein_scenario",
	"bernstein_scenario_status",
	"bernstein_scenarios",
	"bernstein_shutdown_orchestrator",
	"bernstein_status",
	"bernstein_stop",
	"bernstein_task_capsule",
	"bernstein_task_handle",
	"bernstein_tasks",
	"bernstein_update",
	"bernstein_verify_lineage",
	"load_skill",
	"verify_chain",
}

// replacements are the tools that take the place of the deprecated ones.
var replacements = map[string]string{
	"bernstein_context":         "bernstein_task_capsule",
	"bernstein_cost":            "bernstein_status",
	"bernstein_create_subtask":  "bernstein_run",
	"bernstein_health":          "bernstein_status",
	"bernstein_scenario_status": "bernstein_scenario",
	"bernstein_scenarios":       "bernstein_scenario",
	"bernstein_stop":            "bernstein_shutdown_orchestrator",
	"bernstein_task_handle":     "bernstein_run_status",
	"bernstein_tasks":           "bernstein_status",
	"bernstein_update":          "bernstein_post_message",
	"verify_chain":              "bernstein_verify_lineage",
}

// timeouts are the limits in seconds of the tools that have one.
var timeouts = map[string]string{
	"bernstein_create_subtask": "30",
	"bernstein_post_artifact":  "30",
	"bernstein_update":         "30",
	"load_skill":               "30",
}

// document is the part of a schema file that every tool has.
type document struct {
	Schema               string              `json:"$schema"`
	Description          string              `json:"description"`
	TimeoutSeconds       json.RawMessage     `json:"timeoutSeconds"`
	Type                 string              `json:"type"`
	AdditionalProperties *bool               `json:"additionalProperties"`
	Properties           map[string]property `json:"properties"`
}

type property struct {
	Comment     string          `json:"$comment"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        json.RawMessage `json:"enum"`
}

func TestOneFilePerTool(t *testing.T) {
	files, err := fs.Glob(toolschemas.FS, "*")
	if err != nil {
		t.Fatal(err)
	}
	var stems []string
	for _, file := range files {
		stem, isJSON := strings.CutSuffix(file, ".json")
		if !isJSON {
			t.Errorf("%s is no schema file", file)
		}
		stems = append(stems, stem)
	}
	if diff := cmp.Diff(tools, stems); diff != "" {
		t.Errorf("stems of the schema files (-want +got):\n%s", diff)
	}
}

func TestEveryFileIsAClosedDraft7Object(t *testing.T) {
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			got := read(t, tool)
			if want := "http://json-schema.org/draft-07/schema#"; got.Schema != want {
				t.Errorf("$schema is %q, want %q", got.Schema, want)
			}
			if got.Type != "object" {
				t.Errorf("type is %q, want object", got.Type)
			}
			if got.AdditionalProperties == nil || *got.AdditionalProperties {
				t.Error("additionalProperties is not false")
			}
			if got.Properties == nil {
				t.Error("properties is missing")
			}
		})
	}
}

func TestEverythingIsDescribed(t *testing.T) {
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			got := read(t, tool)
			if !strings.Contains(got.Description, ". Host effects: ") {
				t.Errorf("description %q does not say the host effects", got.Description)
			}
			for name, member := range got.Properties {
				if strings.TrimSpace(member.Description) == "" {
					t.Errorf("property %s has no description", name)
				}
				if member.Default != nil {
					t.Errorf("property %s has a default", name)
				}
			}
		})
	}
}

func TestDeprecatedToolsNameTheirReplacement(t *testing.T) {
	for _, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			got := read(t, tool).Description
			replacement, deprecated := replacements[tool]
			if !deprecated {
				if strings.Contains(got, "Deprecated") {
					t.Errorf("description %q calls a canonical tool deprecated", got)
				}
				return
			}
			if want := "Deprecated, use " + replacement + " "; !strings.HasPrefix(got, want) {
				t.Errorf("description %q does not begin with %q", got, want)
			}
		})
	}
}

func TestTimeouts(t *testing.T) {
	got := map[string]string{}
	for _, tool := range tools {
		if seconds := read(t, tool).TimeoutSeconds; seconds != nil {
			got[tool] = string(seconds)
		}
	}
	if diff := cmp.Diff(timeouts, got); diff != "" {
		t.Errorf("timeoutSeconds (-want +got):\n%s", diff)
	}
}

// The known roles live in the policy's data; a second list here could differ.
func TestRolesOfSubtasksAreNotListedHere(t *testing.T) {
	role, found := read(t, "bernstein_create_subtask").Properties["role"]
	if !found {
		t.Fatal("property role is missing, so nothing can be bound to it")
	}
	if role.Enum != nil {
		t.Errorf("property role has the enum %s", role.Enum)
	}
	if want := "enum is bound at load from the known roles in policies/data.json"; role.Comment != want {
		t.Errorf("$comment is %q, want %q", role.Comment, want)
	}
}

func read(t *testing.T, tool string) document {
	t.Helper()
	file := tool + ".json"
	raw, err := fs.ReadFile(toolschemas.FS, file)
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return doc
}
