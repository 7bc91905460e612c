package ecma

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxWidthWork bounds what finding out the width of a pattern may cost, in states looked
// at: some 0.2 ms.
const maxWidthWork = 20_000

// width returns in how many states an automaton can be at once, at most: that is what
// each character of a text costs. A pattern such as [0-9a-f]{32} has many states, but is
// in one of them at a time. Where that takes too long to find out, it is all of them.
//
// It runs the subset construction over all texts at once, and takes conditions such as
// \b for true, so that the answer is never too small.
func width(p *syntax.Prog) int {
	w := &widening{prog: p, left: maxWidthWork, anchored: p.StartCond()&syntax.EmptyBeginText != 0}
	all := len(p.Inst)
	alphabet := w.alphabet()
	start := w.closure(nil, uint32(p.Start))
	if w.left < 0 {
		return all
	}
	widest := len(start)
	seen := map[string]bool{key(start): true}
	for queue := [][]uint32{start}; len(queue) > 0; queue = queue[1:] {
		for _, r := range alphabet {
			next := w.after(queue[0], r)
			if w.left < 0 {
				return all
			}
			widest = max(widest, len(next))
			if k := key(next); !seen[k] {
				seen[k] = true
				queue = append(queue, next)
			}
		}
	}
	return widest
}

type widening struct {
	prog     *syntax.Prog
	anchored bool // a match starts at the start of the text only
	left     int
}

// after returns the states that follow the character r.
func (w *widening) after(states []uint32, r rune) (next []uint32) {
	for _, pc := range states {
		w.left--
		if i := &w.prog.Inst[pc]; consumes(i) && i.MatchRune(r) {
			next = w.closure(next, i.Out)
		}
	}
	if !w.anchored {
		next = w.closure(next, uint32(w.prog.Start))
	}
	slices.Sort(next)
	return next
}

// closure adds to states what is reached from pc without a character.
func (w *widening) closure(states []uint32, pc uint32) []uint32 {
	if w.left--; w.left < 0 || slices.Contains(states, pc) {
		return states
	}
	w.left -= len(states) / 16 // for the search
	states = append(states, pc)
	switch i := &w.prog.Inst[pc]; i.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return w.closure(w.closure(states, i.Out), i.Arg)
	case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
		return w.closure(states, i.Out)
	default:
		return states
	}
}

func consumes(i *syntax.Inst) bool {
	switch i.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	default:
		return false
	}
}

// alphabet returns one character for each set of characters that no state tells apart.
func (w *widening) alphabet() []rune {
	var classes []*syntax.Inst
	known := map[string]bool{}
	edges := map[rune]bool{0: true}
	for n := range w.prog.Inst {
		i := &w.prog.Inst[n]
		if k := strconv.Itoa(int(i.Op)) + string(i.Rune); consumes(i) && !known[k] {
			known[k] = true
			classes = append(classes, i)
			w.left -= len(i.Rune)
			for j, r := range i.Rune {
				edges[r] = true
				if j%2 == 1 || len(i.Rune) == 1 {
					edges[min(r+1, unicode.MaxRune)] = true
				}
			}
		}
	}
	edges['\n'], edges['\n'+1] = true, true
	seen := map[string]bool{}
	var alphabet []rune
	for r := range edges {
		var signature strings.Builder
		for _, i := range classes {
			w.left--
			signature.WriteString(strconv.FormatBool(i.MatchRune(r))[:1])
		}
		if w.left < 0 {
			return nil
		}
		if s := signature.String(); !seen[s] {
			seen[s] = true
			alphabet = append(alphabet, r)
		}
	}
	slices.Sort(alphabet)
	return alphabet
}

func key(states []uint32) string {
	b := make([]byte, 0, 4*len(states))
	for _, pc := range states {
		b = append(b, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	return string(b)
}
