package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// Post sends one request to a server over HTTP (MCP, streamable HTTP), and returns the
// answer to it, from JSON or from a stream of events, and the headers that came with it. A
// message that is no request has no answer. A status other than 200 or 202 is a
// *StatusError.
func Post(ctx context.Context, client *http.Client, url string, header http.Header, message []byte) (answer []byte, came http.Header, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(message))
	if err != nil {
		return nil, nil, err
	}
	r.Header = header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	response, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	id := frame.ID(message)
	switch {
	case response.StatusCode != http.StatusOK && response.StatusCode != http.StatusAccepted:
		return nil, response.Header, &StatusError{Status: response.StatusCode, Challenge: response.Header.Values("WWW-Authenticate")}
	case id == nil:
		return nil, response.Header, nil
	}
	a := &listAnswer{id: id, done: cancel, header: response.Header, status: response.StatusCode}
	if _, err := io.Copy(a, response.Body); err != nil && a.found == nil {
		return nil, response.Header, fmt.Errorf("read the answer: %w", err)
	}
	answer, err = a.message()
	return answer, response.Header, err
}

// message returns the answer, whatever it says.
func (a *listAnswer) message() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.err != nil:
		return nil, a.err
	case a.found != nil:
		return a.found, nil
	case a.isStream() || !answers(a.body, a.id):
		return nil, errors.New("the server does not answer the request")
	}
	return a.body, nil
}

// ListRequest returns a tools/list with this id, which is a JSON text. meta is the _meta
// that the revisions without sessions want, nil for the others.
func ListRequest(id []byte, cursor string, meta []byte) []byte { return listRequest(id, cursor, meta) }

// CheckList returns an answer to a ListRequest, or why it is none.
func CheckList(answer []byte) ([]byte, error) { return checkList(answer) }
