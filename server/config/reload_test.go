//go:build unix

package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server/config"
)

func ExampleLoad() {
	folder, err := os.MkdirTemp("", "sallyport")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	name := filepath.Join(folder, "sallyport.yaml")
	if err := os.WriteFile(name, []byte("engine: {schemas: bundled, rejections: tool_result}\n"), 0o600); err != nil {
		panic(err)
	}
	settings, err := config.Load(config.Sources{File: name, Environ: []string{"SALLYPORT_LOG_LEVEL=warn"}})
	if err != nil {
		panic(err) // every fault, each with its place
	}
	for _, v := range settings.Values() {
		if v.Set {
			fmt.Println(v.Key, v.Value)
		}
	}
	// Output:
	// engine.rejections tool_result
	// engine.schemas bundled
	// log.level warn
}

// follow keeps a reloader at what the file says, until ctx ends.
func follow(ctx context.Context, name string, logger *zap.Logger) (*engine.Reloader, error) {
	settings, err := config.Load(config.Sources{File: name})
	if err != nil {
		return nil, err
	}
	watcher, err := config.Watch(ctx, settings.Files(), logger)
	if err != nil {
		return nil, err
	}
	build := func(ctx context.Context) (*engine.Engine, error) {
		settings, err := config.Load(config.Sources{File: name})
		if err != nil {
			return nil, err
		}
		watcher.Follow(settings.Files()) // before they are read
		options, err := settings.Engine.Options()
		if err != nil {
			return nil, err
		}
		return engine.New(ctx, append(options, engine.WithLogger(logger))...)
	}
	first, err := build(ctx)
	if err != nil {
		return nil, err
	}
	reloader, err := engine.NewReloader(first, logger)
	if err != nil {
		return nil, err
	}
	go func() {
		for range watcher.Changes() {
			_ = reloader.Reload(ctx, build) // it logs what is wrong
		}
	}()
	return reloader, nil
}

// File, schemas and rules are followed; a bad one changes nothing, and once it is mended
// that is in force.
func TestFileIsFollowed(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+"~", path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const closed = `{"type": "object", "additionalProperties": false}`
	put("one/first.json", closed)
	put("two/second.json", closed)
	name := put("sallyport.yaml", "engine: {schemas: one}\n")
	core, logs := observer.New(zapcore.InfoLevel)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := follow(ctx, name, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	await := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: tools %v, log %v", what, r.Engine().Tools(), logs.All())
			}
		}
	}
	tools := func(want ...string) func() bool {
		return func() bool { return fmt.Sprint(r.Engine().Tools()) == fmt.Sprint(want) }
	}
	failures := func(n int) func() bool {
		return func() bool { return logs.FilterMessage("reload failed; the old engine stays in force").Len() >= n }
	}
	await("at first", tools("first"))
	put("one/more.json", closed)
	await("after a schema came", tools("first", "more"))
	put("sallyport.yaml", "engine: {schemas: two}\n")
	await("after the file named another folder", tools("second"))
	put("sallyport.yaml", "engine: {schemas: two, moed: strict}\n")
	await("after a fault in the file", failures(1))
	put("two/third.json", `{"type": "objekt"}`)
	await("after a fault in a schema", failures(2))
	await("after two faults", tools("second"))
	put("sallyport.yaml", "engine: {schemas: two}\n")
	put("two/third.json", closed)
	await("after all is mended", tools("second", "third"))
}
