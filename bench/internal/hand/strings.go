package hand

import (
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// str reads a string from its opening quote, and counts forbidden characters.
func (d *decoder) str() (string, bool) {
	if d.count > 0 {
		d.seen, d.count = [3]uint64{}, 0
	}
	d.pos++
	start := d.pos
	var unescaped []byte
	for {
		d.pos = plain(d.text, d.pos)
		if d.pos >= len(d.text) {
			return "", d.fail("the text ends too early")
		}
		switch c := d.text[d.pos]; {
		case c == '"':
			part := d.text[start:d.pos]
			d.pos++
			if unescaped == nil {
				return part, true
			}
			unescaped = append(unescaped, part...)
			return unsafe.String(unsafe.SliceData(unescaped), len(unescaped)), true
		case c == '\\':
			if unescaped == nil {
				unescaped = make([]byte, 0, d.room(start))
			}
			unescaped = append(unescaped, d.text[start:d.pos]...)
			r, ok := d.escape()
			if !ok {
				return "", false
			}
			unescaped = utf8.AppendRune(unescaped, r)
			d.watch(r)
			start = d.pos
		case c < ' ':
			return "", d.fail("a control character in a string must be escaped")
		case c < utf8.RuneSelf:
			d.watch(rune(c))
			d.pos++
		default:
			r, size := utf8.DecodeRuneInString(d.text[d.pos:])
			if r == utf8.RuneError && size == 1 {
				return "", d.fail("the text is not valid UTF-8")
			}
			d.watch(r)
			d.pos += size
		}
	}
}

// room returns how long a string can be that starts at start and is read up to a
// backslash: to the next quote that no backslash precedes.
func (d *decoder) room(start int) int {
	at := d.pos
	for {
		i := strings.IndexByte(d.text[at:], '"')
		if i < 0 {
			return len(d.text) - start
		}
		if at += i; d.text[at-1] != '\\' {
			return at - start
		}
		at++
	}
}

// plain returns where the run of printable ASCII without quote and backslash that
// starts at i ends, looking at eight bytes at once.
func plain(text string, i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	raw := unsafe.Slice(unsafe.StringData(text), len(text))
	for i+8 <= len(raw) {
		x := binary.LittleEndian.Uint64(raw[i:])
		quote, slash, del := x^ones*'"', x^ones*'\\', x^ones*0x7F
		if (x|(x-ones*' ')|(quote-ones)|(slash-ones)|(del-ones))&high != 0 {
			break
		}
		i += 8
	}
	for i < len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7F {
			break
		}
		i++
	}
	return i
}

func (d *decoder) escape() (rune, bool) {
	if d.pos+1 >= len(d.text) {
		return 0, d.fail("the text ends too early")
	}
	c := d.text[d.pos+1]
	d.pos += 2
	switch c {
	case 'n':
		return '\n', true
	case '"', '\\', '/':
		return rune(c), true
	case 't':
		return '\t', true
	case 'r':
		return '\r', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'u':
		return d.unicode()
	}
	return 0, d.fail("unknown escape")
}

// unicode reads the digits behind \u, and the low half of a pair of surrogates.
func (d *decoder) unicode() (rune, bool) {
	r, ok := d.hex()
	if !ok || !utf16.IsSurrogate(r) {
		return r, ok
	}
	if strings.HasPrefix(d.text[d.pos:], `\u`) {
		d.pos += 2
		low, ok := d.hex()
		if !ok {
			return 0, false
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, true
		}
	}
	return 0, d.fail("a surrogate escape has no partner")
}

func (d *decoder) hex() (rune, bool) {
	if d.pos+4 > len(d.text) {
		return 0, d.fail("the text ends too early")
	}
	var r rune
	for _, c := range []byte(d.text[d.pos : d.pos+4]) {
		switch {
		case c-'0' <= 9:
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, d.fail("a hexadecimal digit is expected")
		}
	}
	d.pos += 4
	return r, true
}

// watch counts C0 but for TAB, LF and CR; DEL; and C1.
func (d *decoder) watch(r rune) {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7F && r < 0xA0 {
		d.seen[r>>6] |= 1 << (r & 63)
		d.count++
	}
}

func (d *decoder) note(key bool) {
	if d.facts.Total++; d.facts.Total <= maxListed {
		d.facts.Controls = append(d.facts.Controls, Control{d.pointer(), key, d.seen, d.count})
	}
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

func (t token) text() string {
	if t.isKey {
		return escaper.Replace(t.key)
	}
	return strconv.Itoa(t.index)
}
