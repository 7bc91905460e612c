package formats

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// URI checks a URI (RFC 3986 section 3). Any scheme has the format.
func URI(text string) error {
	if err := URIReference(text); err != nil {
		return err
	}
	scheme, _, found := strings.Cut(text, ":")
	if !found || strings.ContainsAny(scheme, "/?#") {
		return errors.New("no scheme")
	}
	return nil
}

// URIReference checks a URI or a relative reference (RFC 3986 section 4.1). Package
// net/url reads it, behind checks of what that package is lax about; a package that
// claims to be exact turned out to refuse "#fragment" and registered names of digits.
func URIReference(text string) error {
	if err := uriCharacters(text); err != nil {
		return err
	}
	if _, err := url.Parse(text); err != nil {
		return errors.New("not a URI reference")
	}
	rest, fragment, _ := strings.Cut(text, "#")
	if strings.ContainsAny(fragment, "#[]") {
		return errors.New("a fragment with a character that has to be percent-encoded")
	}
	if i := strings.IndexAny(rest, ":/?"); i >= 0 && rest[i] == ':' {
		rest = rest[i+1:] // after the scheme, which net/url has looked at
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexAny(after, "/?")
		if end < 0 {
			end = len(after)
		}
		if err := authority(after[:end]); err != nil {
			return err
		}
		rest = after[end:]
	}
	if strings.ContainsAny(rest, "[]") {
		return errors.New("brackets that do not enclose an address")
	}
	return nil
}

// authority checks [ userinfo "@" ] host [ ":" port ] (RFC 3986 section 3.2).
func authority(text string) error {
	user, host, found := strings.Cut(text, "@")
	if !found {
		user, host = "", text
	}
	if strings.ContainsAny(user, "[]") || strings.Contains(host, "@") {
		return errors.New("user information with a character that has to be percent-encoded")
	}
	if literal, ok := strings.CutPrefix(host, "["); ok {
		address, port, closed := strings.Cut(literal, "]")
		if !closed || port != "" && !isPort(port) || !isAddress(address) {
			return errors.New("not an address between the brackets")
		}
		return nil
	}
	name, port, found := strings.Cut(host, ":")
	if strings.ContainsAny(name, "[]") || found && !isPort(":"+port) {
		return errors.New("not a host with a port")
	}
	return nil
}

// isPort says whether text is a colon and digits, of which there may be none.
func isPort(text string) bool {
	digits, ok := strings.CutPrefix(text, ":")
	return ok && !strings.ContainsFunc(digits, func(r rune) bool { return !isDigit(r) })
}

// isAddress checks an IPv6 address without a zone. That an address of a future version
// may stand there (IPvFuture) is left out, as in net/url: there is none.
func isAddress(text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.Is6() && address.Zone() == ""
}

// uriCharacters makes sure that text has the characters of RFC 3986 section 2 alone.
func uriCharacters(text string) error {
	for i, r := range text {
		switch {
		case isLetter(r), isDigit(r), strings.ContainsRune("-._~:/?#[]@!$&'()*+,;=", r):
		case r == '%':
			if i+2 >= len(text) || !isHex(rune(text[i+1])) || !isHex(rune(text[i+2])) {
				return errors.New("a percent sign without two hexadecimal digits")
			}
		default:
			return errors.New("a character that has to be percent-encoded")
		}
	}
	return nil
}
