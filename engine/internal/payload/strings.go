package payload

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string, from its opening quote, and counts watched characters.
func (d *decoder) string() (string, bool) {
	d.seen, d.seenHere = CodePointSet{}, 0
	start := d.pos + 1
	d.pos = plainEnd(d.text, start)
	var b strings.Builder
	escaped, run := false, start // run: start of the text that is not in b yet
	for d.pos < len(d.text) {
		switch c := d.text[d.pos]; {
		case c == '"':
			text := d.text[run:d.pos]
			if escaped {
				b.WriteString(text)
				text = b.String()
			}
			d.pos++
			return text, true
		case c == '\\':
			if !escaped {
				escaped = true
				b.Grow(stringEnd(d.text, d.pos) - start)
			}
			b.WriteString(d.text[run:d.pos])
			r, ok := d.escape()
			if !ok {
				return "", false
			}
			b.WriteRune(r)
			d.watch(r)
			run = d.pos
		case c < 0x20:
			return "", d.fault(FaultRawControl, d.pos)
		case c < 0x80:
			d.watch(rune(c))
			d.pos++
		default:
			r, size := utf8.DecodeRuneInString(d.text[d.pos:])
			if r == utf8.RuneError && size == 1 {
				return "", d.fault(FaultInvalidUTF8, d.pos)
			}
			d.watch(r)
			d.pos += size
		}
		d.pos = plainEnd(d.text, d.pos)
	}
	return "", d.fault(FaultUnexpectedEnd, len(d.text))
}

func validRune(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return r != utf8.RuneError || size != 1
}

// plainEnd returns where the run of plain characters that starts at i ends: at a
// quote, a backslash, a control character, DEL or anything beyond ASCII. Eight
// bytes are looked at in one step; BenchmarkDecode on one long string runs ten
// times as fast with that as byte by byte.
func plainEnd(text string, i int) int {
	for i+8 <= len(text) {
		if special(word(text[i : i+8])) {
			break
		}
		i += 8
	}
	for i < len(text) {
		if c := text[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7F {
			break
		}
		i++
	}
	return i
}

func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// special says whether one of the eight bytes is not plain: subtracting n sets the
// high bit of a byte below n, and x^c is zero where x is c.
func special(x uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	found := x | (x-ones*0x20)&^x | zero(x^ones*'"') | zero(x^ones*'\\') | zero(x^ones*0x7F)
	return found&high != 0
}

func zero(x uint64) uint64 { return (x - 0x0101010101010101) &^ x }

// stringEnd returns where the closing quote of a string is, or the end of text;
// i is within the string.
func stringEnd(text string, i int) int {
	for i < len(text) {
		next := strings.IndexByte(text[i:], '"')
		if next < 0 {
			return len(text)
		}
		slashes := 0
		for j := i + next - 1; j >= i && text[j] == '\\'; j-- {
			slashes++
		}
		i += next
		if slashes%2 == 0 {
			return i
		}
		i++
	}
	return len(text)
}

// skipString moves from an opening quote past the closing one.
func (d *decoder) skipString() {
	d.pos = min(stringEnd(d.text, d.pos+1)+1, len(d.text))
}

var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads an escape sequence, from its backslash.
func (d *decoder) escape() (rune, bool) {
	start := d.pos
	d.pos++
	if d.pos >= len(d.text) {
		return 0, d.unexpected()
	}
	c := d.text[d.pos]
	if c != 'u' {
		if simpleEscapes[c] == 0 {
			return 0, d.unexpected()
		}
		d.pos++
		return rune(simpleEscapes[c]), true
	}
	r, ok := d.hex4()
	if !ok {
		return 0, false
	}
	if !utf16.IsSurrogate(r) {
		return r, true
	}
	// A high surrogate needs a low one right behind it.
	if r >= 0xDC00 || d.pos >= len(d.text) || d.text[d.pos] != '\\' || d.pos+1 >= len(d.text) || d.text[d.pos+1] != 'u' {
		return 0, d.fault(FaultLoneSurrogate, start)
	}
	d.pos++
	low, ok := d.hex4()
	if !ok {
		return 0, false
	}
	if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
		return pair, true
	}
	return 0, d.fault(FaultLoneSurrogate, start)
}

// hex4 reads the four digits behind the u at pos.
func (d *decoder) hex4() (rune, bool) {
	d.pos++
	var r rune
	for range 4 {
		if d.pos >= len(d.text) {
			return 0, d.unexpected()
		}
		c := d.text[d.pos]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, d.unexpected()
		}
		r = r<<4 | rune(c)
		d.pos++
	}
	return r, true
}

// watch counts r if the limits ask for it.
func (d *decoder) watch(r rune) {
	if d.limits.Watched.Has(r) {
		d.seen.add(r)
		d.seenHere++
	}
}

// pointerAllowance is how many bytes the listed pointers may have together besides
// as many as the text has: with long keys above many strings they would multiply.
const pointerAllowance = 16 << 10

// note records the string just read, if it held watched characters.
func (d *decoder) note(in string) {
	if d.seenHere == 0 {
		return
	}
	found := &d.facts.ControlCharacters
	found.Total++
	if len(found.Strings) >= d.limits.ListedStrings || d.listed > len(d.text)+pointerAllowance {
		return
	}
	path := pointer(d.steps)
	d.listed += len(path)
	found.Strings = append(found.Strings, StringFact{Path: path, In: in, CodePoints: d.seen.list(), Count: d.seenHere})
}
