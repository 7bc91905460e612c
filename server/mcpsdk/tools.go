package mcpsdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-mcp/sallyport/engine"
)

// AddTool registers a tool with the schema that the engine enforces for it, so that the
// two cannot differ. tool.InputSchema must be nil. The error says that the engine has no
// tool of the name.
func AddTool(s *mcp.Server, e *engine.Engine, tool *mcp.Tool, handler mcp.ToolHandler) error {
	if tool.InputSchema != nil {
		return fmt.Errorf("tool %q: leave InputSchema to the engine", tool.Name)
	}
	enforced, err := oneLine(e, tool.Name)
	if err != nil {
		return err
	}
	own := *tool
	own.InputSchema = enforced
	s.AddTool(&own, handler)
	return nil
}

// oneLine returns the enforced schema without white space between its parts, as it goes
// over the wire.
func oneLine(e *engine.Engine, tool string) (json.RawMessage, error) {
	enforced, registered := e.AdvertisedSchema(tool)
	if !registered {
		return nil, fmt.Errorf("tool %q is not registered with the engine", tool)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, enforced); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// CheckParity compares the tools that a server lists with those that the engine knows,
// and each advertised schema with the enforced one. It is for a test of the server's own:
// the error names every difference. It connects to the server in memory.
func CheckParity(ctx context.Context, s *mcp.Server, e *engine.Engine) error {
	listed, err := list(ctx, s)
	if err != nil {
		return err
	}
	var faults []error
	for _, name := range e.Tools() {
		if _, ok := listed[name]; !ok {
			faults = append(faults, fmt.Errorf("tool %q has a schema but is not served", name))
		}
	}
	names := make([]string, 0, len(listed))
	for name := range listed {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		enforced, err := oneLine(e, name)
		if err != nil {
			faults = append(faults, fmt.Errorf("tool %q is served but has no schema", name))
			continue
		}
		changes, err := engine.DiffSchemas(enforced, listed[name])
		if err != nil {
			return err
		}
		for _, c := range changes {
			faults = append(faults, fmt.Errorf("tool %q: the advertised schema is not the enforced one: %s %s: %s", name, c.Severity, c.Location, c.Change))
		}
	}
	return errors.Join(faults...)
}

// list returns the schemas that the server advertises, by tool.
func list(ctx context.Context, s *mcp.Server) (map[string]json.RawMessage, error) {
	near, far := mcp.NewInMemoryTransports()
	session, err := s.Connect(ctx, far, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "parity", Version: "1"}, nil).Connect(ctx, near, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }()
	listed := map[string]json.RawMessage{}
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if listed[tool.Name], err = json.Marshal(tool.InputSchema); err != nil {
			return nil, err
		}
	}
	return listed, nil
}
