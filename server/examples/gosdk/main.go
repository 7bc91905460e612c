// Command gosdk is a server of the official Go SDK with the judge in front of it: on
// stdio, or with -listen over HTTP.
package main

import (
	"context"
	"flag"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/mcpsdk"
)

func main() {
	listen := flag.String("listen", "", "address to serve HTTP on instead of stdio")
	stateless := flag.Bool("stateless", false, "serve HTTP without sessions, as MCP has it since 2026-07-28")
	flag.Parse()
	ctx := context.Background()
	eng, err := engine.New(ctx)
	check(err)
	judge, err := server.NewJudge(eng)
	check(err)
	s := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1"}, nil)
	for _, name := range eng.Tools() {
		check(mcpsdk.AddTool(s, eng, &mcp.Tool{Name: name}, handle))
	}
	if *listen == "" {
		guard := judge.NewStdio(ctx, os.Stdin, os.Stdout)
		check(s.Run(ctx, &mcp.IOTransport{Reader: guard, Writer: struct {
			io.Writer
			io.Closer
		}{guard, guard}}))
		return
	}
	same := func(*http.Request) *mcp.Server { return s }
	mux := http.NewServeMux()
	mux.Handle("/sse", mcp.NewSSEHandler(same, nil))
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(same, &mcp.StreamableHTTPOptions{Stateless: *stateless}))
	check(http.ListenAndServe(*listen, judge.HTTP(mux)))
}

// handle sees calls that both doors have let pass, and no others.
func handle(_ context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "called with " + string(call.Params.Arguments)}}}, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
