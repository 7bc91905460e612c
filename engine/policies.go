package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
	"github.com/sallyport-mcp/sallyport/policies"
)

// readPolicies takes the modules below fsys, tests left out, and the data.json at
// its root.
func readPolicies(fsys fs.FS) (policy.Source, error) {
	source := policy.Source{Modules: map[string]string{}}
	var faults []error
	err := fs.WalkDir(fsys, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".rego") || strings.HasSuffix(path, "_test.rego") {
			return nil
		}
		text, err := fs.ReadFile(fsys, path)
		if err != nil {
			faults = append(faults, err)
			return nil
		}
		source.Modules[path] = string(text)
		return nil
	})
	if err != nil {
		return source, err
	}
	source.Data, err = readObject(fsys, "data.json")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		faults = append(faults, err)
	}
	if len(source.Modules) == 0 && source.Data == nil && len(faults) == 0 {
		return source, errors.New("the folder holds neither .rego files nor a data.json")
	}
	return source, errors.Join(faults...)
}

func readObject(fsys fs.FS, name string) (map[string]any, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	value, err := decodeDocument(text, dataFileLimits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: not a JSON object", name)
	}
	return object, nil
}

func policyConfig(s settings) (policy.Config, error) {
	inputSchema, err := readObject(policies.FS, "input.schema.json")
	if err != nil {
		return policy.Config{}, err
	}
	capabilities, err := fs.ReadFile(policies.FS, "capabilities.json")
	if err != nil {
		return policy.Config{}, err
	}
	return policy.Config{Capabilities: capabilities, InputSchema: inputSchema, Timeout: s.timeout, Memo: s.memo}, nil
}

// overlay puts what was set by option where the rules look for it.
func (s *settings) overlay() policy.Source {
	data := map[string]any{
		"exemptions": map[string]any{"allow_unsafe_args": each(s.allowUnsafeArgs)},
		"schemas":    map[string]any{"backtracking_patterns": each(s.backtracking)},
		"leniency":   map[string]any{"drop_nulls": each(s.dropNulls), "unwrap_json_strings": each(s.unwrapStrings)},
	}
	if s.maxViolations > 0 {
		data["answer"] = map[string]any{"max_violations": s.maxViolations}
	}
	return policy.Source{Data: map[string]any{"sallyport": data}}
}

// each sets true for every name.
func each(names []string) map[string]any {
	members := map[string]any{}
	for _, name := range names {
		members[name] = true
	}
	return members
}
