package ecma

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"unicode"
)

// Of so few states with so many characters it is not worth while to find out how many
// count: [\p{L}_]+ has three, and hundreds of ranges.
const (
	fewStates      = 16
	manyCharacters = 512
)

// widthOf returns in how many states an automaton can be at once, at most: that is what
// each character of a text costs. A pattern such as [0-9a-f]{32} has many states, but is
// in one of them at a time. Where that takes more than work to find out, it is the sum of
// that of the parts, or in the end all states. work is counted in states looked at, each of
// which takes some 30 ns, and what is done is taken off it.
//
// anywhere says that a match may start in the middle of the text, whatever the pattern says.
func widthOf(re *syntax.Regexp, anywhere bool, work *int) int {
	program, err := syntax.Compile(re)
	if err != nil {
		return 2 * MaxStates // it has been compiled before
	}
	share := *work / 2
	spent := share
	width, known := width(program, anywhere, &spent)
	*work -= share - spent
	if known || *work <= 0 {
		return width
	}
	switch re.Op {
	case syntax.OpCapture:
		return 2 + widthOf(re.Sub[0], anywhere, work)
	case syntax.OpAlternate:
		sum := len(re.Sub) - 1
		for _, sub := range re.Sub {
			sum += widthOf(sub, anywhere, work)
		}
		return min(sum, width)
	case syntax.OpConcat:
		if half := len(re.Sub) / 2; half > 0 {
			first := syntax.Regexp{Op: syntax.OpConcat, Sub: re.Sub[:half]}
			second := syntax.Regexp{Op: syntax.OpConcat, Sub: re.Sub[half:]}
			return min(widthOf(&first, anywhere, work)+widthOf(&second, true, work), width)
		}
	default:
	}
	return width
}

// width is widthOf for a whole automaton. Where it is not known it is the number of states.
//
// It runs the subset construction over all texts at once, and takes conditions such as
// \b for true, so that the answer is never too small.
func width(p *syntax.Prog, anywhere bool, work *int) (states int, known bool) {
	all := len(p.Inst)
	anchored := !anywhere && p.StartCond()&syntax.EmptyBeginText != 0
	w := &widening{prog: p, left: work, anchored: anchored, reached: make([]int, all)}
	classes, characters := w.classes()
	if all <= fewStates && characters > manyCharacters {
		return all, true
	}
	alphabet := w.alphabet(classes)
	start := w.start()
	widest := len(start)
	seen := map[string]bool{key(start): true}
	for queue := [][]uint32{start}; len(queue) > 0 && *work > 0; queue = queue[1:] {
		for _, r := range alphabet {
			next := w.after(queue[0], r)
			widest = max(widest, len(next))
			if k := key(next); !seen[k] {
				seen[k] = true
				queue = append(queue, next)
			}
		}
	}
	if *work <= 0 {
		return all, false
	}
	return widest, true
}

type widening struct {
	prog     *syntax.Prog
	anchored bool // a match starts at the start of the text only
	left     *int

	reached []int // by state: the last round that came to it
	round   int
}

func (w *widening) start() []uint32 {
	w.round++
	return w.closure(nil, uint32(w.prog.Start))
}

// after returns the states that follow the character r.
func (w *widening) after(states []uint32, r rune) (next []uint32) {
	w.round++
	*w.left -= len(states)
	for _, pc := range states {
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
	if *w.left <= 0 || w.reached[pc] == w.round {
		return states
	}
	*w.left--
	w.reached[pc] = w.round
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
func (w *widening) alphabet(classes []*syntax.Inst) []rune {
	edges := map[rune]bool{0: true, '\n': true, '\n' + 1: true}
	for _, i := range classes {
		for j, r := range i.Rune {
			edges[r] = true
			if j%2 == 1 || len(i.Rune) == 1 {
				edges[min(r+1, unicode.MaxRune)] = true
			}
		}
	}
	if *w.left -= len(edges) * (1 + len(classes)); *w.left <= 0 {
		return nil
	}
	seen := map[string]bool{}
	signature := make([]byte, len(classes))
	var alphabet []rune
	for r := range edges {
		for n, i := range classes {
			signature[n] = 0
			if i.MatchRune(r) {
				signature[n] = 1
			}
		}
		if !seen[string(signature)] {
			seen[string(signature)] = true
			alphabet = append(alphabet, r)
		}
	}
	slices.Sort(alphabet)
	return alphabet
}

// classes returns one state for each different set of characters that some state takes.
// A repeat has very many states with one and the same list of characters. characters is how
// many, or ends of ranges, all lists have.
func (w *widening) classes() (classes []*syntax.Inst, characters int) {
	type list struct {
		op    syntax.InstOp
		first *rune
		runes int
	}
	looked, known := map[list]bool{}, map[string]bool{}
	for n := range w.prog.Inst {
		i := &w.prog.Inst[n]
		if *w.left--; *w.left <= 0 || !consumes(i) {
			continue
		}
		l := list{op: i.Op, runes: len(i.Rune)}
		if l.runes > 0 {
			l.first = &i.Rune[0]
		}
		if looked[l] {
			continue
		}
		looked[l] = true
		characters += len(i.Rune)
		if k := strconv.Itoa(int(i.Op)) + string(i.Rune); !known[k] {
			known[k] = true
			classes = append(classes, i)
		}
	}
	*w.left -= characters
	return classes, characters
}

func key(states []uint32) string {
	b := make([]byte, 0, 4*len(states))
	for _, pc := range states {
		b = append(b, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
	}
	return string(b)
}
