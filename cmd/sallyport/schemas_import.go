package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

type importFlags struct {
	out    string
	force  bool
	server serverFlags
}

func newSchemasImport(s streams) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import --out DIR (URL | -- COMMAND [ARG...])",
		Short: "Write the schemas that a server lists into files, for review",
		Long: `Ask a server for its tools, all pages, and write the schema of each into
DIR/<tool>.json. A schema that names no draft gets the $schema that MCP says it
has, 2020-12, since files without are Draft 7.

Files that are there and say something else are left alone, unless --force is
given. The exit code is 1 if a tool could not be written, or has a schema with
faults.`,
		Example: `  sallyport schemas import --out schemas -- npx -y @modelcontextprotocol/server-filesystem /srv/files
  sallyport schemas import --out schemas http://127.0.0.1:3000/mcp
  sallyport schemas import --out schemas --token-env TOKEN https://mcp.example/mcp`,
		Args: withHint(oneServer),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := f.server.list(cmd, s, args)
			if err != nil {
				return err
			}
			return f.write(cmd.Context(), s, list)
		},
	}
	cmd.Flags().StringVar(&f.out, "out", "", "folder for the files; it is made if it is missing")
	_ = cmd.MarkFlagRequired("out")
	_ = cmd.MarkFlagDirname("out")
	cmd.Flags().BoolVar(&f.force, "force", false, "write over files that say something else")
	f.server.register(cmd)
	return cmd
}

// fileStem is what a tool can be called to give its name to a file.
var fileStem = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`)

func (f *importFlags) write(ctx context.Context, s streams, list server.ToolsList) error {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	eng, err := engine.New(ctx, engine.WithServerTools(list.Tools), engine.WithLogger(zap.NewNop()))
	if err != nil {
		return err
	}
	faults := map[string]engine.SchemaFinding{}
	for _, found := range eng.SchemaFindings() {
		if _, known := faults[found.Tool]; found.Fault && !known {
			faults[found.Tool] = found
		}
	}
	failed := false
	for _, tool := range list.Tools {
		said, err := f.writeTool(tool)
		if err == nil && faults[tool.Name].Fault {
			err = fmt.Errorf("%s, but the schema has faults: %s", said, faults[tool.Name])
		}
		if err != nil {
			failed, said = true, err.Error()
		}
		if _, err := fmt.Fprintf(s.out, "%s: %s\n", showName(tool.Name), showLine(said)); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(s.err, "%s in %s; read them, and run 'sallyport schemas lint %s'\n", counted(len(list.Tools), "tool"), showName(f.out), showName(f.out)); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	if failed {
		return errRefused
	}
	return nil
}

// writeTool says what has become of the file.
func (f *importFlags) writeTool(tool engine.ServerTool) (string, error) {
	switch {
	case tool.Fault != nil:
		return "", fmt.Errorf("not written: %w", tool.Fault)
	case !fileStem.MatchString(tool.Name):
		return "", errors.New("not written: the name cannot be that of a file")
	}
	text, err := documentOf(tool.InputSchema)
	if err != nil {
		return "", fmt.Errorf("not written: %w", err)
	}
	path := filepath.Join(f.out, tool.Name+".json")
	old, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(old, text):
		return "unchanged", nil
	case err == nil && !f.force:
		return "", errors.New("not written: the file says something else; compare with 'sallyport schemas diff', and use --force")
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	return "written", os.WriteFile(path, text, 0o644)
}

const draft2020 = "https://json-schema.org/draft/2020-12/schema"

// documentOf returns a schema as a file has it: on several lines, and with its draft.
// Nothing else about it changes.
func documentOf(schema []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(schema, &members); err != nil {
		return nil, fmt.Errorf("the schema is not an object: %w", err)
	}
	if _, declared := members["$schema"]; !declared {
		rest := bytes.TrimSpace(schema)[1:]
		comma := ","
		if len(members) == 0 {
			comma = ""
		}
		schema = append([]byte(`{"$schema":"`+draft2020+`"`+comma), rest...)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, schema, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
