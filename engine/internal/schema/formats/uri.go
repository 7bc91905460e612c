package formats

import (
	"errors"
	"net/netip"
	"strings"
)

// The rules below are those of RFC 3986 appendix A, one by one. Package net/url would
// refuse registered names with percent-encoded ASCII and addresses of future versions,
// and is lax elsewhere, so that each rule had to be checked again behind it.

// URI checks a URI (RFC 3986 section 3). Any scheme has the format.
func URI(text string) error {
	if err := URIReference(text); err != nil {
		return err
	}
	if i := strings.IndexAny(text, ":/?#"); i < 0 || text[i] != ':' {
		return errors.New("no scheme")
	}
	return nil
}

// URIReference checks a URI or a relative reference (RFC 3986 section 4.1).
func URIReference(text string) error {
	rest, fragment, _ := strings.Cut(text, "#")
	rest, query, _ := strings.Cut(rest, "?")
	if i := strings.IndexAny(rest, ":/"); i >= 0 && rest[i] == ':' {
		if !isScheme(rest[:i]) {
			return errors.New("a colon that ends no scheme")
		}
		rest = rest[i+1:]
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexByte(after, '/')
		if end < 0 {
			end = len(after)
		}
		if err := authority(after[:end]); err != nil {
			return err
		}
		rest = after[end:]
	}
	if err := characters(rest, ":@/"); err != nil {
		return err
	}
	if err := characters(query, ":@/?"); err != nil {
		return err
	}
	return characters(fragment, ":@/?")
}

// isScheme checks a scheme (RFC 3986 section 3.1).
func isScheme(text string) bool {
	return text != "" && isLetter(rune(text[0])) && !strings.ContainsFunc(text, func(r rune) bool {
		return !isLetter(r) && !isDigit(r) && r != '+' && r != '-' && r != '.'
	})
}

// authority checks [ userinfo "@" ] host [ ":" port ] (RFC 3986 section 3.2).
func authority(text string) error {
	user, host, found := strings.Cut(text, "@")
	if !found {
		user, host = "", text
	}
	if err := characters(user, ":"); err != nil {
		return err
	}
	if literal, ok := strings.CutPrefix(host, "["); ok {
		address, port, closed := strings.Cut(literal, "]")
		if !closed || port != "" && port[0] != ':' || !isAddress(address) {
			return errors.New("not an address between the brackets")
		}
		host = port
	}
	name, port, _ := strings.Cut(host, ":")
	if strings.ContainsFunc(port, func(r rune) bool { return !isDigit(r) }) {
		return errors.New("a port with other than digits")
	}
	return characters(name, "")
}

// isAddress checks what stands between brackets: an IPv6 address without a zone, or
// one of a future version (RFC 3986 section 3.2.2).
func isAddress(text string) bool {
	if future, ok := strings.CutPrefix(strings.ToLower(text), "v"); ok {
		version, address, _ := strings.Cut(future, ".")
		return version != "" && !strings.ContainsFunc(version, func(r rune) bool { return !isHex(r) }) &&
			address != "" && !strings.Contains(address, "%") && characters(address, ":") == nil
	}
	return isIPv6(text)
}

func isIPv6(text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.Is6() && address.Zone() == ""
}

// characters makes sure that text has nothing but unreserved characters, delimiters
// within components, percent-encoded bytes (RFC 3986 section 2) and those in more.
func characters(text, more string) error {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case isLetter(rune(c)), isDigit(rune(c)), strings.IndexByte("-._~!$&'()*+,;=", c) >= 0, strings.IndexByte(more, c) >= 0:
		case c == '%':
			if i+2 >= len(text) || !isHex(rune(text[i+1])) || !isHex(rune(text[i+2])) {
				return errors.New("a percent sign without two hexadecimal digits")
			}
		default:
			return errors.New("a character that has to be percent-encoded")
		}
	}
	return nil
}
