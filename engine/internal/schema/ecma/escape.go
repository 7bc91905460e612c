package ecma

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// escape reads what follows a backslash outside of a class.
func (p *parser) escape(start int) {
	if !p.more() {
		p.fail(start, "the pattern ends with a backslash", "")
	}
	switch c := p.text[p.pos]; {
	case c >= '1' && c <= '9':
		end := p.pos
		for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
			end++
		}
		number, err := strconv.Atoi(p.text[p.pos:end])
		if err != nil {
			p.fail(start, "there is no group of this number", "")
		}
		p.pos = end
		p.numbered = append(p.numbered, numRef{start, number})
		p.reference(start)
	case c == 'k':
		p.pos++
		end := strings.IndexByte(p.text[p.pos:], '>')
		if !p.at("<") || end < 0 {
			p.fail(start, `the escape \k has no meaning without <name>`, "")
		}
		p.named = append(p.named, nameRef{start, p.text[p.pos+1 : p.pos+end]})
		p.pos += end + 1
		p.reference(start)
	default:
		p.write(start, p.escaped(start, false))
		p.quantifier()
	}
}

func (p *parser) reference(start int) {
	p.cannot(start, "a backreference", "")
	p.emit("(?:)")
	p.quantifier()
}

var controls = map[byte]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}

// escaped reads what follows a backslash, as a set of code points. A surrogate alone
// is in no set: it occurs in no text.
func (p *parser) escaped(start int, inClass bool) runeSet {
	c := p.rune()
	if control, ok := controls[byte(c)]; ok && c < 0x80 {
		return runeSet{{control, control}}
	}
	switch c {
	case 'd':
		return digits
	case 'D':
		return digits.complement()
	case 'w':
		return word
	case 'W':
		return word.complement()
	case 's':
		return space
	case 'S':
		return space.complement()
	case 'p', 'P':
		return p.property(start, c == 'P')
	case 'b':
		if inClass {
			return runeSet{{'\b', '\b'}}
		}
	case 'c':
		if p.more() {
			if letter := p.text[p.pos] | 0x20; letter >= 'a' && letter <= 'z' {
				p.pos++
				return runeSet{{rune(letter) & 0x1f, rune(letter) & 0x1f}}
			}
		}
		p.fail(start, `the escape \c has no meaning without a letter`, "")
	case '0':
		if p.more() && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
			p.fail(start, "octal escapes have no meaning in Unicode mode", `write \xHH`)
		}
		return runeSet{{0, 0}}
	case 'x':
		return p.single(p.hex(start, 2))
	case 'u':
		return p.single(p.unicodeEscape(start))
	}
	if c < 0x80 && (unicode.IsPunct(c) || unicode.IsSymbol(c) || c == ' ') {
		return runeSet{{c, c}}
	}
	p.fail(start, `the escape `+quoted(`\`+string(c))+` has no meaning`, "remove the backslash, if the character itself is meant")
	return nil
}

func (p *parser) single(r rune) runeSet {
	if utf16.IsSurrogate(r) {
		return runeSet{}
	}
	return runeSet{{r, r}}
}

func (p *parser) hex(start, length int) rune {
	if p.pos+length <= len(p.text) {
		if n, err := strconv.ParseUint(p.text[p.pos:p.pos+length], 16, 32); err == nil {
			p.pos += length
			return rune(n)
		}
	}
	p.fail(start, "the escape needs "+strconv.Itoa(length)+" hexadecimal digits", "")
	return 0
}

// unicodeEscape reads \uHHHH, a pair of them, or \u{H...}.
func (p *parser) unicodeEscape(start int) rune {
	if p.take("{") {
		end := strings.IndexByte(p.text[p.pos:], '}')
		if end < 0 {
			p.fail(start, `the escape \u{ does not end`, "")
		}
		n, err := strconv.ParseUint(p.text[p.pos:p.pos+end], 16, 32)
		if err != nil || n > unicode.MaxRune {
			p.fail(start, `the escape \u{} does not hold a code point`, "")
		}
		p.pos += end + 1
		return rune(n)
	}
	high := p.hex(start, 4)
	if !utf16.IsSurrogate(high) || !p.at(`\u`) {
		return high
	}
	before := p.pos
	p.pos += 2
	if !p.at("{") && p.pos+4 <= len(p.text) {
		if low, err := strconv.ParseUint(p.text[p.pos:p.pos+4], 16, 32); err == nil {
			if pair := utf16.DecodeRune(high, rune(low)); pair != unicode.ReplacementChar {
				p.pos += 4
				return pair
			}
		}
	}
	p.pos = before
	return high
}

// property is \p{Name}, or \P{Name}.
type property struct {
	name    string
	negated bool
}

// property reads {Name} or {Name=Value} after \p.
func (p *parser) property(start int, negated bool) runeSet {
	end := strings.IndexByte(p.text[p.pos:], '}')
	if !p.at("{") || end < 0 {
		p.fail(start, "a Unicode property has no braces", `write \p{L}`)
	}
	name := p.text[p.pos+1 : p.pos+end]
	p.pos += end + 1
	key := property{name, negated}
	set, known := p.properties[key]
	if !known {
		if set = p.lookUp(start, name); negated {
			set = set.complement()
		}
		p.properties[key] = set
	}
	return set
}

func (p *parser) lookUp(start int, name string) runeSet {
	key, value, pair := strings.Cut(name, "=")
	var table *unicode.RangeTable
	switch {
	case pair && (key == "gc" || key == "General_Category"):
		table = category(value)
	case pair && (key == "sc" || key == "Script"):
		table = script(value)
	case pair && (key == "scx" || key == "Script_Extensions"):
		if script(value) != nil || newerScripts[value] {
			p.cannot(start, "the Unicode property Script_Extensions", "write Script= instead, if that is near enough")
			return runeSet{}
		}
	case !pair:
		if set, known := derived(key); known {
			return set
		}
		if set, known := emoji[key]; known {
			return slices.Clone(set)
		}
		if table = category(key); table == nil {
			table = binary[key]
		}
		if missing[key] {
			p.cannot(start, "the Unicode property "+key, "list the characters, or allow backtracking patterns for this tool")
			return runeSet{}
		}
	}
	if pair && table == nil && (key == "sc" || key == "Script") && newerScripts[value] {
		p.cannot(start, "the script "+value, "list the characters")
		return runeSet{}
	}
	if table == nil {
		p.fail(start, "there is no Unicode property "+quoted(name), "")
	}
	return tableSet(table)
}

func category(name string) *unicode.RangeTable {
	if table := unicode.Categories[name]; table != nil {
		return table
	}
	return unicode.Categories[unicode.CategoryAliases[name]]
}

func script(name string) *unicode.RangeTable {
	if table := unicode.Scripts[name]; table != nil {
		return table
	}
	return unicode.Scripts[scriptCodes[name]]
}

// derived are properties that are put together of others.
func derived(name string) (runeSet, bool) {
	switch name {
	case "Any":
		return runeSet{{0, unicode.MaxRune}}, true
	case "ASCII":
		return runeSet{{0, 0x7f}}, true
	case "Alphabetic", "Alpha":
		return union(unicode.L, unicode.Nl, unicode.Other_Alphabetic), true
	case "Uppercase", "Upper":
		return union(unicode.Lu, unicode.Other_Uppercase), true
	case "Lowercase", "Lower":
		return union(unicode.Ll, unicode.Other_Lowercase), true
	case "Assigned":
		var all runeSet
		for short, table := range unicode.Categories {
			if len(short) == 1 && short != "C" {
				all = append(all, tableSet(table)...)
			}
		}
		for _, table := range []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs} {
			all = append(all, tableSet(table)...)
		}
		return all.merged(), true
	}
	return nil, false
}

func union(tables ...*unicode.RangeTable) (all runeSet) {
	for _, table := range tables {
		all = append(all, tableSet(table)...)
	}
	return all.merged()
}
