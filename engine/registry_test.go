package engine_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	toolschemas "github.com/sallyport-mcp/sallyport/tool_schemas"
)

func TestToolsAreTheSchemaFiles(t *testing.T) {
	e := newEngine(t)
	var stems []string
	files, err := fs.Glob(toolschemas.FS, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		stems = append(stems, strings.TrimSuffix(file, ".json"))
	}
	slices.Sort(stems)
	if len(stems) != 25 {
		t.Errorf("%d schema files, want 25", len(stems))
	}
	if diff := cmp.Diff(stems, e.Tools()); diff != "" {
		t.Errorf("(-files +tools):\n%s", diff)
	}
}

// What is advertised are the bytes of the file, but for the bound roles.
func TestAdvertisedSchemaIsTheFile(t *testing.T) {
	e := newEngine(t)
	for _, name := range e.Tools() {
		file, err := fs.ReadFile(toolschemas.FS, name+".json")
		if err != nil {
			t.Fatal(err)
		}
		got, ok := e.AdvertisedSchema(name)
		if !ok {
			t.Errorf("%s is not advertised", name)
			continue
		}
		if name == "bernstein_create_subtask" {
			start, end := bytes.Index(got, []byte(`"enum": ["adversary"`)), bytes.Index(got, []byte(`"vp"], `))
			if start < 0 || end < 0 {
				t.Fatalf("no roles in %s", got)
			}
			got = append(got[:start:start], got[end+len(`"vp"], `):]...)
		}
		if diff := cmp.Diff(string(file), string(got)); diff != "" {
			t.Errorf("%s (-file +advertised):\n%s", name, diff)
		}
	}
	if document, ok := e.AdvertisedSchema("nobody"); ok {
		t.Errorf("nobody is advertised: %s", document)
	}
}

// The rule, the advertised schema and the enforced one have the same roles.
func TestRolesAreOneList(t *testing.T) {
	e := newEngine(t)
	document, _ := e.AdvertisedSchema("bernstein_create_subtask")
	var advertised struct {
		Properties struct {
			Role struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(document, &advertised); err != nil {
		t.Fatal(err)
	}
	roles := advertised.Properties.Role.Enum
	if len(roles) != 19 {
		t.Fatalf("%d roles are advertised, want 19", len(roles))
	}
	for _, role := range roles {
		mustAccept(t, e, "bernstein_create_subtask", `{"parent_task_id": "t", "goal": "x", "role": "`+role+`"}`)
	}
	reason := refused(t, e, "bernstein_create_subtask", `{"parent_task_id": "t", "goal": "x", "role": "auto"}`).Violations[0].Reason
	if want := `"auto" is not one of ` + strings.Join(roles, ", "); reason != want {
		t.Errorf("reason %s\nwant   %s", reason, want)
	}
	// The schema alone enforces it, too.
	e = newEngine(t, ownData(`{"sallyport": {"disabled_rules": {"role_enum": "leave it to the schema"}}}`))
	if diff := cmp.Diff([]string{"/role enum"}, checksOf(refused(t, e, "bernstein_create_subtask", `{"parent_task_id": "t", "goal": "x", "role": "auto"}`))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEnumBinding(t *testing.T) {
	const rest = `"type": "object", "additionalProperties": false`
	roles := `["a","b"]`
	for name, c := range map[string]struct{ document, want string }{
		"inserted":         {`{` + rest + `, "properties": {"role": {"type": "string"}}}`, `{` + rest + `, "properties": {"role": {"enum": ["a","b"], "type": "string"}}}`},
		"inserted, alone":  {`{` + rest + `, "properties": {"role": { }}}`, `{` + rest + `, "properties": {"role": {"enum": ["a","b"] }}}`},
		"replaced":         {`{` + rest + `, "properties": {"role": {"enum" :  ["x", {"y": 1}] }}}`, `{` + rest + `, "properties": {"role": {"enum" :  ["a","b"] }}}`},
		"namesakes remain": {`{"properties": {"r": {"properties": {"role": {"enum": ["x"]}}}, "role": {"enum": ["x"]}}, ` + rest + `}`, `{"properties": {"r": {"properties": {"role": {"enum": ["x"]}}}, "role": {"enum": ["a","b"]}}, ` + rest + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, schemas(map[string]string{"bernstein_create_subtask": c.document}), ownData(`{"sallyport": {"known_roles": `+roles+`}}`))
			got, _ := e.AdvertisedSchema("bernstein_create_subtask")
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			refused(t, e, "bernstein_create_subtask", `{"role": "x"}`)
			mustAccept(t, e, "bernstein_create_subtask", `{"role": "b"}`)
		})
	}
}

func TestAdvertisedSchemaIsACopy(t *testing.T) {
	e := newEngine(t)
	document, _ := e.AdvertisedSchema("bernstein_run")
	original := slices.Clone(document)
	for i := range document {
		document[i] = ' '
	}
	again, _ := e.AdvertisedSchema("bernstein_run")
	if !bytes.Equal(original, again) {
		t.Error("writing into an advertised schema changed the next one")
	}
	refused(t, e, "bernstein_run", `{}`)
	tools := e.Tools()
	tools[0] = "changed"
	if e.Tools()[0] == "changed" {
		t.Error("writing into the list of tools changed the next one")
	}
}

func TestTimeoutsAreDeclaredInTheSchema(t *testing.T) {
	e := newEngine(t)
	var bounded []string
	for _, name := range e.Tools() {
		limit, ok := e.Timeout(name)
		if !ok {
			continue
		}
		bounded = append(bounded, name)
		if limit != 30*time.Second {
			t.Errorf("%s: %s", name, limit)
		}
		if document, _ := e.AdvertisedSchema(name); !bytes.Contains(document, []byte(`"timeoutSeconds": 30`)) {
			t.Errorf("%s: the bound is not advertised", name)
		}
	}
	want := []string{"bernstein_create_subtask", "bernstein_post_artifact", "bernstein_update", "load_skill"}
	if diff := cmp.Diff(want, bounded); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	e = newEngine(t, schemas(map[string]string{"quick": `{"type": "object", "additionalProperties": false, "timeoutSeconds": 0.25}`}))
	if limit, _ := e.Timeout("quick"); limit != 250*time.Millisecond {
		t.Errorf("0.25 seconds are %s", limit)
	}
}
