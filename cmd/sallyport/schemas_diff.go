package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

func newSchemasDiff(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json"}}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what changed between two versions of schemas",
		Long: `Show what changed between two versions of schemas, each a schema document, a
folder with one <tool>.json per tool, or a server's answer to tools/list.

Every change has a severity: widened (what was refused passes now), narrowed (what
passed is refused now), changed (both may be, or it cannot be told), description
(only texts changed).

Exit code 0: no changes, or only in descriptions; 1: other changes; 2: the work could
not be done.`,
		Example: `  sallyport schemas diff old/run.json new/run.json
  sallyport schemas diff ./tool_schemas ./imported
  sallyport schemas diff --output json monday.json today.json`,
		Args: withHint(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			changes, err := diffSchemas(args[0], args[1])
			if err != nil {
				return err
			}
			if err := writeChanges(s.out, format.value, changes); err != nil {
				return err
			}
			if slices.ContainsFunc(changes, func(c schemaChange) bool { return c.Severity != engine.DescriptionOnly }) {
				return errRefused
			}
			return nil
		},
	}
	format.register(cmd, "output", "form of the report")
	return cmd
}

// schemaChange is one line of the report.
type schemaChange struct {
	Tool     string          `json:"tool,omitempty"` // "" where two documents are compared
	Severity engine.Severity `json:"severity"`
	Location string          `json:"location"`
	Change   string          `json:"change"`
}

func diffSchemas(older, newer string) ([]schemaChange, error) {
	before, err := readSchemas(older)
	if err != nil {
		return nil, err
	}
	after, err := readSchemas(newer)
	if err != nil {
		return nil, err
	}
	if before.single != after.single {
		return nil, fmt.Errorf("%s and %s are not of one kind: a schema document cannot be compared with a set of tools", showName(older), showName(newer))
	}
	changes := []schemaChange{}
	names := maps.Clone(before.tools)
	maps.Copy(names, after.tools)
	for _, tool := range slices.Sorted(maps.Keys(names)) {
		was, existed := before.tools[tool]
		is, exists := after.tools[tool]
		switch {
		case !existed:
			changes = append(changes, schemaChange{showName(tool), engine.Widened, "", "tool added"})
			continue
		case !exists:
			changes = append(changes, schemaChange{showName(tool), engine.Narrowed, "", "tool removed"})
			continue
		}
		found, err := engine.DiffSchemas(was, is)
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", showName(older), showName(newer), err)
		}
		for _, c := range found {
			changes = append(changes, schemaChange{showName(tool), c.Severity, showName(c.Location), c.Change})
		}
	}
	return changes, nil
}

// schemaSet is one side of a comparison.
type schemaSet struct {
	single bool // one document, whose tool has no name
	tools  map[string]json.RawMessage
}

func readSchemas(name string) (schemaSet, error) {
	info, err := os.Stat(name)
	if err != nil {
		return schemaSet{}, err
	}
	if info.IsDir() {
		return readSchemaFolder(name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return schemaSet{}, err
	}
	list, err := server.ReadToolsList(text)
	if err != nil { // then it is a document, or the comparison says that it is not
		return schemaSet{single: true, tools: map[string]json.RawMessage{"": text}}, nil
	}
	set := schemaSet{tools: map[string]json.RawMessage{}}
	for _, tool := range list.Tools {
		if _, twice := set.tools[tool.Name]; twice && tool.Fault == nil {
			tool.Fault = fmt.Errorf("tool %q is listed twice", tool.Name)
		}
		if tool.Fault != nil {
			return schemaSet{}, fmt.Errorf("%s: %w", showName(name), tool.Fault)
		}
		set.tools[tool.Name] = tool.InputSchema
	}
	return set, nil
}

func readSchemaFolder(name string) (schemaSet, error) {
	files, err := fs.Glob(os.DirFS(name), "*.json")
	if err != nil {
		return schemaSet{}, err
	}
	if len(files) == 0 {
		return schemaSet{}, fmt.Errorf("%s: %w", showName(name), errors.New("there is no .json file in the folder"))
	}
	set := schemaSet{tools: map[string]json.RawMessage{}}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(name, file))
		if err != nil {
			return schemaSet{}, err
		}
		set.tools[strings.TrimSuffix(file, ".json")] = text
	}
	return set, nil
}

func writeChanges(w io.Writer, format string, changes []schemaChange) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(changes)
	}
	for _, c := range changes {
		parts := []string{string(c.Severity), c.Location, c.Change}
		if c.Tool != "" {
			parts = append([]string{showTool(c.Tool)}, parts...)
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		if _, err := fmt.Fprintln(w, strings.Join(parts, "  ")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, counted(len(changes), "change"))
	return err
}
