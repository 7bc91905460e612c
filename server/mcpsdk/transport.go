package mcpsdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-mcp/sallyport/server"
)

// Transport returns a transport that puts every message from the client to the judge.
// What the judge refuses is answered at once and never comes to the server.
func Transport(j *server.Judge, inner mcp.Transport) mcp.Transport { return &transport{j, inner} }

type transport struct {
	judge *server.Judge
	inner mcp.Transport
}

// Connect implements mcp.Transport.
func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := t.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &connection{Connection: inner, judge: t.judge, incoming: make(chan incoming), closed: make(chan struct{}), bounds: map[jsonrpc.ID]*bound{}}
	go c.pump()
	return c, nil
}

type connection struct {
	mcp.Connection
	judge    *server.Judge
	incoming chan incoming
	closed   chan struct{}
	close    sync.Once

	mu     sync.Mutex
	bounds map[jsonrpc.ID]*bound // of calls without an answer yet
}

// incoming is what the server reads next.
type incoming struct {
	message jsonrpc.Message
	err     error
}

// bound is the time that one call may take.
type bound struct {
	timer   *time.Timer
	expired bool // answered by us; the server's answer is to be dropped
}

// pump reads what comes, until the connection ends.
func (c *connection) pump() {
	for {
		message, err := c.Connection.Read(context.Background())
		if err == nil {
			message, err = c.judged(message)
		}
		if message == nil && err == nil {
			continue
		}
		if !c.deliver(incoming{message, err}) || err != nil {
			return
		}
	}
}

func (c *connection) deliver(next incoming) bool {
	select {
	case c.incoming <- next:
		return true
	case <-c.closed:
		return false
	}
}

// judged returns what the server is to read; nothing for what is answered here.
func (c *connection) judged(message jsonrpc.Message) (jsonrpc.Message, error) {
	request, ok := message.(*jsonrpc.Request)
	if !ok {
		return message, nil
	}
	raw, err := encode(request)
	if err != nil {
		return nil, err
	}
	d := c.judge.Judge(context.Background(), raw)
	switch d.Action {
	case server.Reply:
		reply, err := jsonrpc.DecodeMessage(d.Message)
		if err != nil {
			return nil, fmt.Errorf("refusal: %w", err)
		}
		return nil, c.Connection.Write(context.Background(), reply)
	case server.Drop:
		return nil, nil
	case server.Forward:
	}
	if !bytes.Equal(d.Message, raw) { // repaired
		var repaired struct{ Params json.RawMessage }
		if err := json.Unmarshal(d.Message, &repaired); err != nil {
			return nil, fmt.Errorf("repaired call: %w", err)
		}
		request.Params = repaired.Params
	}
	if d.Timeout > 0 {
		c.start(request.ID, d)
	}
	return request, nil
}

// encode writes a request with the very bytes of its params.
func encode(r *jsonrpc.Request) ([]byte, error) {
	method, err := json.Marshal(r.Method)
	if err != nil {
		return nil, err
	}
	raw := append([]byte(`{"jsonrpc":"2.0","method":`), method...)
	if r.ID.IsValid() {
		id, err := json.Marshal(r.ID.Raw())
		if err != nil {
			return nil, err
		}
		raw = append(append(raw, `,"id":`...), id...)
	}
	if r.Params != nil {
		raw = append(append(raw, `,"params":`...), r.Params...)
	}
	return append(raw, '}'), nil
}

func (c *connection) start(id jsonrpc.ID, d server.Decision) {
	b := &bound{}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bounds[id] = b
	b.timer = time.AfterFunc(d.Timeout, func() {
		c.mu.Lock()
		current := c.bounds[id] == b
		b.expired = current
		c.mu.Unlock()
		if current {
			c.expire(id, d)
		}
	})
}

// expire answers a call that has taken too long, and has the server cancel it.
func (c *connection) expire(id jsonrpc.ID, d server.Decision) {
	if reply, err := jsonrpc.DecodeMessage(c.judge.TimeoutReply(d)); err == nil {
		_ = c.Connection.Write(context.Background(), reply)
	}
	params, _ := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": "the time limit of the tool is over"})
	c.deliver(incoming{message: &jsonrpc.Request{Method: "notifications/cancelled", Params: params}})
}

// Read implements mcp.Connection.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case next := <-c.incoming:
		return next.message, next.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, errClosed
	}
}

var errClosed = errors.New("the connection is closed")

// Write implements mcp.Connection.
func (c *connection) Write(ctx context.Context, message jsonrpc.Message) error {
	response, ok := message.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, message)
	}
	if !c.answered(response.ID) {
		return nil
	}
	rewritten, err := rewrite(c.judge, response)
	if err != nil {
		return err
	}
	return c.Connection.Write(ctx, rewritten)
}

// answered says whether an answer to the call may pass. It may once.
func (c *connection) answered(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bounds[id]
	if b == nil {
		return true
	}
	b.timer.Stop()
	delete(c.bounds, id)
	return !b.expired
}

// rewrite has the judge look at a list of tools.
func rewrite(j *server.Judge, response *jsonrpc.Response) (jsonrpc.Message, error) {
	if response.Error != nil || !bytes.Contains(response.Result, []byte("inputSchema")) {
		return response, nil
	}
	raw, err := jsonrpc.EncodeMessage(response)
	if err != nil {
		return nil, err
	}
	answer := j.Answer(context.Background(), raw)
	if bytes.Equal(answer, raw) {
		return response, nil
	}
	return jsonrpc.DecodeMessage(answer)
}

// Close implements mcp.Connection.
func (c *connection) Close() error {
	c.close.Do(func() { close(c.closed) })
	c.mu.Lock()
	for _, b := range c.bounds {
		b.timer.Stop()
	}
	c.mu.Unlock()
	return c.Connection.Close()
}
