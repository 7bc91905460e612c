package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// check looks at what settings mean together, which no JSON Schema can say.
func (m *merger) check(s *Settings) {
	if m.unique(s, "name", func(u Upstream) string { return u.Name }) { // else paths made of names are the same, too
		m.unique(s, "path", func(u Upstream) string { return u.Path })
	}
	m.unique(s, "lock", func(u Upstream) string { return u.Lock })
	for i, u := range s.Upstreams {
		if _, err := url.Parse(u.URL); err != nil {
			m.report(s.origin("upstreams[%d].url", i), fmt.Sprintf("upstreams[%d].url", i), fault{problem: "is not a URL that can be read"})
		}
	}
	if _, err := url.Parse(s.Record.URL); err != nil {
		m.report(s.origins["record.url"], "record.url", fault{problem: "is not a URL that can be read"})
	}
	m.checkAddress(s)
	if s.Engine.ToolsList != "" && s.Engine.Schemas != Learned {
		m.report(s.origins["engine.tools_list"], "engine.tools_list", fault{problem: "cannot stand beside engine.schemas", remedy: "choose one"})
	}
	s.Warnings = append(s.Warnings, s.doubts()...)
	sortProblems(s.Warnings)
}

func (s *Settings) origin(format string, args ...any) Origin {
	return s.origins[fmt.Sprintf(format, args...)]
}

// unique wants a member to differ from upstream to upstream, where it is set.
func (m *merger) unique(s *Settings, member string, of func(Upstream) string) bool {
	before := len(m.problems)
	first := map[string]int{}
	for i, u := range s.Upstreams {
		value := of(u)
		j, taken := first[value]
		switch {
		case value == "":
		case !taken:
			first[value] = i
		default:
			at, ok := s.origins[fmt.Sprintf("upstreams[%d].%s", i, member)]
			if !ok { // a default that meets what another has set
				at = s.origin("upstreams[%d]", i)
			}
			m.report(at, fmt.Sprintf("upstreams[%d].%s", i, member), fault{problem: fmt.Sprintf("is that of upstreams[%d] too", j), remedy: "give each its own"})
		}
	}
	return len(m.problems) == before
}

// checkAddress wants an address wherever standard input and output will not do, and a
// token where others can reach it.
func (m *merger) checkAddress(s *Settings) {
	if address := s.Listen.Address; address != "" {
		if name, _, _ := net.SplitHostPort(address); !loopback(name) && s.Listen.Token.IsZero() && !s.Listen.Open {
			m.report(s.origins["listen.address"], "listen.address", fault{
				problem: "can be reached by others, and no token is asked for", remedy: "set listen.token, or listen.open if that is meant",
			})
		}
		return
	}
	for i, u := range s.Upstreams {
		switch {
		case len(s.Upstreams) > 1:
			m.report(s.origin("upstreams[%d]", i), "listen.address", fault{problem: "is needed for more than one upstream", remedy: addressRemedy})
			return
		case u.URL != "":
			m.report(s.origin("upstreams[%d].url", i), "listen.address", fault{problem: "is needed for an upstream at a URL", remedy: addressRemedy})
		}
	}
}

const addressRemedy = `set it, such as to "127.0.0.1:8080"`

// doubts are settings that work and may not be meant.
func (s *Settings) doubts() []Problem {
	var found []Problem
	warn := func(at Origin, key, problem, remedy string) {
		found = append(found, Problem{Origin: at, Key: key, Problem: problem, Remedy: remedy})
	}
	if s.Listen.Address == "" {
		for _, o := range table {
			at, set := s.origins[o.Key]
			if set && strings.HasPrefix(o.Key, "listen.") {
				warn(at, o.Key, "has no effect without listen.address", "")
			}
		}
	} else if name, _, _ := net.SplitHostPort(s.Listen.Address); !loopback(name) {
		at := s.origins["listen.address"]
		if s.Listen.TLS.Cert == "" {
			warn(at, "listen.address", "is open to other machines without TLS: calls and tokens can be read on the way", "set listen.tls, or have something in front that does")
		}
		if s.Listen.Token.IsZero() {
			warn(at, "listen.address", "is open to other machines without a token: whoever reaches it may call tools", "")
		}
		if len(s.Listen.AllowedHosts) == 0 {
			warn(at, "listen.address", "is open to other machines under any name", "set listen.allowed_hosts")
		}
	}
	if parsed, err := url.Parse(s.Record.URL); err == nil && parsed.Scheme == "http" && !loopback(parsed.Hostname()) {
		warn(s.origins["record.url"], "record.url", "is http, so records of calls can be read on the way", "use https")
	}
	for i, u := range s.Upstreams {
		parsed, err := url.Parse(u.URL)
		if err == nil && parsed.Scheme == "http" && len(u.Headers) > 0 && !loopback(parsed.Hostname()) {
			warn(s.origin("upstreams[%d].url", i), fmt.Sprintf("upstreams[%d].url", i), "is http, so the values of headers can be read on the way", "use https")
		}
	}
	if len(s.Upstreams) == 0 {
		warn(Origin{File: s.file}, "upstreams", "there is none, so a gateway has nothing to stand in front of", "")
	}
	return found
}

func loopback(name string) bool {
	return strings.EqualFold(name, "localhost") || net.ParseIP(name).IsLoopback()
}
