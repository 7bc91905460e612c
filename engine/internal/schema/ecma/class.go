package ecma

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// runeSet holds ranges of code points, both ends included.
type runeSet [][2]rune

var (
	digits = runeSet{{'0', '9'}}
	word   = runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	space  = runeSet{
		{'\t', '\r'}, {' ', ' '}, {0xa0, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff},
	}
)

func tableSet(table *unicode.RangeTable) (set runeSet) {
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			set = append(set, [2]rune{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			set = append(set, [2]rune{r, r})
		}
	}
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return set.merged()
}

// merged sorts the ranges and joins those that touch.
func (set runeSet) merged() runeSet {
	sorted := set
	if byStart := func(a, b [2]rune) int { return int(a[0] - b[0]) }; !slices.IsSortedFunc(set, byStart) {
		sorted = slices.Clone(set)
		slices.SortFunc(sorted, byStart)
	}
	out := make(runeSet, 0, len(sorted))
	for _, r := range sorted {
		if last := len(out) - 1; last >= 0 && r[0] <= out[last][1]+1 {
			out[last][1] = max(out[last][1], r[1])
			continue
		}
		out = append(out, r)
	}
	return out
}

func (set runeSet) complement() runeSet {
	next := rune(0)
	var out runeSet
	for _, r := range set.merged() {
		if r[0] > next {
			out = append(out, [2]rune{next, r[0] - 1})
		}
		next = r[1] + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, [2]rune{next, unicode.MaxRune})
	}
	return out
}

// withoutSurrogates drops surrogates from the ends of merged ranges. They occur in no
// text, and Go's engine would take one that stands alone for U+FFFD. Inside a range
// they do no harm.
func (set runeSet) withoutSurrogates() (out runeSet) {
	const first, last = 0xd800, 0xdfff
	for _, r := range set {
		if first <= r[0] && r[0] <= last {
			r[0] = last + 1
		}
		if first <= r[1] && r[1] <= last {
			r[1] = first - 1
		}
		if r[0] <= r[1] {
			out = append(out, r)
		}
	}
	return out
}

// regexp writes the set as a class of Go's syntax, with nothing left to interpret.
func (set runeSet) regexp() string {
	set = set.merged().withoutSurrogates()
	if len(set) == 0 {
		return `[^\x00-\x{10ffff}]`
	}
	if len(set) == 1 && set[0][0] == set[0][1] {
		return string(appendOne(nil, set[0][0]))
	}
	b := append(make([]byte, 0, 16*len(set)), '[')
	for _, r := range set {
		b = appendOne(b, r[0])
		if r[1] > r[0] {
			b = appendOne(append(b, '-'), r[1])
		}
	}
	return string(append(b, ']'))
}

func appendOne(b []byte, r rune) []byte {
	if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return append(b, byte(r))
	}
	return append(strconv.AppendInt(append(b, `\x{`...), int64(r), 16), '}')
}

// class reads a character class after its opening bracket.
func (p *parser) class(start int) runeSet {
	negated := p.take("^")
	var set runeSet
	added := map[string]bool{} // what stands for a set, some for hundreds of ranges, is added once
	add := func(from int, atom runeSet) {
		if p.full() {
			return
		}
		if written := p.text[from:p.pos]; len(atom) == 1 || !added[written] {
			added[written] = true
			set = append(set, atom...)
		}
	}
	for !p.take("]") {
		if !p.more() {
			p.fail(start, "the class is not closed", "")
		}
		if p.posixAhead() {
			p.fail(start, "there are no POSIX classes in ECMA-262", `write \d, a-z or \p{L}`)
		}
		at := p.pos
		first, single := p.classAtom()
		// A minus is itself at either end, and beside a set such as \w.
		if !p.at("-") || p.at("-]") {
			add(at, first)
			continue
		}
		add(at, first)
		p.pos++
		dash := p.pos
		if !p.more() {
			p.fail(start, "the class is not closed", "")
		}
		last, singleToo := p.classAtom()
		switch {
		case !single || !singleToo:
			add(dash, last)
			set = append(set, [2]rune{'-', '-'})
		case first[0][0] > last[0][0]:
			p.fail(at, "the range in the class is out of order", "")
		default:
			set = append(set, [2]rune{first[0][0], last[0][0]})
		}
	}
	if negated {
		return set.complement()
	}
	return set.merged()
}

// posixAhead says whether [:name:] comes next, which ECMA-262 would read as the
// characters of the name.
func (p *parser) posixAhead() bool {
	if !p.at("[:") {
		return false
	}
	name := strings.TrimPrefix(p.text[p.pos+2:], "^")
	end := 0
	for end < len(name) && name[end] >= 'a' && name[end] <= 'z' {
		end++
	}
	return end > 0 && strings.HasPrefix(name[end:], ":]")
}

// classAtom reads one character or set of a class. A surrogate alone is a single one
// for the sake of ranges.
func (p *parser) classAtom() (set runeSet, single bool) {
	start := p.pos
	if !p.take(`\`) {
		r := p.rune()
		return runeSet{{r, r}}, true
	}
	if !p.more() {
		p.fail(start, "the pattern ends with a backslash", "")
	}
	if p.take("u") {
		r := p.unicodeEscape(start)
		return runeSet{{r, r}}, true
	}
	kind := p.text[p.pos]
	set = p.escaped(start, true)
	return set, !strings.ContainsRune("dDwWsSpP", rune(kind))
}
