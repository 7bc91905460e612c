package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine"
)

func newSchemas(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schemas",
		Short: "Look at the schemas that are advertised and enforced, check and compare them",
		Example: `  sallyport schemas list
  sallyport schemas show bernstein_run
  sallyport schemas lint --tools-list answer.json
  sallyport schemas diff old.json new.json
  sallyport schemas import --out schemas -- ./server
  sallyport schemas pin --lock pins.lock --tools-list answer.json`,
		Args: withHint(subcommandOnly),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newSchemasList(s), newSchemasShow(s), newSchemasLint(s), newSchemasDiff(s), newSchemasImport(s), newSchemasPin(s))
	return cmd
}

// toolRow is one tool of the list.
type toolRow struct {
	Tool           string   `json:"tool"`
	TimeoutSeconds float64  `json:"timeoutSeconds,omitempty"`
	Required       []string `json:"required"`
	Description    string   `json:"description"`
}

func newSchemasList(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json"}}
	var settings engineFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tools with their time bound and required members",
		Example: "  sallyport schemas list\n  sallyport schemas list --schemas ./tool_schemas --output json",
		Args:    withHint(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			eng, err := settings.engine(cmd.Context(), s.err)
			if err != nil {
				return err
			}
			rows, err := toolRows(eng)
			if err != nil {
				return err
			}
			if format.value == "json" {
				encoder := json.NewEncoder(s.out)
				encoder.SetEscapeHTML(false)
				return encoder.Encode(rows)
			}
			table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
			_, _ = fmt.Fprintln(table, "TOOL\tTIMEOUT\tREQUIRED\tDESCRIPTION")
			for _, row := range rows {
				bound := "-"
				if row.TimeoutSeconds > 0 {
					bound = fmt.Sprintf("%gs", row.TimeoutSeconds)
				}
				_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", showName(row.Tool), bound, orDash(strings.Join(row.Required, ",")), showName(row.Description))
			}
			return table.Flush()
		},
	}
	settings.registerSchemas(cmd)
	format.register(cmd, "output", "form of the list")
	return cmd
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return showName(text)
}

func toolRows(eng *engine.Engine) ([]toolRow, error) {
	rows := []toolRow{}
	for _, name := range eng.Tools() {
		document, _ := eng.AdvertisedSchema(name)
		var schema struct {
			Description string   `json:"description"`
			Required    []string `json:"required"`
		}
		if err := json.Unmarshal(document, &schema); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		first, _, _ := strings.Cut(schema.Description, ". ")
		row := toolRow{Tool: name, Required: append([]string{}, schema.Required...), Description: strings.TrimSuffix(first, ".")}
		if limit, ok := eng.Timeout(name); ok {
			row.TimeoutSeconds = limit.Seconds()
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func newSchemasShow(s streams) *cobra.Command {
	var settings engineFlags
	cmd := &cobra.Command{
		Use:               "show TOOL",
		Short:             "Print the schema of a tool, byte for byte as it is advertised and enforced",
		Example:           "  sallyport schemas show bernstein_run",
		Args:              withHint(cobra.ExactArgs(1)),
		ValidArgsFunction: settings.completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			eng, err := settings.engine(cmd.Context(), s.err)
			if err != nil {
				return err
			}
			document, ok := eng.AdvertisedSchema(args[0])
			if !ok {
				return fmt.Errorf("there is no tool %q%s; run 'sallyport schemas list'", args[0], suggestion(args[0], eng.Tools()))
			}
			_, err = s.out.Write(document)
			return err
		},
	}
	settings.registerSchemas(cmd)
	return cmd
}

// suggestion names the tool that was likely meant.
func suggestion(name string, tools []string) string {
	best, distance := "", len(name)/3+1
	for _, tool := range tools {
		if d := levenshtein.ComputeDistance(name, tool); d <= distance {
			best, distance = tool, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}
