package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// initialization opens a session (MCP, lifecycle). The server answers with a revision of
// its own where it does not know this one.
const (
	initialization = `{"jsonrpc":"2.0","id":"sallyport-0","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"sallyport","version":"1"}}}`
	initialized    = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	statelessMeta  = `{"io.modelcontextprotocol/protocolVersion":"` + firstStateless + `","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"sallyport","version":"1"}}`
)

// ask sends one message and returns the answer to it, nil for a notification.
type ask func(ctx context.Context, message []byte) ([]byte, error)

// ListCommand starts a command, asks it for all its tools, and ends it.
func ListCommand(ctx context.Context, c Command, logger *zap.Logger) (server.ToolsList, error) {
	running, err := c.start()
	if err != nil {
		return server.ToolsList{}, err
	}
	l := newLink(running, logger)
	defer running.stop(nil)
	return list(ctx, func(ctx context.Context, message []byte) ([]byte, error) {
		m, err := frame.Read(message)
		if err != nil || m.Kind != frame.Request {
			return nil, l.send(message)
		}
		p, err := l.request(m, message)
		if err != nil {
			return nil, err
		}
		defer l.forget(p)
		return p.answer(ctx)
	}, nil)
}

// answer waits for the answer to a request.
func (p *post) answer(ctx context.Context) ([]byte, error) {
	for {
		items, open := p.queue.take()
		for _, message := range items {
			if isResponse(message) {
				return message, nil
			}
		}
		if !open {
			return nil, errEnded
		}
		select {
		case <-p.queue.more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ListURL asks a server over HTTP for all its tools, with these headers.
func ListURL(ctx context.Context, url string, header http.Header) (server.ToolsList, error) {
	client := &http.Client{
		Transport: newTransport(),
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the server redirects, which is not followed")
		},
	}
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return list(ctx, func(ctx context.Context, message []byte) ([]byte, error) {
		answer, came, err := server.Post(ctx, client, url, header, message)
		if id := came.Get(sessionHeader); id != "" {
			header.Set(sessionHeader, id)
		}
		return answer, err
	}, header)
}

// list opens a session and lists all tools; without one, where the server knows none.
// header is that of the requests, nil on standard streams.
func list(ctx context.Context, send ask, header http.Header) (server.ToolsList, error) {
	var meta []byte
	version, err := open(ctx, send)
	if err != nil {
		meta, version = []byte(statelessMeta), firstStateless
	}
	if header != nil {
		header.Set("MCP-Protocol-Version", version)
		if meta != nil {
			header.Set("Mcp-Method", "tools/list")
		}
	}
	number := 0
	all, _, listErr := ListAll(ctx, func(ctx context.Context, cursor string) ([]byte, error) {
		number++
		answer, err := send(ctx, server.ListRequest([]byte(strconv.Quote("sallyport-"+strconv.Itoa(number))), cursor, meta))
		if err != nil {
			return nil, err
		}
		return server.CheckList(answer)
	})
	if listErr != nil && err != nil {
		return all, fmt.Errorf("%w (and no session: %w)", listErr, err)
	}
	return all, listErr
}

// open returns the revision that a session has been opened with.
func open(ctx context.Context, send ask) (version string, err error) {
	answer, err := send(ctx, []byte(initialization))
	if err != nil {
		return "", err
	}
	var opened struct {
		Result struct {
			Version string `json:"protocolVersion"`
		}
		Error *struct{ Message string }
	}
	switch err := json.Unmarshal(answer, &opened); {
	case err != nil:
		return "", err
	case opened.Error != nil:
		return "", fmt.Errorf("initialize is refused: %.200q", opened.Error.Message)
	case opened.Result.Version == "":
		return "", errors.New("the answer to initialize names no revision")
	}
	_, err = send(ctx, []byte(initialized))
	return opened.Result.Version, err
}

const (
	// maxPages and maxListedBytes bound one list.
	maxPages       = 200
	maxListedBytes = 32 << 20
)

// ListAll asks for all pages of a list of tools (MCP, pagination). The id is equal
// for lists that are equal byte for byte.
func ListAll(ctx context.Context, list func(ctx context.Context, cursor string) ([]byte, error)) (all server.ToolsList, id [sha256.Size]byte, err error) {
	hash := sha256.New()
	seen := map[string]bool{}
	cursor, size := "", 0
	for range maxPages {
		answer, err := list(ctx, cursor)
		if err != nil {
			return server.ToolsList{}, id, err
		}
		page, err := server.ReadToolsList(answer)
		if err != nil {
			return server.ToolsList{}, id, err
		}
		for _, entry := range page.Raw {
			size += len(entry)
			_, _ = fmt.Fprintf(hash, "%d\n%s\n", len(entry), entry)
		}
		if size > maxListedBytes {
			return server.ToolsList{}, id, fmt.Errorf("the list of tools has more than %d bytes", maxListedBytes)
		}
		all.Tools, all.Raw = append(all.Tools, page.Tools...), append(all.Raw, page.Raw...)
		if page.NextCursor == "" {
			hash.Sum(id[:0])
			return all, id, nil
		}
		if seen[page.NextCursor] {
			return server.ToolsList{}, id, errors.New("the list of tools leads in a circle: a cursor comes twice")
		}
		seen[page.NextCursor] = true
		cursor = page.NextCursor
	}
	return server.ToolsList{}, id, fmt.Errorf("the list of tools has more than %d pages", maxPages)
}
