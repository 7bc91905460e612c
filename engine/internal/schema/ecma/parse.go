package ecma

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxGroups bounds how deep groups may nest.
const maxGroups = 250

// parser reads one pattern and writes its translation as it goes.
type parser struct {
	text string
	pos  int
	out  *strings.Builder // nil: the pattern is only read

	// leading is set while nothing but ^ and lookahead has been read. alternated is set
	// once the pattern itself has alternatives: ^ does not hold for all of them then.
	leading, alternated bool
	ahead               []lookahead
	written             int // bytes, in lookaheads too

	depth       int
	groups      int
	names       map[string]bool
	named       []nameRef            // \k<name>
	numbered    []numRef             // \1
	properties  map[property]runeSet // that have been looked up
	unsupported *UnsupportedError    // the first one
}

// lookahead stands right behind a ^ at the start of the pattern.
type lookahead struct {
	offset     int
	translated string
	negated    bool
}

type nameRef struct {
	offset int
	name   string
}

type numRef struct{ offset, number int }

// fail is how the parser ends at an error, from whatever depth.
type fail struct{ err *SyntaxError }

func (p *parser) fail(offset int, problem, remedy string) {
	panic(fail{&SyntaxError{Offset: offset, Problem: problem, Remedy: remedy}})
}

// cannot notes what RE2 has no words for; the rest is still read.
func (p *parser) cannot(offset int, feature, remedy string) {
	if p.unsupported == nil {
		p.unsupported = &UnsupportedError{Offset: offset, Feature: feature, Remedy: remedy}
	}
}

func (p *parser) more() bool { return p.pos < len(p.text) }

func (p *parser) at(prefix string) bool { return strings.HasPrefix(p.text[p.pos:], prefix) }

func (p *parser) take(prefix string) bool {
	if p.at(prefix) {
		p.pos += len(prefix)
		return true
	}
	return false
}

func (p *parser) rune() rune {
	r, size := utf8.DecodeRuneInString(p.text[p.pos:])
	if r == utf8.RuneError && size <= 1 {
		p.fail(p.pos, "the pattern is not valid UTF-8", "")
	}
	p.pos += size
	return r
}

func (p *parser) pattern() {
	p.alternatives()
	if p.more() {
		p.fail(p.pos, "a parenthesis is closed that was not opened", `write \) for the character`)
	}
	if p.alternated && len(p.ahead) > 0 {
		p.cannot(p.ahead[0].offset, "lookahead", "")
	}
	for _, ref := range p.named {
		if !p.names[ref.name] {
			p.fail(ref.offset, "there is no group of the name "+quoted(ref.name), "")
		}
	}
	for _, ref := range p.numbered {
		if ref.number > p.groups {
			p.fail(ref.offset, "there is no group of the number "+strconv.Itoa(ref.number), "")
		}
	}
}

// alternatives reads up to the end, or to a closing parenthesis.
func (p *parser) alternatives() {
	for p.more() && !p.at(")") {
		if p.take("|") {
			p.alternated = p.alternated || p.depth == 0
			p.leading = false
			p.emit("|")
			continue
		}
		p.term()
	}
}

func (p *parser) term() {
	start, leading := p.pos, p.leading
	p.leading = false
	switch {
	case p.take("^"):
		p.emit(`\A`)
		p.noQuantifier("the start of the text")
		p.leading = leading || start == 0
	case leading && (p.at("(?=") || p.at("(?!")):
		p.lookahead(start)
	case p.take("$"):
		p.emit(`\z`)
		p.noQuantifier("the end of the text")
	case p.take(`\b`):
		p.emit(`\b`)
		p.noQuantifier("a word boundary")
	case p.take(`\B`):
		p.emit(`\B`)
		p.noQuantifier("a word boundary")
	case p.at("*"), p.at("+"), p.at("?"), p.quantifierAhead():
		p.fail(start, "there is nothing to repeat", `write \ before the character to mean it`)
	case p.take("("):
		p.group(start)
	case p.take("["):
		p.write(start, p.class(start))
		p.quantifier()
	case p.take("."):
		p.emit(`[^\n\r\x{2028}\x{2029}]`)
		p.quantifier()
	case p.take(`\`):
		p.escape(start)
	default:
		r := p.rune()
		p.write(start, runeSet{{r, r}})
		p.quantifier()
	}
}

// lookahead reads a lookahead right behind the ^ that the pattern starts with.
func (p *parser) lookahead(start int) {
	p.enter(start)
	defer p.leave()
	negated := p.at("(?!")
	p.pos += len("(?=")
	around := p.out
	if around != nil {
		p.out = &strings.Builder{}
	}
	p.alternatives()
	p.close(start)
	p.noQuantifier("a lookahead")
	if around != nil {
		p.ahead = append(p.ahead, lookahead{start, p.out.String(), negated})
	}
	p.out = around
	p.leading = true
}

// enter counts a group that is open, leave one that ends.
func (p *parser) enter(start int) {
	if p.depth++; p.depth > maxGroups {
		p.fail(start, "groups are nested more than "+strconv.Itoa(maxGroups)+" deep", "")
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) close(start int) {
	if !p.take(")") {
		p.fail(start, "the parenthesis is not closed", "")
	}
}

func (p *parser) emit(translated string) {
	if p.out != nil {
		p.out.WriteString(translated)
	}
}

// maxTranslated bounds the translation, in bytes: one \p{L} takes ten thousand.
const maxTranslated = 1 << 20

// full says that sets of characters are not needed any more.
func (p *parser) full() bool { return p.out == nil || p.written > maxTranslated }

// write writes a set, as long as there is room for it.
func (p *parser) write(start int, set runeSet) {
	if p.full() {
		if p.out != nil {
			p.cannot(start, tooLarge, sizeRemedy)
		}
		return
	}
	translated := set.regexp()
	p.written += len(translated)
	p.out.WriteString(translated)
}

func (p *parser) noQuantifier(what string) {
	if p.at("*") || p.at("+") || p.at("?") || p.quantifierAhead() {
		p.fail(p.pos, what+" cannot be repeated", "")
	}
}

func (p *parser) group(start int) {
	p.enter(start)
	defer p.leave()
	lookaround := ""
	switch {
	case p.take("?:"):
	case p.take("?="), p.take("?!"):
		lookaround = "lookahead"
	case p.take("?<="), p.take("?<!"):
		lookaround = "lookbehind"
	case p.take("?<"):
		p.groups++
		p.groupName(start)
	case p.at("?P<"), p.at("?P="), p.at("?P>"):
		p.fail(start, "this is the syntax of another language for a named group", "write (?<name>...) or \\k<name>")
	case p.at("?"):
		p.fail(start, "there is no group of this kind", "remove the flags or comment after (?")
	default:
		p.groups++
	}
	if lookaround != "" {
		p.cannot(start, lookaround, "")
	}
	p.emit("(?:")
	p.alternatives()
	p.close(start)
	p.emit(")")
	if lookaround == "lookbehind" {
		p.noQuantifier("a lookbehind")
		return
	}
	p.quantifier()
}

func (p *parser) groupName(start int) {
	end := strings.IndexByte(p.text[p.pos:], '>')
	if end < 0 {
		p.fail(start, "the name of the group does not end", "")
	}
	name := p.text[p.pos : p.pos+end]
	if !isName(name) {
		p.fail(p.pos, quoted(name)+" cannot be the name of a group", "use letters, digits and _")
	}
	if p.names[name] {
		p.fail(p.pos, "two groups have the name "+quoted(name), "")
	}
	p.names[name] = true
	p.pos += end + 1
}

// quantifierAhead says whether a quantifier in braces comes next. Other braces stand
// for themselves.
func (p *parser) quantifierAhead() bool {
	_, _, _, ok := p.braces()
	return ok
}

// braces reads {n}, {n,} or {n,m}; most is -1 where it is open. It looks no further
// than a quantifier reaches, so that a row of open braces takes linear time.
func (p *parser) braces() (least, most string, length int, ok bool) {
	rest, found := strings.CutPrefix(p.text[p.pos:], "{")
	if !found {
		return "", "", 0, false
	}
	least, rest = leadingDigits(rest)
	most = least
	rest, open := strings.CutPrefix(rest, ",")
	if open {
		if most, rest = leadingDigits(rest); most == "" {
			most = "-1"
		}
	}
	if !strings.HasPrefix(rest, "}") {
		return "", "", 0, false
	}
	if least == "" {
		if open && most != "-1" {
			p.fail(p.pos, "a quantifier lacks its lower bound, and would be taken for text", "write {0,"+cut(most)+"}")
		}
		return "", "", 0, false
	}
	return least, most, len(p.text) - p.pos - len(rest) + 1, true
}

func leadingDigits(s string) (digits, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}

func (p *parser) quantifier() {
	start := p.pos
	switch {
	case p.take("*"), p.take("+"), p.take("?"):
		p.emit(p.text[start:p.pos])
	default:
		least, most, length, ok := p.braces()
		if !ok {
			return
		}
		p.pos += length
		n, overflow := count(least)
		m, overflow2 := count(most)
		if most != "-1" && outOfOrder(least, most) {
			p.fail(start, "the bounds of the quantifier are out of order", "")
		}
		if overflow || overflow2 || n > maxRepeat || m > maxRepeat {
			p.cannot(start, "a repeat of more than "+strconv.Itoa(maxRepeat), repeatRemedy)
			n, m = 0, 0
		}
		p.emit("{" + strconv.Itoa(n))
		switch {
		case most == "-1":
			p.emit(",}")
		case m != n:
			p.emit("," + strconv.Itoa(m) + "}")
		default:
			p.emit("}")
		}
	}
	if p.take("?") {
		p.emit("?")
	}
	p.noQuantifier("a quantifier")
}

const (
	maxRepeat    = 1000 // of Go's engine
	repeatRemedy = "repeat without bounds, and bound the length with maxLength"
	sizeRemedy   = "write a shorter pattern, and bound the length with maxLength"
	tooLarge     = "a pattern of this size"
)

// count reads digits; -1 is open.
func count(digits string) (n int, overflow bool) {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1 << 30, true
	}
	return n, false
}

// outOfOrder compares digits of any length.
func outOfOrder(least, most string) bool {
	least, most = strings.TrimLeft(least, "0"), strings.TrimLeft(most, "0")
	if len(least) != len(most) {
		return len(least) > len(most)
	}
	return least > most
}

// isName is RegExpIdentifierName of ECMA-262 section 22.2.1, without its escapes.
func isName(s string) bool {
	for i, r := range s {
		start := r == '_' || r == '$' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start)
		more := unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) || r == 0x200c || r == 0x200d
		if !start && (i == 0 || !more) || unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space) && r != '$' {
			return false
		}
	}
	return s != ""
}

func quoted(s string) string { return strconv.QuoteToASCII(cut(s)) }

func cut(s string) string {
	const longest = 48
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "..."
	}
	return s
}
