package server

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// asked holds the requests of our own that wait for the answer of a server. Their ids
// are random, so that they meet no id of a client.
type asked struct {
	prefix string

	mu      sync.Mutex
	number  int
	waiting map[string]chan []byte // by key of the id
}

func newAsked() *asked {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return &asked{prefix: "sallyport-" + hex.EncodeToString(random[:]) + "-", waiting: map[string]chan []byte{}}
}

// next returns an id, and where the answer to it will arrive. forget has to follow.
func (a *asked) next() (id []byte, answer chan []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.number++
	id = []byte(strconv.Quote(a.prefix + strconv.Itoa(a.number)))
	answer = make(chan []byte, 1)
	a.waiting[frame.Key(id)] = answer
	return id, answer
}

func (a *asked) forget(id []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, frame.Key(id))
}

// take delivers a message that answers a request of our own, and says whether it is one.
func (a *asked) take(id, message []byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) == 0 && !bytes.Contains(id, []byte(a.prefix)) {
		return false
	}
	key := frame.Key(id)
	answer, waits := a.waiting[key]
	if waits {
		delete(a.waiting, key)
		answer <- bytes.Clone(message)
	}
	// One that nobody waits for any more is ours all the same.
	return waits || strings.Contains(key, a.prefix)
}

// listRequest is a tools/list (MCP, tools). meta is the _meta of the caller that the
// revisions without sessions want, nil for the others.
func listRequest(id []byte, cursor string, meta []byte) []byte {
	type params struct {
		Cursor string          `json:"cursor,omitempty"`
		Meta   json.RawMessage `json:"_meta,omitempty"`
	}
	return encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  params          `json:"params"`
	}{"2.0", id, methodList, params{cursor, meta}})
}

const methodList = "tools/list"

// metaPrefix is what the members of _meta start with that every request has to have since
// 2026-07-28.
const metaPrefix = "io.modelcontextprotocol/"

// metaOf returns what of the _meta of a request belongs to its sender, and not to the
// request alone; nil where the revision has no such thing.
func metaOf(message []byte) []byte {
	if !bytes.Contains(message, []byte(metaPrefix)) && !bytes.ContainsRune(message, '\\') {
		return nil
	}
	m, err := frame.Read(message)
	if err != nil || m.Kind != frame.Request || len(m.Params) == 0 || m.Params[0] != '{' {
		return nil
	}
	params, err := frame.Object(m.Params, frame.CallNames)
	if err != nil || versionOf(params) == "" {
		return nil
	}
	meta, err := frame.Object(params["_meta"], nil)
	if err != nil {
		return nil
	}
	kept := map[string]json.RawMessage{}
	for name, value := range meta {
		if strings.HasPrefix(name, metaPrefix) {
			kept[name] = value
		}
	}
	return encode(kept)
}

// maxListBytes bounds one page of tools, in bytes.
const maxListBytes = 16 << 20

// checkList returns an answer to a listRequest, or why it is none.
func checkList(answer []byte) ([]byte, error) {
	m, err := frame.Read(answer)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer to tools/list cannot be read: %w", err)
	case m.Error != nil:
		return nil, fmt.Errorf("the server answers tools/list with an error: %.200q", m.Error)
	case m.Result == nil:
		return nil, errors.New("the answer to tools/list has no result")
	}
	return slices.Clone(answer), nil
}
