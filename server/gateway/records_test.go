package gateway

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server/config"
)

// A configuration that is read again opens the file anew, so that it can be renamed away;
// one that is bad leaves the old one in force; and one without records ends them.
func TestRecordsAfterReload(t *testing.T) {
	folder := t.TempDir()
	file, name := filepath.Join(folder, "sallyport.yaml"), filepath.Join(folder, "records.jsonl")
	load := func(record string) *config.Settings {
		t.Helper()
		text := "engine: {schemas: bundled}\nlisten: {address: 127.0.0.1:0}\nupstreams: [{name: a, url: http://127.0.0.1:1/mcp}]\n" + record
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := config.Load(config.Sources{File: file})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	g, err := New(t.Context(), load("record: {file: records.jsonl}\n"), nil, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.records.take(nil, zap.NewNop()) })
	judged := func(name string, want int) {
		t.Helper()
		g.sides[0].Judge().Judge(t.Context(), []byte(call(1, "bernstein_run", `{"goal":"a"}`)))
		text, err := os.ReadFile(name)
		if err != nil || bytes.Count(text, []byte("\n")) != want {
			t.Errorf("%s, %v", text, err)
		}
	}
	judged(name, 1)
	if err := os.Rename(name, name+".1"); err != nil {
		t.Fatal(err)
	}
	judged(name+".1", 2) // nobody has said yet that it has gone
	if err := g.Reload(t.Context(), load("record: {file: records.jsonl}\n")); err != nil {
		t.Fatal(err)
	}
	judged(name, 1)
	if err := g.Reload(t.Context(), load("record: {file: nowhere/records.jsonl}\n")); err == nil {
		t.Error("a folder that is not there is no error")
	}
	judged(name, 2)
	if err := g.Reload(t.Context(), load("")); err != nil {
		t.Fatal(err)
	}
	judged(name, 2)
	judged(name+".1", 2)
}
