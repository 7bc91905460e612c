package tests

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/tests/schemagen"
)

// toolLists returns the recorded tools/list answers of published servers.
func toolLists(t *testing.T) []string {
	t.Helper()
	folder := os.Getenv("SALLYPORT_TOOLLISTS")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "toollists")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("SKIPPED, NOT PASSED: there are no tools/list answers in %s; set SALLYPORT_TOOLLISTS to their folder", folder)
	}
	return files
}

func listedTools(t *testing.T, file string) []engine.ServerTool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := server.ReadToolsList(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return list.Tools
}

// Schemas that nobody here wrote: none has a fault, no payload that fits one is
// refused, and none that does not fit passes. That a payload fits, or does not,
// follows from how it was made.
func TestPublishedServers(t *testing.T) {
	tools, valid, damaged := 0, 0, 0
	for _, file := range toolLists(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			listed := listedTools(t, file)
			e := engineOf(t, listed)
			if q := e.Quarantined(); len(q) > 0 {
				t.Fatalf("in quarantine: %v\n%v", q, e.SchemaFindings())
			}
			for _, tool := range listed {
				tools++
				v, d := judgeGenerated(t, e, tool)
				valid += v
				damaged += d
			}
		})
	}
	t.Logf("%d tools, %d valid payloads, %d damaged ones", tools, valid, damaged)
	if tools != 200 {
		t.Errorf("%d tools, want 200", tools)
	}
}

// engineOf looks at payloads with the second door alone: generated strings and depths
// are not for the rules on raw content.
func engineOf(t *testing.T, listed []engine.ServerTool) *engine.Engine {
	t.Helper()
	options := []engine.Option{engine.WithServerTools(listed), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop())}
	for _, tool := range listed {
		options = append(options, engine.WithAllowUnsafeArgs(tool.Name))
	}
	e, err := engine.New(context.Background(), options...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const payloadsPerTool = 40

func judgeGenerated(t *testing.T, e *engine.Engine, tool engine.ServerTool) (valid, damaged int) {
	t.Helper()
	var document any
	decoder := json.NewDecoder(strings.NewReader(string(tool.InputSchema)))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	generator, err := schemagen.New(document, 1)
	if err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	for range payloadsPerTool {
		valid++
		if _, err := e.Validate(context.Background(), tool.Name, encoded(t, generator.Valid())); err != nil {
			t.Errorf("%s: a valid payload is refused: %v", tool.Name, err)
		}
	}
	for _, d := range generator.Damaged() {
		damaged++
		raw := encoded(t, d.Payload)
		accepted, err := e.Validate(context.Background(), tool.Name, raw)
		var refusal *engine.ValidationError
		switch {
		case !errors.As(err, &refusal):
			t.Errorf("%s: %s at %s passes: %s", tool.Name, d.Kind, d.Path, accepted.Raw)
		case errors.Is(err, engine.ErrFault):
			t.Errorf("%s: %s at %s: %v", tool.Name, d.Kind, d.Path, errors.Unwrap(err))
		case !names(refusal, d.Path):
			t.Errorf("%s: %s at %s is refused for other reasons: %v\n%s", tool.Name, d.Kind, d.Path, refusal, raw)
		}
	}
	return valid, damaged
}

// names says whether a violation is at the path, or at a union around it. What is no
// object comes to no schema.
func names(refusal *engine.ValidationError, path string) bool {
	if path == "" {
		return true
	}
	for _, v := range refusal.Violations {
		if v.Stage == engine.StageSchema && (v.Path == path || strings.HasPrefix(path, v.Path+"/") || strings.HasPrefix(v.Path, path+"/")) {
			return true
		}
	}
	return false
}

func encoded(t *testing.T, payload any) []byte {
	t.Helper()
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
