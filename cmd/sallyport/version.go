package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versions names this build and what it judges with.
type versions struct {
	Sallyport  string `json:"sallyport"`
	OPA        string `json:"opa"`
	JSONSchema string `json:"jsonschema"`
	Go         string `json:"go"`
}

func readVersions() versions {
	v := versions{Sallyport: "devel", OPA: "unknown", JSONSchema: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if version := info.Main.Version; version != "" && version != "(devel)" {
		v.Sallyport = version
	}
	for _, module := range info.Deps {
		switch module.Path {
		case "github.com/open-policy-agent/opa":
			v.OPA = module.Version
		case "github.com/santhosh-tekuri/jsonschema/v6":
			v.JSONSchema = module.Version
		}
	}
	return v
}

func newVersion(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json"}}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the version and what it judges with",
		Example: "  sallyport version\n  sallyport version --output json",
		Args:    withHint(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			v := readVersions()
			if format.value == "json" {
				return json.NewEncoder(s.out).Encode(v)
			}
			_, err := fmt.Fprintf(s.out, "sallyport %s\nopa %s\njsonschema %s\n%s\n", v.Sallyport, v.OPA, v.JSONSchema, v.Go)
			return err
		},
	}
	format.register(cmd, "output", "form of the answer")
	return cmd
}
