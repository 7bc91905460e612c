// Command mcpgo is a server of mark3labs/mcp-go with the judge in front of it: on stdio,
// or with -listen over HTTP. The judge needs no part of that SDK.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

func main() {
	listen := flag.String("listen", "", "address to serve HTTP on instead of stdio")
	stateless := flag.Bool("stateless", false, "serve HTTP without sessions")
	flag.Parse()
	ctx := context.Background()
	eng, err := engine.New(ctx)
	check(err)
	judge, err := server.NewJudge(eng)
	check(err)
	s := mcpserver.NewMCPServer("mcpgo", "1")
	for _, name := range eng.Tools() {
		schema, _ := eng.AdvertisedSchema(name)
		s.AddTool(mcp.NewToolWithRawSchema(name, "", schema), handle)
	}
	if *listen == "" {
		guard := judge.NewStdio(ctx, os.Stdin, os.Stdout)
		check(mcpserver.NewStdioServer(s).Listen(ctx, guard, guard))
		return
	}
	sse := mcpserver.NewSSEServer(s)
	mux := http.NewServeMux()
	mux.Handle("/sse", sse.SSEHandler())
	mux.Handle("/message", sse.MessageHandler())
	mux.Handle("/mcp", mcpserver.NewStreamableHTTPServer(s, mcpserver.WithStateLess(*stateless)))
	check(http.ListenAndServe(*listen, judge.HTTP(mux)))
}

// handle sees calls that both doors have let pass, and no others.
func handle(_ context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(fmt.Sprintf("called with %s", call.Params.RawArguments)), nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
