package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

func newLearner(t *testing.T, inspect Inspect) *Learner {
	t.Helper()
	l, err := NewLearner("x", newEngine(t), inspect, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// listing is a caller whose list has these tools.
func listing(key string, ask func(ctx context.Context) (tools []string, err error)) server.Caller {
	return server.Caller{Key: key, List: func(ctx context.Context, _ string) ([]byte, error) {
		names, err := ask(ctx)
		if err != nil {
			return nil, err
		}
		var entries []string
		for _, name := range names {
			entries = append(entries, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		return []byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[` + strings.Join(entries, ",") + `]}}`), nil
	}}
}

// A list that is merely old is renewed beside the calls; one that has changed is waited
// for.
func TestOldListsAreRenewedBeside(t *testing.T) {
	l := newLearner(t, nil)
	l.lifetime = time.Millisecond
	asked, release := make(chan struct{}, 10), make(chan struct{}, 10)
	var tools atomic.Value
	tools.Store([]string{"a"})
	c := listing("k", func(ctx context.Context) ([]string, error) {
		asked <- struct{}{}
		select {
		case <-release:
			return tools.Load().([]string), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	release <- struct{}{}
	first, err := l.Engine(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	time.Sleep(2 * time.Millisecond)
	tools.Store([]string{"a", "b"})
	for range 3 { // while the server does not answer
		if e, ready := l.Ready(c); e != first || !ready {
			t.Errorf("ready %t, the same engine %t", ready, e == first)
		}
		if e, err := l.Engine(t.Context(), c); e != first || err != nil {
			t.Errorf("the same engine %t, %v", e == first, err)
		}
	}
	<-asked
	release <- struct{}{}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if e, _ := l.Engine(t.Context(), c); e != first {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the list is not renewed")
		}
		select {
		case release <- struct{}{}:
		default:
		}
	}
}

// A server that does not list its tools any more holds calls up once, and not one by one.
func TestListsThatFailAreLeftAloneForAWhile(t *testing.T) {
	l := newLearner(t, nil)
	var asked atomic.Int64
	c := listing("k", func(ctx context.Context) ([]string, error) {
		if asked.Add(1) > 1 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return []string{"a"}, nil
	})
	first, err := l.Engine(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	l.patience = 50 * time.Millisecond
	l.Changed(c)
	for range 5 {
		if e, err := l.Engine(t.Context(), c); e != first || err != nil {
			t.Errorf("the same engine %t, %v", e == first, err)
		}
	}
	if got := asked.Load(); got != 2 {
		t.Errorf("asked %d times, want 2", got)
	}
}

// What is learnt with old settings while new ones come into force is not in force after.
func TestLearningWhileSettingsChange(t *testing.T) {
	inspecting, proceed := make(chan struct{}), make(chan struct{})
	l := newLearner(t, func(_ context.Context, _ string, list server.ToolsList) ([]engine.ServerTool, error) {
		close(inspecting)
		<-proceed
		return list.Tools, nil
	})
	c := listing("k", func(context.Context) ([]string, error) { return []string{"a"}, nil })
	learnt := make(chan error, 1)
	go func() {
		_, err := l.Engine(t.Context(), c)
		learnt <- err
	}()
	<-inspecting
	withheld := errors.New("withheld")
	if err := l.Rebase(t.Context(), newEngine(t), func(context.Context, string, server.ToolsList) ([]engine.ServerTool, error) {
		return []engine.ServerTool{{Name: "a", Fault: withheld}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	close(proceed)
	if err := <-learnt; err != nil {
		t.Errorf("the call is refused: %v", err)
	}
	e, err := l.Engine(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Validate(t.Context(), "a", []byte(`{}`)); err == nil {
		t.Error("the old settings are in force")
	}
}

// Callers who leave do not take the list with them that others wait for.
func TestAskersThatLeave(t *testing.T) {
	l := newLearner(t, nil)
	asked := make(chan struct{}, 10)
	var answers atomic.Bool
	c := listing("k", func(ctx context.Context) ([]string, error) {
		asked <- struct{}{}
		if answers.Load() {
			return []string{"a"}, nil
		}
		<-ctx.Done()
		return nil, io.ErrUnexpectedEOF
	})
	ctx, leave := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := l.Engine(ctx, c); first <- err }()
	<-asked
	go func() { _, err := l.Engine(t.Context(), c); second <- err }()
	answers.Store(true)
	leave()
	if err := <-first; err == nil {
		t.Error("who left has an engine")
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}
