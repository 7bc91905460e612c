package policy

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
)

// memo remembers inputs that the rules found nothing wrong with, so that the rules need
// not be asked again. That is sound because rules are pure: a key holds all of the input
// that they read. Refusals are not remembered, or whoever sends junk could fill it.
//
// There are two tables. One has inputs as a whole. The other has them without the payload,
// and stands for all rules but those that read it; these are then asked alone.
type memo struct {
	reads   *dependencies
	readers query // the findings of the rules that read the payload

	whole, others *table // whole is nil where a rule reads what cannot be told
	looked        atomic.Uint64
	known, partly atomic.Uint64
}

func newMemo(reads *dependencies, readers query, entries int) *memo {
	m := &memo{reads: reads, readers: readers, others: newTable(entries / 2)}
	if reads.unbounded == "" {
		m.whole = newTable(entries / 2)
	}
	return m
}

// table holds clean verdicts by key, in two generations.
type table struct {
	entries int // in each generation

	mu         sync.RWMutex
	young, old map[string]Verdict
}

func newTable(entries int) *table {
	return &table{entries: max(1, entries/2), young: map[string]Verdict{}}
}

func (t *table) get(key []byte) (Verdict, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	verdict, known := t.young[string(key)]
	if !known {
		verdict, known = t.old[string(key)]
	}
	return verdict, known
}

// put remembers a clean verdict. Where there is no room left, the older half goes.
func (t *table) put(key []byte, verdict Verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.young) >= t.entries {
		t.old, t.young = t.young, make(map[string]Verdict, t.entries)
	}
	t.young[string(key)] = verdict
}

func (v *Verdict) clean() bool {
	return len(v.Violations) == 0 && len(v.Exempted) == 0 && !v.Halt && v.Omitted == 0
}

// evaluateRemembering answers from memory where it can, and has ask answer where it cannot.
func (p *Policy) evaluateRemembering(ctx context.Context, in Input) (Verdict, error) {
	m := p.memo
	if !in.rememberable() {
		return p.ask(ctx, in)
	}
	m.looked.Add(1)
	var room, roomOfWhole [keyRoom]byte
	var keyOfWhole []byte
	if m.whole != nil {
		keyOfWhole = m.keyOfWhole(roomOfWhole[:0], &in)
	}
	if keyOfWhole != nil {
		if verdict, known := m.whole.get(keyOfWhole); known {
			m.known.Add(1)
			return verdict, nil
		}
	}
	key, _ := m.reads.choose(&m.reads.others, room[:0], &in)
	verdict, known := m.others.get(key)
	if known && len(m.reads.readers) > 0 {
		found, err := p.readersFind(ctx, in)
		if err != nil {
			return Verdict{}, err
		}
		known = !found
	}
	if known {
		m.partly.Add(1)
	} else {
		var err error
		if verdict, err = p.ask(ctx, in); err != nil || !verdict.clean() {
			return verdict, err
		}
		m.others.put(key, verdict)
	}
	if keyOfWhole != nil {
		m.whole.put(keyOfWhole, verdict)
	}
	return verdict, nil
}

// input is what the rules that read the payload are given.
func (d *dependencies) input(in Input) *ast.Term {
	if d.readersUseFacts {
		return in.term()
	}
	return ast.NewTerm(ast.LazyObject(map[string]any{"tool": in.Tool, "mode": in.Mode, "today": in.Today, "payload": in.Payload}))
}

// readersFind says whether one of the rules that read the payload has findings. Whether
// they count, with exemptions and all, is for the verdict to say.
func (p *Policy) readersFind(ctx context.Context, in Input) (bool, error) {
	value, err := p.evaluate(ctx, p.memo.readers, p.memo.reads.input(in))
	if err != nil {
		return false, fmt.Errorf("evaluate the rules that read the payload: %w", err)
	}
	findings, ok := value.(*ast.Array)
	if !ok || findings.Len() != len(p.memo.reads.readers) {
		return false, errors.New("the findings of the rules that read the payload are no array of their length")
	}
	for i := range findings.Len() {
		set, err := asSet(findings.Elem(i).Value)
		if err != nil {
			return false, fmt.Errorf("the findings of %s: %w", p.memo.reads.readers[i], err)
		}
		if set.Len() > 0 {
			return true, nil
		}
	}
	return false, nil
}

// maxKey bounds a key, in bytes. Calls with longer ones are judged anew each time.
const maxKey = 1 << 10

// keyRoom is enough for most keys, so that they need no memory of their own.
const keyRoom = 256

// rememberable is false for an input that has facts which only bad payloads have.
func (in *Input) rememberable() bool {
	f := &in.Facts
	return f.Complete && f.Registered && f.Quarantine == "" && f.Stop == "" && f.Fault == nil && f.Type == "object" &&
		f.StringsTotal == 0 && len(f.Strings) == 0 && len(f.Selected) == 0 && in.Payload != nil
}

// keyOfWhole appends all that the rules read of the input. It is nil for a key that would
// be too long.
func (m *memo) keyOfWhole(b []byte, in *Input) []byte {
	b, reads := m.reads.choose(&m.reads.whole, b, in)
	for _, p := range reads.payload {
		value, exists := p.in(in.Payload)
		if b = append(b, flag(exists)); exists {
			b = appendValue(b, value)
		}
		if len(b) > maxKey {
			return nil
		}
	}
	return b
}

// choose returns the reads that matter for this input, and appends those beside the
// payload.
func (d *dependencies) choose(of *byCalm, b []byte, in *Input) ([]byte, *reads) {
	f, chosen := &in.Facts, &of.calm
	calm := d.isCalm(f)
	if !calm {
		chosen = &of.any
	}
	b = append(b, flag(calm), flag(f.BytesCounted))
	b = appendText(appendText(appendText(b, in.Tool), in.Mode), in.Today)
	if chosen.facts["bytes"] {
		b = binary.AppendVarint(b, int64(f.Bytes))
	}
	if chosen.facts["values"] {
		b = binary.AppendVarint(b, int64(f.Values))
	}
	if chosen.facts["depth"] {
		b = binary.AppendVarint(b, int64(f.Depth))
	}
	if chosen.facts["deepest"] {
		b = appendText(b, f.Deepest)
	}
	return b, chosen
}

func (d *dependencies) isCalm(f *Facts) bool {
	for fact, limit := range d.calmUpTo {
		if fact == "bytes" && f.Bytes > limit || fact == "values" && f.Values > limit || fact == "depth" && f.Depth > limit {
			return false
		}
	}
	return true
}

// in returns the value that the path leads to in a decoded payload.
func (p path) in(value any) (any, bool) {
	for _, step := range p {
		switch s := step.(type) {
		case string:
			object, ok := value.(map[string]any)
			if !ok {
				return nil, false
			}
			if value, ok = object[s]; !ok {
				return nil, false
			}
		case int:
			array, ok := value.([]any)
			if !ok || s < 0 || s >= len(array) {
				return nil, false
			}
			value = array[s]
		}
	}
	return value, true
}

func flag(is bool) byte {
	if is {
		return 1
	}
	return 0
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendValue writes a decoded value so that no two values are written alike. Numbers are
// written as the caller wrote them. It stops beyond maxKey.
func appendValue(b []byte, value any) []byte {
	if len(b) > maxKey {
		return b
	}
	switch v := value.(type) {
	case nil:
		return append(b, 'z')
	case bool:
		return append(b, 'b', flag(v))
	case string:
		return appendText(append(b, 's'), v[:min(len(v), maxKey+1)])
	case json.Number:
		return appendText(append(b, 'n'), v.String())
	case []any:
		b = binary.AppendUvarint(append(b, 'a'), uint64(len(v)))
		for i := 0; i < len(v) && len(b) <= maxKey; i++ {
			b = appendValue(b, v[i])
		}
		return b
	case map[string]any:
		b = binary.AppendUvarint(append(b, 'o'), uint64(len(v)))
		if len(v) > maxKey {
			return append(b, make([]byte, maxKey)...)
		}
		for _, key := range sortedKeys(v) {
			if b = appendValue(appendText(b, key), v[key]); len(b) > maxKey {
				break
			}
		}
		return b
	}
	return append(b, make([]byte, maxKey+1)...) // not a JSON value: never remembered
}
