// Package formats checks texts against formats of JSON Schema on which the validator is
// too lax.
//
// It knows nothing of schemas, nor of the validator. Every check takes time linear in
// the text, and its error does not repeat the text.
package formats

import (
	"errors"
	"net/netip"
	"strings"
)

// All are the checks by the name of their format. Each returns nil for a text that has
// the format.
var All = map[string]func(text string) error{
	"email":         Email,
	"hostname":      Hostname,
	"idn-hostname":  IDNHostname,
	"ipv4":          IPv4,
	"uri":           URI,
	"uri-reference": URIReference,
}

// IPv4 checks a dotted quad (RFC 2673 section 3.2).
func IPv4(text string) error {
	if address, err := netip.ParseAddr(text); err != nil || !address.Is4() {
		return errors.New("not four numbers from 0 to 255 with dots between them")
	}
	return nil
}

const (
	maxLocalPart = 64  // bytes, RFC 5321 section 4.5.3.1.1
	maxMailbox   = 254 // bytes, RFC 5321 section 4.5.3.1.3 without the angle brackets
)

// Email checks a mailbox (RFC 5321 section 4.1.2): no display name, no comments.
func Email(text string) error {
	if len(text) > maxMailbox {
		return errors.New("more than 254 bytes")
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return errors.New("no @")
	}
	local, domain := text[:at], text[at+1:]
	switch {
	case len(local) > maxLocalPart:
		return errors.New("more than 64 bytes before the @")
	case !isDotString(local) && !isQuotedString(local):
		return errors.New("not a mailbox name before the @")
	}
	if literal, ok := strings.CutPrefix(domain, "["); ok {
		return addressLiteral(literal)
	}
	return Hostname(domain)
}

// isDotString says whether text is atoms with dots between them.
func isDotString(text string) bool {
	for atom := range strings.SplitSeq(text, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(r rune) bool {
			return !isLetter(r) && !isDigit(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
		}) {
			return false
		}
	}
	return true
}

// isQuotedString says whether text is printable ASCII in quotes, with quotes and
// backslashes escaped.
func isQuotedString(text string) bool {
	inner, ok := strings.CutPrefix(text, `"`)
	if !ok || len(inner) == 0 || !strings.HasSuffix(inner, `"`) {
		return false
	}
	inner = inner[:len(inner)-1]
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case '"':
			return false
		case '\\':
			if i++; i == len(inner) {
				return false
			}
		}
		if inner[i] < ' ' || inner[i] > '~' {
			return false
		}
	}
	return true
}

// addressLiteral checks what follows the opening bracket of a domain.
func addressLiteral(text string) error {
	text, closed := strings.CutSuffix(text, "]")
	const tag = "IPv6:" // in any case, RFC 5234 section 2.3
	six := len(text) > len(tag) && strings.EqualFold(text[:len(tag)], tag)
	if closed && (six && isIPv6(text[len(tag):]) || IPv4(text) == nil) {
		return nil
	}
	return errors.New("not an address between the brackets")
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isHex(r rune) bool { return isDigit(r) || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F' }
