package payload

import (
	"slices"
	"strconv"
	"strings"
)

// Selection says which strings of a payload somebody wants to see.
type Selection struct {
	// Places are patterns of RFC 6901 tokens, in which AnyToken stands for any one
	// token and AnyTokens for any number of them, also none.
	Places [][]string
	Keys   bool // the keys of members at these places as well
	// Where either is given, a string is wanted only if it has a code point of one of
	// the ranges, or contains one of the texts, whatever the case of its ASCII letters.
	CodePoints []CodePointRange
	Contains   *Texts
}

// Tokens of Selection.Places that stand for others.
const (
	AnyToken  = "*"
	AnyTokens = "**"
)

// CodePointRange has both ends included.
type CodePointRange struct{ From, To rune }

// Selected are the strings that a Selection wants.
type Selected struct {
	Strings []SelectedString // the first of them, in the order of their paths
	Total   int              // how many there are, listed or not
}

// SelectedString is one string value or object key.
type SelectedString struct {
	Path string // RFC 6901 pointer of the string, or of the member whose key it is
	In   string // "key" or "value"
	Text string
}

// Select returns what the selection wants of a decoded value, up to so many strings. A
// member of an object comes before those whose keys are greater, bytewise.
func Select(value any, s *Selection, most int) Selected {
	w := &selector{selection: s, most: most, named: map[string]bool{}}
	start := make([]position, 0, len(s.Places))
	for i, place := range s.Places {
		start = w.reach(start, position{i, 0})
		for _, token := range place {
			w.named[token] = true
		}
	}
	w.walk(value, &state{at: start})
	return w.found
}

// position is how far one of the patterns has come.
type position struct{ place, token int }

// state is how far all of them have come. Where a token leads is worked out once, and is
// the same for all tokens that no pattern names.
type state struct {
	at    []position
	next  map[string]*state
	other *state
}

type selector struct {
	selection *Selection
	most      int
	named     map[string]bool // tokens in patterns
	steps     []step
	found     Selected
}

// reach adds a position, and those behind tokens that may stand for nothing.
func (w *selector) reach(list []position, p position) []position {
	if slices.Contains(list, p) {
		return list
	}
	list = append(list, p)
	if place := w.selection.Places[p.place]; p.token < len(place) && place[p.token] == AnyTokens {
		return w.reach(list, position{p.place, p.token + 1})
	}
	return list
}

// after returns the state behind one more token.
func (w *selector) after(from *state, token string) *state {
	if !w.named[token] {
		if from.other == nil {
			from.other = w.step(from, token)
		}
		return from.other
	}
	to, known := from.next[token]
	if !known {
		to = w.step(from, token)
		if from.next == nil {
			from.next = map[string]*state{}
		}
		from.next[token] = to
	}
	return to
}

func (w *selector) step(from *state, token string) *state {
	to := &state{}
	for _, p := range from.at {
		place := w.selection.Places[p.place]
		if p.token == len(place) {
			continue
		}
		switch place[p.token] {
		case AnyTokens:
			to.at = w.reach(to.at, p)
		case AnyToken, token:
			to.at = w.reach(to.at, position{p.place, p.token + 1})
		}
	}
	if slices.Equal(from.at, to.at) {
		return from // so that depth makes no new ones
	}
	return to
}

// here says whether a pattern ends at one of the positions.
func (w *selector) here(at *state) bool {
	return slices.ContainsFunc(at.at, func(p position) bool { return p.token == len(w.selection.Places[p.place]) })
}

func (w *selector) walk(value any, at *state) {
	if len(at.at) == 0 {
		return
	}
	switch v := value.(type) {
	case string:
		if w.here(at) && w.wants(v) {
			w.add("value", v)
		}
	case []any:
		w.steps = append(w.steps, step{})
		for i, item := range v {
			w.steps[len(w.steps)-1].index = i
			w.walk(item, w.after(at, strconv.Itoa(i)))
		}
		w.steps = w.steps[:len(w.steps)-1]
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			below := w.after(at, key)
			if len(below.at) == 0 {
				continue
			}
			w.steps = append(w.steps, step{key: key, index: -1})
			if w.selection.Keys && w.here(below) && w.wants(key) {
				w.add("key", key)
			}
			w.walk(v[key], below)
			w.steps = w.steps[:len(w.steps)-1]
		}
	}
}

func (w *selector) add(in, text string) {
	w.found.Total++
	if len(w.found.Strings) < w.most {
		w.found.Strings = append(w.found.Strings, SelectedString{Path: pointer(w.steps), In: in, Text: text})
	}
}

func (w *selector) wants(text string) bool {
	s := w.selection
	if len(s.CodePoints) == 0 && s.Contains == nil {
		return true
	}
	return s.Contains.in(text) || s.hasCodePoint(text)
}

func (s *Selection) hasCodePoint(text string) bool {
	if len(s.CodePoints) == 0 {
		return false
	}
	least := s.CodePoints[0].From
	for _, r := range s.CodePoints {
		least = min(least, r.From)
	}
	return strings.ContainsFunc(text, func(c rune) bool {
		return c >= least && slices.ContainsFunc(s.CodePoints, func(r CodePointRange) bool { return r.From <= c && c <= r.To })
	})
}

// Texts are looked for in one pass, whatever the case of ASCII letters. A text without
// any is left after two bytes per position: for seventy texts that takes a tenth of looking
// for one after the other.
type Texts struct {
	always bool // one of them is empty
	starts map[[2]byte][]string
	pairs  [1 << 16 / 64]uint64 // the keys of starts, to be asked fast
	single [256]bool            // those of one byte
}

// NewTexts returns nil where there are none.
func NewTexts(parts []string) *Texts {
	if len(parts) == 0 {
		return nil
	}
	t := &Texts{starts: map[[2]byte][]string{}}
	for _, part := range parts {
		part = strings.Map(lowerASCIIRune, part)
		switch len(part) {
		case 0:
			t.always = true
		case 1:
			t.single[part[0]] = true
		default:
			pair := [2]byte{part[0], part[1]}
			t.starts[pair] = append(t.starts[pair], part)
			at := int(pair[0])<<8 | int(pair[1])
			t.pairs[at/64] |= 1 << (at % 64)
		}
	}
	return t
}

func (t *Texts) in(text string) bool {
	if t == nil {
		return false
	}
	if t.always {
		return true
	}
	before := 0
	for i := range len(text) {
		c := lowerASCII(text[i])
		if t.single[c] {
			return true
		}
		at := before<<8 | int(c)
		before = int(c)
		if i > 0 && t.pairs[at/64]&(1<<(at%64)) != 0 && t.startsAt(text[i-1:]) {
			return true
		}
	}
	return false
}

func (t *Texts) startsAt(text string) bool {
	return slices.ContainsFunc(t.starts[[2]byte{lowerASCII(text[0]), lowerASCII(text[1])}], func(part string) bool {
		return len(part) <= len(text) && equalFoldASCII(text[:len(part)], part)
	})
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func lowerASCIIRune(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

func equalFoldASCII(text, lower string) bool {
	for i := range len(lower) {
		if lowerASCII(text[i]) != lower[i] {
			return false
		}
	}
	return true
}
