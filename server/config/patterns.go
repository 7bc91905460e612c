package config

import (
	"regexp"
	"strings"
	"sync"
)

// Patterns of texts. The parser and the JSON Schema share them, so they keep to what
// RE2 and ECMA-262 take for the same.
const (
	port       = `(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4})`
	host       = `([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])`
	urlSegment = `([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*`

	patternAddress  = `^` + host + `:` + port + `$`
	patternHost     = `^` + host + `(:` + port + `)?$`
	patternOrigin   = `^[a-z][a-z0-9+.-]*://` + host + `(:` + port + `)?$`
	patternURL      = `^https?://` + host + `(:` + port + `)?(/` + urlSegment + `)*(\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$`
	patternPrefix   = `^/([A-Za-z0-9_~-][A-Za-z0-9._~-]*(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*)?$`
	patternName     = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`
	patternVariable = `^[A-Za-z_][A-Za-z0-9_]*$`
	patternPath     = `^[^\x00]+$`
	patternText     = `^[^\x00]*$`
	patternTool     = `^[^\x00-\x1f\x7f]+$`
	patternToken    = `^[A-Za-z0-9._~+/-]+=*$`
	patternDuration = `^([0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h)){1,4}$`
)

// Headers that the gateway answers for itself: another value would make the upstream
// read other bytes than were judged, or another message.
var ownHeaders = []string{
	"connection", "content-encoding", "content-length", "content-type", "expect", "host", "keep-alive", "mcp-method",
	"mcp-name", "mcp-protocol-version", "mcp-session-id", "te", "trailer", "transfer-encoding", "upgrade",
}

const patternHeader = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"

// patternOwnHeader matches each of ownHeaders in any case.
var patternOwnHeader = func() string {
	var names []string
	for _, name := range ownHeaders {
		var b strings.Builder
		for _, r := range name {
			if r == '-' {
				b.WriteRune(r)
				continue
			}
			b.WriteString("[" + strings.ToUpper(string(r)) + string(r) + "]")
		}
		names = append(names, b.String())
	}
	return "^(" + strings.Join(names, "|") + ")$"
}()

var compiled sync.Map // pattern -> *regexp.Regexp

func matches(pattern, text string) bool {
	found, ok := compiled.Load(pattern)
	if !ok {
		found, _ = compiled.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return found.(*regexp.Regexp).MatchString(text)
}
