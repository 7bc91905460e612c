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
	for label := range strings.SplitSeq(text, ".") {
		if err := hostLabel(label); err != nil {
			return err
		}
	}
	return nil
}

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
	if len(label) < 4 || label[2:4] != "--" {
		return nil
	}
	if !strings.EqualFold(label[:2], "xn") {
		return errors.New("a label with hyphens where xn-- has them")
	}
	return aLabel(label)
}

// profile checks labels as RFC 5891 section 5.4 and RFC 5892 have it.
var profile = idna.New(idna.ValidateLabels(true), idna.CheckHyphens(true), idna.CheckJoiners(true), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true))

func aLabel(label string) error {
	decoded, err := profile.ToUnicode(strings.ToLower(label))
	if err != nil {
		return errors.New("a label that is no A-label")
	}
	return uLabel(decoded)
}

// IDNHostname checks an internationalised host name (RFC 5890 section 2.3.2.3).
func IDNHostname(text string) error {
	for _, dot := range []string{"\u3002", "\uff0e", "\uff61"} {
		text = strings.ReplaceAll(text, dot, ".")
	}
	for label := range strings.SplitSeq(text, ".") {
		if isASCII(label) {
			if err := hostLabel(label); err != nil {
				return err
			}
			continue
		}
		if err := uLabel(label); err != nil {
			return err
		}
	}
	ascii, err := profile.ToASCII(text)
	if err != nil || len(ascii) > maxHostname {
		return errors.New("not an internationalised host name")
	}
	return nil
}

// uLabel checks a label in Unicode.
func uLabel(label string) error {
	if ascii, err := profile.ToASCII(label); err != nil || len(ascii) > maxLabel {
		return errors.New("a label that is no U-label")
	}
	return contextual(label)
}

// contextual checks what RFC 5892 (section 2.6 and appendix A.3 to A.9) says of single
// characters, and the library does not look at.
func contextual(label string) error {
	runes := []rune(label)
	for i, r := range runes {
		if r != '-' && !unicode.In(r, unicode.L, unicode.Mn, unicode.Mc, unicode.Nd) && !strings.ContainsRune(allowedSymbols, r) {
			return errors.New("a label with a character that host names do not have")
		}
		before, after := neighbour(runes, i-1), neighbour(runes, i+1)
		sound := true
		switch {
		case strings.ContainsRune("\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b", r):
			sound = false
		case r == '\u00b7': // middle dot
			sound = before == 'l' && after == 'l'
		case r == '\u0375': // keraia
			sound = unicode.Is(unicode.Greek, after)
		case r == '\u05f3', r == '\u05f4': // geresh, gershayim
			sound = unicode.Is(unicode.Hebrew, before)
		case r == '\u30fb': // katakana middle dot
			sound = slices.ContainsFunc(runes, func(o rune) bool {
				return o != r && unicode.In(o, unicode.Hiragana, unicode.Katakana, unicode.Han)
			})
		case '\u0660' <= r && r <= '\u0669': // Arabic-Indic digits, not with the extended ones
			sound = !slices.ContainsFunc(runes, func(o rune) bool { return '\u06f0' <= o && o <= '\u06f9' })
		}
		if !sound {
			return errors.New("a label with a character that is not allowed where it is")
		}
	}
	return nil
}

// allowedSymbols are what RFC 5892 allows, in general or in a context, beside letters,
// digits and marks.
const allowedSymbols = "\u00b7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u200c\u200d\u3007\u30fb"

func neighbour(runes []rune, i int) rune {
	if i < 0 || i >= len(runes) {
		return -1
	}
	return runes[i]
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}
