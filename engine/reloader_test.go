package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/sallyport-mcp/sallyport/engine"
)

// versioned builds an engine that accepts {"version": n} and no other version.
func versioned(n int) func(context.Context) (*engine.Engine, error) {
	return func(ctx context.Context) (*engine.Engine, error) {
		document := fmt.Sprintf(`{"type": "object", "properties": {"version": {"const": %d}}, "required": ["version"], "additionalProperties": false}`, n)
		return engine.New(ctx, engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop()),
			engine.WithSchemas(fstest.MapFS{"t.json": {Data: []byte(document)}}))
	}
}

// failing are builds that must change nothing, and what is said of them.
var failing = map[string]func(context.Context) (*engine.Engine, error){
	"the rules are gone":                     func(context.Context) (*engine.Engine, error) { return nil, errors.New("the rules are gone") },
	"there is no engine":                     func(context.Context) (*engine.Engine, error) { return nil, nil },
	"that New has built":                     func(context.Context) (*engine.Engine, error) { return &engine.Engine{}, nil },
	"panic while the engine was built: ouch": func(context.Context) (*engine.Engine, error) { panic("ouch") },
	"load schemas: t.json: ": func(ctx context.Context) (*engine.Engine, error) {
		return engine.New(ctx, engine.WithLogger(zap.NewNop()), engine.WithSchemas(fstest.MapFS{"t.json": {Data: []byte(`{"type": "objekt"}`)}}))
	},
	"self-test: canary of payload_size": func(ctx context.Context) (*engine.Engine, error) {
		return engine.New(ctx, engine.WithLogger(zap.NewNop()), engine.WithAllowUnsafeArgs("canary"))
	},
}

func newReloader(t *testing.T, n int, logger *zap.Logger) *engine.Reloader {
	t.Helper()
	e, err := versioned(n)(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.NewReloader(e, logger)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func arguments(version int) []byte { return fmt.Appendf(nil, `{"version": %d}`, version) }

func TestReload(t *testing.T) {
	ctx := context.Background()
	core, logs := observer.New(zapcore.InfoLevel)
	r := newReloader(t, 1, zap.New(core))
	if err := r.Reload(ctx, versioned(2)); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[int]bool{1: false, 2: true} {
		if _, err := r.Validate(ctx, "t", arguments(version)); (err == nil) != want {
			t.Errorf("version %d: %v", version, err)
		}
	}
	if got := logs.FilterMessage("a new engine is in force").Len(); got != 1 || r.Reloads() != 1 {
		t.Errorf("%d lines in the log and %d reloads, want 1 of each", got, r.Reloads())
	}
}

func TestFailedReloadChangesNothing(t *testing.T) {
	for say, build := range failing {
		t.Run(say, func(t *testing.T) {
			core, logs := observer.New(zapcore.InfoLevel)
			r := newReloader(t, 1, zap.New(core))
			before := r.Engine()
			err := r.Reload(context.Background(), build)
			if err == nil || !strings.Contains(err.Error(), say) || !strings.HasPrefix(err.Error(), "reload: the old engine stays in force: ") {
				t.Errorf("the error is %v", err)
			}
			if r.Engine() != before || r.Reloads() != 0 {
				t.Error("the engine has changed")
			}
			var lines []string
			for _, entry := range logs.All() {
				lines = append(lines, entry.Level.String()+" "+entry.Message)
			}
			if diff := cmp.Diff([]string{"error reload failed; the old engine stays in force"}, lines); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReloaderNeeds(t *testing.T) {
	e, err := versioned(1)(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for name, build := range map[string]func() (*engine.Reloader, error){
		"an engine":         func() (*engine.Reloader, error) { return engine.NewReloader(nil, zap.NewNop()) },
		"one that is built": func() (*engine.Reloader, error) { return engine.NewReloader(&engine.Engine{}, zap.NewNop()) },
		"a logger":          func() (*engine.Reloader, error) { return engine.NewReloader(e, nil) },
	} {
		if r, err := build(); err == nil || r != nil {
			t.Errorf("there is a reloader without %s", name)
		}
	}
}

// A reload that waits for another gives up with its context.
func TestReloadWaitsForItsTurn(t *testing.T) {
	r := newReloader(t, 1, zap.NewNop())
	working, release := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- r.Reload(context.Background(), func(ctx context.Context) (*engine.Engine, error) {
			close(working)
			<-release
			return versioned(2)(ctx)
		})
	}()
	<-working
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	built := false
	err := r.Reload(ctx, func(context.Context) (*engine.Engine, error) { built = true; return nil, nil })
	if !errors.Is(err, context.Canceled) || built {
		t.Errorf("the second reload says %v; it has built: %t", err, built)
	}
	if _, err := r.Validate(context.Background(), "t", arguments(1)); err != nil {
		t.Errorf("a call waits for, or is refused during, a reload: %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Calls go on through reloads, half of which fail: each is answered, by a whole engine
// that was in force while the call was judged.
func TestCallsDuringReloads(t *testing.T) {
	const callers, reloads = 8, 50
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // a hang guard
	defer cancel()
	r := newReloader(t, 0, zap.NewNop())
	var begun, ended atomic.Int64 // versions whose reload has begun, or ended
	var judged, answered, strangers atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				time.Sleep(50 * time.Millisecond) // or there is no machine left to build engines
				low := ended.Load()
				e := r.Engine()
				judged.Add(1)
				accepted := 0
				for version := low; version <= begun.Load(); version++ {
					if _, err := e.Validate(ctx, "t", arguments(int(version))); err == nil {
						accepted++
					}
				}
				if accepted != 1 {
					strangers.Add(1)
				}
				// A call of a tool that there is not is refused by whichever engine.
				var refusal *engine.ValidationError
				if _, err := r.Validate(ctx, "nobody", nil); errors.As(err, &refusal) && refusal.Code == -32601 {
					answered.Add(1)
				}
			}
		})
	}
	for n := range reloads {
		build := versioned(n/2 + 1)
		if bad := n%2 == 1; bad {
			for _, build = range failing {
				break
			}
			if err := r.Reload(ctx, build); err == nil {
				t.Error("a bad engine is in force")
			}
			continue
		}
		begun.Add(1)
		if err := r.Reload(ctx, build); err != nil {
			t.Error(err)
		}
		ended.Add(1)
	}
	close(stop)
	wg.Wait()
	if strangers.Load() != 0 || answered.Load() != judged.Load() || judged.Load() == 0 {
		t.Errorf("of %d calls %d were not judged by one whole engine, and %d of the others were answered", judged.Load(), strangers.Load(), answered.Load())
	}
	if r.Reloads() != reloads/2 {
		t.Errorf("%d reloads, want %d", r.Reloads(), reloads/2)
	}
	t.Logf("%d calls during %d reloads", judged.Load(), reloads)
}

// Reloads from several sides come one after the other.
func TestConcurrentReloads(t *testing.T) {
	r := newReloader(t, 0, zap.NewNop())
	var atWork, most atomic.Int64
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			err := r.Reload(context.Background(), func(ctx context.Context) (*engine.Engine, error) {
				most.Store(max(most.Load(), atWork.Add(1)))
				defer atWork.Add(-1)
				return versioned(n)(ctx)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 || r.Reloads() != 8 {
		t.Errorf("%d at a time, %d in all; want 1 and 8", most.Load(), r.Reloads())
	}
}
