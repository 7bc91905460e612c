package formats

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

const (
	maxHostname = 253 // bytes, RFC 1035 section 2.3.4 without the root and its length
	maxLabel    = 63
)

// Hostname checks a host name (RFC 1123 section 2.1). Labels that start with xn-- have to
// be A-labels (RFC 5890 section 2.3.2.1).
func Hostname(text string) error {
	if len(text) > maxHostname {
		return errors.New("more than 253 bytes")
	}
	encoded := false
	for label := range strings.SplitSeq(text, ".") {
		if err := hostLabel(label); err != nil {
			return err
		}
		encoded = encoded || isEncoded(label)
	}
	if encoded {
		return internationalised(strings.ToLower(text))
	}
	return nil
}

// hostLabel checks a label of ASCII. Hyphens in its third and fourth place are fine: RFC
// 1123 has no such rule, and large sites have such names (r3---sn-...).
func hostLabel(label string) error {
	switch {
	case label == "":
		return errors.New("an empty label")
	case len(label) > maxLabel:
		return errors.New("a label of more than 63 bytes")
	case label[0] == '-' || label[len(label)-1] == '-':
		return errors.New("a label that starts or ends with a hyphen")
	case strings.ContainsFunc(label, func(r rune) bool { return !isLetter(r) && !isDigit(r) && r != '-' }):
		return errors.New("a label with other than letters, digits and hyphens")
	}
	return nil
}

func isEncoded(label string) bool {
	return len(label) >= 4 && strings.EqualFold(label[:4], "xn--")
}

// IDNHostname checks an internationalised host name (RFC 5890 section 2.3.2.3). Nothing
// is mapped but the dots of RFC 3490 section 3.1, so a label with other than ASCII has to
// be a U-label as it is: in lower case and in normalization form C.
func IDNHostname(text string) error {
	// In ASCII no character takes less than one byte, in UTF-8 none more than four. What
	// follows takes quadratic time, so this comes first.
	if len(text) > 4*maxHostname {
		return errors.New("more than 253 characters")
	}
	text = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".").Replace(text)
	labels := strings.Split(text, ".")
	for i, label := range labels {
		if label != "" && !isASCII(label) {
			continue
		}
		if err := hostLabel(label); err != nil {
			return err
		}
		labels[i] = strings.ToLower(label)
	}
	return internationalised(strings.Join(labels, "."))
}

// profile checks names as RFC 5891 section 4 and RFC 5893 have it, and maps nothing.
// Hyphens are looked at here, for the labels that are not all ASCII.
var profile = idna.New(idna.ValidateForRegistration(), idna.CheckHyphens(false))

// internationalised checks the labels of a name that are A-labels or U-labels. It wants
// the whole name, since one label from right to left puts the others under RFC 5893 too.
func internationalised(name string) error {
	ascii, err := profile.ToASCII(name)
	if err != nil {
		return errors.New("not an internationalised host name")
	}
	decoded, err := profile.ToUnicode(name)
	if err != nil {
		return errors.New("not an internationalised host name")
	}
	asGiven, asASCII := strings.Split(name, "."), strings.Split(ascii, ".")
	for i, label := range strings.Split(decoded, ".") {
		if isEncoded(asGiven[i]) && asGiven[i] != asASCII[i] {
			return errors.New("a label that is no A-label")
		}
		if isASCII(label) {
			continue
		}
		if err := uLabel([]rune(label)); err != nil {
			return err
		}
	}
	return nil
}

// uLabel checks what the library does not look at: hyphens (RFC 5891 section 4.2.3.1) and
// what RFC 5892 (section 2 and appendix A.3 to A.9) says of single characters.
func uLabel(label []rune) error {
	if label[0] == '-' || label[len(label)-1] == '-' || len(label) >= 4 && label[2] == '-' && label[3] == '-' {
		return errors.New("a label with a hyphen that is not allowed where it is")
	}
	for i, r := range label {
		if !isValid(r) {
			return errors.New("a label with a character that host names do not have")
		}
		before, after := neighbour(label, i-1), neighbour(label, i+1)
		sound := true
		switch {
		case r == '\u00b7': // middle dot
			sound = before == 'l' && after == 'l'
		case r == '\u0375': // keraia
			sound = unicode.Is(unicode.Greek, after)
		case r == '\u05f3', r == '\u05f4': // geresh, gershayim
			sound = unicode.Is(unicode.Hebrew, before)
		case r == '\u30fb': // katakana middle dot
			sound = slices.ContainsFunc(label, func(o rune) bool {
				return o != r && unicode.In(o, unicode.Hiragana, unicode.Katakana, unicode.Han)
			})
		case '\u0660' <= r && r <= '\u0669': // Arabic-Indic digits, not with the extended ones
			sound = !slices.ContainsFunc(label, func(o rune) bool { return '\u06f0' <= o && o <= '\u06f9' })
		}
		if !sound {
			return errors.New("a label with a character that is not allowed where it is")
		}
	}
	return nil
}

const (
	// What RFC 5892 section 2.6 allows, in general or in a context, beside letters,
	// digits and marks, and what it disallows among them.
	allowedSymbols    = "-\u00b7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u200c\u200d\u3007\u30fb"
	disallowedLetters = "\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b"
)

// isValid says whether RFC 5892 section 3 has r as PVALID, CONTEXTJ or CONTEXTO. That
// r is stable under normalization and not ignorable, the library has looked at.
func isValid(r rune) bool {
	switch {
	case strings.ContainsRune(disallowedLetters, r),
		0x1100 <= r && r <= 0x11ff, 0xa960 <= r && r <= 0xa97f, 0xd7b0 <= r && r <= 0xd7ff, // old Hangul (2.9)
		0x20d0 <= r && r <= 0x20ff, 0x1d100 <= r && r <= 0x1d24f: // marks for symbols and music (2.4)
		return false
	}
	return unicode.In(r, unicode.L, unicode.Mn, unicode.Mc, unicode.Nd) || strings.ContainsRune(allowedSymbols, r)
}

func neighbour(runes []rune, i int) rune {
	if i < 0 || i >= len(runes) {
		return -1
	}
	return runes[i]
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}
