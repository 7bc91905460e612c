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
	out  strings.Builder

	depth       int
	groups      int
	names       map[string]bool
	named       []nameRef          // \k<name>
	numbered    []numRef           // \1
	properties  map[string]runeSet // that have been looked up
	unsupported *UnsupportedError  // the first one
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
			p.out.WriteByte('|')
			continue
		}
		p.term()
	}
}

func (p *parser) term() {
	start := p.pos
	switch {
	case p.take("^"):
		p.out.WriteString(`\A`)
		p.noQuantifier("the start of the text")
	case p.take("$"):
		p.out.WriteString(`\z`)
		p.noQuantifier("the end of the text")
	case p.take(`\b`):
		p.out.WriteString(`\b`)
		p.noQuantifier("a word boundary")
	case p.take(`\B`):
		p.out.WriteString(`\B`)
		p.noQuantifier("a word boundary")
	case p.at("*"), p.at("+"), p.at("?"), p.quantifierAhead():
		p.fail(start, "there is nothing to repeat", `write \ before the character to mean it`)
	case p.take("("):
		p.group(start)
	case p.take("["):
		p.write(start, p.class(start))
		p.quantifier()
	case p.take("."):
		p.out.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		p.quantifier()
	case p.take(`\`):
		p.escape(start)
	default:
		r := p.rune()
		p.write(start, runeSet{{r, r}})
		p.quantifier()
	}
}

// maxTranslated bounds the translation, in bytes: one \p{L} takes ten thousand.
const maxTranslated = 1 << 20

// write writes a set, as long as there is room for it.
func (p *parser) write(start int, set runeSet) {
	if p.out.Len() > maxTranslated {
		p.cannot(start, tooLarge, "write a shorter pattern")
		return
	}
	p.out.WriteString(set.regexp())
}

func (p *parser) noQuantifier(what string) {
	if p.at("*") || p.at("+") || p.at("?") || p.quantifierAhead() {
		p.fail(p.pos, what+" cannot be repeated", "")
	}
}

func (p *parser) group(start int) {
	if p.depth++; p.depth > maxGroups {
		p.fail(start, "groups are nested more than "+strconv.Itoa(maxGroups)+" deep", "")
	}
	defer func() { p.depth-- }()
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
	p.out.WriteString("(?:")
	p.alternatives()
	if !p.take(")") {
		p.fail(start, "the parenthesis is not closed", "")
	}
	p.out.WriteByte(')')
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
		p.out.WriteString(p.text[start:p.pos])
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
			p.cannot(start, "a repeat of more than "+strconv.Itoa(maxRepeat), boundRemedy)
			n, m = 0, 0
		}
		p.out.WriteString("{" + strconv.Itoa(n))
		switch {
		case most == "-1":
			p.out.WriteString(",}")
		case m != n:
			p.out.WriteString("," + strconv.Itoa(m) + "}")
		default:
			p.out.WriteString("}")
		}
	}
	if p.take("?") {
		p.out.WriteByte('?')
	}
	p.noQuantifier("a quantifier")
}

const (
	maxRepeat   = 1000 // of Go's engine
	boundRemedy = "bound the length with maxLength"
	tooLarge    = "a pattern of this size"
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
