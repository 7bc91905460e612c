package server

import (
	"errors"
	"fmt"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// ToolsList is one page of the tools that a server lists (MCP, tools/list).
type ToolsList struct {
	Tools      []engine.ServerTool
	Raw        [][]byte // the entry of each tool, as the server wrote it
	NextCursor string   // not empty: the list goes on
}

// toolNames are the members of a tool in all revisions of MCP.
var toolNames = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution", "icons", "_meta"}

// ReadToolsList reads the answer to tools/list: a JSON-RPC response, its result
// {"tools": [...]}, or the list alone. An entry that is no usable tool has its Fault
// set, so that it does not take the others down. An error means that there is no
// list.
func ReadToolsList(text []byte) (ToolsList, error) {
	items, cursor, err := listItems(text)
	if err != nil {
		return ToolsList{}, fmt.Errorf("not an answer to tools/list: %w", err)
	}
	list := ToolsList{Raw: items, NextCursor: cursor}
	for i, item := range items {
		list.Tools = append(list.Tools, readTool(i, item))
	}
	return list, nil
}

func listItems(text []byte) (items [][]byte, cursor string, err error) {
	if items, err = frame.Array(text); err == nil {
		return items, "", nil
	}
	members, err := frame.Object(text, []string{"result", "tools", "nextCursor"})
	if err != nil {
		return nil, "", err
	}
	if result, isResponse := members["result"]; isResponse {
		if members, err = frame.Object(result, []string{"tools", "nextCursor"}); err != nil {
			return nil, "", fmt.Errorf("result: %w", err)
		}
	}
	tools, ok := members["tools"]
	if !ok {
		return nil, "", errors.New("it has no member tools")
	}
	if items, err = frame.Array(tools); err != nil {
		return nil, "", fmt.Errorf("tools: %w", err)
	}
	cursor, _ = frame.String(members["nextCursor"])
	return items, cursor, nil
}

func readTool(index int, item []byte) engine.ServerTool {
	unusable := func(name string, err error) engine.ServerTool {
		return engine.ServerTool{Name: name, Fault: fmt.Errorf("entry %d of the list: %w", index, err)}
	}
	members, err := frame.Object(item, toolNames)
	if err != nil {
		return unusable("", err)
	}
	name, ok := frame.String(members["name"])
	if !ok || name == "" {
		return unusable("", errors.New("the name is missing, empty or not a string"))
	}
	input, ok := members["inputSchema"]
	if !ok {
		return unusable(name, errors.New("there is no inputSchema"))
	}
	return engine.ServerTool{Name: name, InputSchema: input}
}
