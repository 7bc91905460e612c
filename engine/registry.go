package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/engine/internal/schema"
)

// tool is one entry of the registry. Its document is the one truth: these bytes
// are advertised, and these bytes were compiled.
type tool struct {
	document []byte
	schema   *schema.Schema
	timeout  time.Duration // 0: none declared
}

// A schema file is written by the operator, so its limits only keep a mistake
// from eating the machine; they decide about no call.
var schemaFileLimits = payload.Limits{
	MaxBytes:        256 << 10,
	MaxDepth:        64,
	MaxNumberLength: 64,
	MaxExponent:     308,
	ListedStrings:   1,
}

// Policy data may hold long lists.
var dataFileLimits = payload.Limits{
	MaxBytes:        16 << 20,
	MaxDepth:        64,
	MaxNumberLength: 64,
	MaxExponent:     308,
	ListedStrings:   1,
}

// loadRegistry reads and compiles every .json file at the root of fsys. The error
// holds the faults of all files.
func loadRegistry(fsys fs.FS, bindings map[string]map[string][]string, logger *zap.Logger) (map[string]*tool, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("load schemas: %w", err)
	}
	tools := map[string]*tool{}
	var faults []error
	for _, entry := range entries {
		name, isSchema := strings.CutSuffix(entry.Name(), ".json")
		if entry.IsDir() || !isSchema {
			continue
		}
		if name == "" {
			faults = append(faults, fmt.Errorf("load schemas: %s: the file name has no stem to name the tool", entry.Name()))
			continue
		}
		document, err := fs.ReadFile(fsys, entry.Name())
		if err == nil {
			tools[name], err = newTool(name, document, bindings[name], logger)
		}
		if err != nil {
			faults = append(faults, prefixed("load schemas: "+entry.Name()+": ", err)...)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if len(tools) == 0 {
		return nil, errors.New("load schemas: there is no .json file: put one file per tool into the folder, named <tool>.json")
	}
	return tools, nil
}

// prefixed gives each of joined errors the prefix, so that each line of the whole
// report reads on its own.
func prefixed(prefix string, err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, inner := range joined.Unwrap() {
			all = append(all, prefixed(prefix, inner)...)
		}
		return all
	}
	return []error{fmt.Errorf("%s%w", prefix, err)}
}

func newTool(name string, document []byte, binding map[string][]string, logger *zap.Logger) (*tool, error) {
	decoded, err := decodeDocument(document, schemaFileLimits)
	if err != nil {
		return nil, err
	}
	if len(binding) > 0 {
		if document, err = bindEnums(document, binding); err != nil {
			return nil, err
		}
		if decoded, err = decodeDocument(document, schemaFileLimits); err != nil {
			return nil, err
		}
	}
	if err := schema.CheckRoot(name, decoded); err != nil {
		return nil, err
	}
	timeout, err := declaredTimeout(decoded)
	if err != nil {
		return nil, err
	}
	compiled, warnings, err := schema.Compile(name, decoded)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		logger.Warn("schema", zap.String("tool", name), zap.String("location", w.Location),
			zap.String("problem", w.Problem), zap.String("remedy", w.Remedy))
	}
	return &tool{document: append([]byte(nil), document...), schema: compiled, timeout: timeout}, nil
}

// decodeDocument reads a JSON document of the operator's as strictly as a payload.
func decodeDocument(document []byte, limits payload.Limits) (any, error) {
	result := payload.Decode(document, limits)
	facts := result.Facts
	switch {
	case facts.Complete:
		return result.Value, nil
	case facts.Fault != nil:
		line, column := position(document, facts.Fault.Offset)
		at := ""
		if facts.Fault.Path != "" {
			at = " at " + printable(facts.Fault.Path)
		}
		return nil, fmt.Errorf("line %d, column %d%s: not valid JSON: %s", line, column, at, strings.ReplaceAll(facts.Fault.Code, "_", " "))
	case facts.Stop == "depth":
		return nil, fmt.Errorf("at %s: nested deeper than %d levels", printable(facts.Deepest), limits.MaxDepth)
	}
	return nil, fmt.Errorf("larger than %d bytes", limits.MaxBytes)
}

func position(text []byte, offset int) (line, column int) {
	before := string(text[:min(offset, len(text))])
	line = 1 + strings.Count(before, "\n")
	return line, len(before) - strings.LastIndexByte(before, '\n')
}

// declaredTimeout reads timeoutSeconds, the time that one call of the tool may
// take: a number above 0, in seconds.
func declaredTimeout(decoded any) (time.Duration, error) {
	root, _ := decoded.(map[string]any)
	value, declared := root["timeoutSeconds"]
	if !declared {
		return 0, nil
	}
	number, ok := value.(json.Number)
	if !ok {
		return 0, errors.New("at /timeoutSeconds: must be a number of seconds")
	}
	seconds, err := number.Float64()
	if err != nil || seconds*float64(time.Second) < 1 || seconds > math.MaxInt64/float64(time.Second)/2 {
		return 0, fmt.Errorf("at /timeoutSeconds: %s is not a number of seconds above 0 that a clock can count", number)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
