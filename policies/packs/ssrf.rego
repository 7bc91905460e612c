# METADATA
# scope: package
# title: URL or host that reaches into the network
# description: >-
#   A string at a place for URLs names a host in an internal network, in whatever
#   notation a client would accept, a scheme or port that is not for the web, or is
#   written so that two programs would read two different hosts. Nothing is looked up:
#   a public name with an internal address, and redirects, are for the fetcher to
#   check. Lists are in data.sallyport.packs.ssrf; packs/ssrf.md explains them.
# custom:
#   severity: high
#   halts: false
#   code: -32602
package sallyport.rules.ssrf

import rego.v2

pack := data.sallyport.packs.ssrf

selection := {"attach": pack.attach} if pack.on == true

deny contains {"path": found.path, "reason": reason} if {
	input.facts.selected.ssrf.total <= pack.max_urls
	count(_unsound) == 0
	some found in input.facts.selected.ssrf.strings
	reason := _reason(found.text)
}

# More strings than were handed over, or than are worth the time: nobody looks at them.
deny contains {"path": "", "reason": reason} if {
	most := min({pack.max_urls, count(input.facts.selected.ssrf.strings)})
	input.facts.selected.ssrf.total > most
	count(_unsound) == 0
	reason := sprintf("there are more than %d URLs in this call; send fewer at a time", [most])
}

# A list that is not there would be silent; so say which one it is.
deny contains {"path": "", "reason": reason} if {
	input.facts.selected.ssrf.total > 0
	member := min(_unsound)
	reason := sprintf("the pack ssrf cannot judge: packs/ssrf/%s is missing or has the wrong type", [member])
}

# ---------------------------------------------------------------------------
# The text as a whole. Programs strip, skip or split at white space and control
# characters, each in its own way, so none is let through anywhere.

_reason(text) := "a URL holds no white space and no control characters; send one URL alone, and write a space in it as %20" if {
	regex.match(`[\x00-\x20\x7F]`, text)
} else := reason if {
	not text in pack.passes
	reason := _problem(text, regex.find_all_string_submatch_n(_ordinary, text, 1))
}

# Most URLs are of this form, in which nothing but the name of the host can be wrong. The
# long way finds the same in twice the time.
_ordinary := `^(https?)://((?:[a-z0-9_-]{1,63}\.){1,9}[a-z][a-z0-9_-]{0,62})(?:/|$)`

_problem(_, match) := reason if {
	_is_ordinary(match)
	reason := _known_name_problem(match[0][2])
}

_problem(text, match) := reason if {
	not _is_ordinary(match)
	reason := _of_form(_form(text), text)
}

_is_ordinary(match) if match[0][1] in pack.allowed_schemes

# What the text would be taken for. The order matters: `fd00::1` and
# `localhost:8080` begin like a scheme.
#   relative  "", /path, ./path, ../path, ?query, #fragment: names no host
#   slashes   //host, \\host, /\host: takes its scheme from somewhere else
#   address   ::1, fd00::1: an IPv6 address without brackets
#   port      host:80, host:80/path
#   scheme    scheme:anything
#   host      everything else
_form(text) := "relative" if {
	regex.match(`^\.{0,2}([?#]|$|/([^/\\]|$))`, text)
} else := "slashes" if {
	regex.match(`^[/\\]`, text)
} else := "address" if {
	regex.match(`^[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:`, text)
} else := "port" if {
	regex.match(`^[A-Za-z][A-Za-z0-9+.-]{0,252}:[0-9]+([/?#]|$)`, text)
	not _scheme(text) in pack.allowed_schemes
	not _scheme(text) in pack.schemes_without_host
} else := "scheme" if {
	regex.match(`^[A-Za-z][A-Za-z0-9+.-]{0,252}:`, text)
} else := "host"

_scheme(text) := lower(regex.find_n(`^[^:]*`, text, 1)[0])

_of_form("relative", _) := _scheme_is_required if pack.scheme_required == true

_of_form("slashes", _) := "a text that begins with two slashes or a backslash is read as a host with any scheme; write the URL with its scheme, as in https://example.com/"

_of_form("address", text) := _scheme_is_required if {
	pack.scheme_required == true
} else := reason if {
	reason := _address_problem(_authority(text))
}

_of_form("port", text) := _bare_problem(text)

_of_form("host", text) := _bare_problem(text)

_of_form("scheme", text) := reason if {
	scheme := _scheme(text)
	reason := _after_scheme(scheme, substring(text, count(scheme) + 1, -1))
}

_scheme_is_required := "write the URL with its scheme, as in https://example.com/"

# ---------------------------------------------------------------------------
# Schemes

_after_scheme(scheme, rest) := reason if {
	not _names_no_host(scheme)
	reason := _url_problem(scheme, rest)
}

# The operator says that nothing is fetched here; but mailto://host/ and file://host/
# name a host after all.
_after_scheme(scheme, rest) := reason if {
	_names_no_host(scheme)
	regex.match(`^[/\\]{2}[^/?#]`, rest)
	reason := _authority_problem(_authority(substring(rest, 2, -1)))
}

_names_no_host(scheme) if {
	scheme in pack.schemes_without_host
	not scheme in pack.allowed_schemes
}

_url_problem(scheme, rest) := reason if {
	not scheme in pack.allowed_schemes
	scheme in pack.schemes_with_user
	reason := sprintf("ssh addresses are not allowed here, only %s; send the https address of the repository", [_listing(pack.allowed_schemes)])
} else := reason if {
	not scheme in pack.allowed_schemes
	reason := sprintf("this scheme is not allowed, only %s", [_listing(pack.allowed_schemes)])
} else := "after the scheme come two slashes and a host, as in https://example.com/; programs read anything else differently" if {
	# http:host, http:/host and http:///host: browsers skip what is missing or too much.
	not regex.match(`^//([^/\\]|$)`, rest)
} else := reason if {
	reason := _authority_problem(_authority(_without_user(scheme, substring(rest, 2, -1))))
} else := reason if {
	reason := _second_reading(substring(rest, 2, -1))
}

# ssh://git@example.com/, where ssh is allowed
_without_user(scheme, text) := regex.replace(text, `^[A-Za-z0-9._-]{1,64}@`, "") if {
	scheme in pack.schemes_with_user
} else := text

_listing(schemes) := concat(", ", array.slice(schemes, 0, 6))

# user@host:path is what git and scp take for ssh.
_bare_problem(text) := reason if {
	regex.match(_ssh, text)
	reason := _ssh_problem(regex.find_all_string_submatch_n(_ssh, text, 1)[0][1])
} else := reason if {
	not regex.match(_ssh, text)
	reason := _host_form_problem(text)
}

_ssh := `^[A-Za-z0-9._-]{1,64}@([^@:/?#\\\[\]]{1,253}):[^/]`

_ssh_problem(host) := reason if {
	not "ssh" in pack.allowed_schemes
	reason := sprintf("user@host:path is an ssh address, and only %s are allowed; send the https address of the repository", [_listing(pack.allowed_schemes)])
} else := reason if {
	reason := _name_problem(host)
}

_host_form_problem(text) := _scheme_is_required if {
	pack.scheme_required == true
} else := reason if {
	reason := _authority_problem(_authority(text))
} else := reason if {
	reason := _second_reading(text)
}

# ---------------------------------------------------------------------------
# Authority: what stands before the first of / ? #

_authority(text) := regex.find_n(`^[^/?#]*`, text, 1)[0]

# A name has at most 253 characters, a port 5.
_max_authority := 300

_authority_problem(authority) := "the host is longer than any host name" if {
	count(authority) > _max_authority
} else := "there is a backslash before or in the host, which programs read differently; write slashes" if {
	contains(authority, `\`)
} else := "there is an @ before the path, so that the host is what comes after it; leave user names and passwords out of a URL" if {
	contains(authority, "@")
} else := reason if {
	startswith(authority, "[")
	reason := _bracketed_problem(authority)
} else := reason if {
	not startswith(authority, "[")
	reason := _named_problem(authority)
}

# Some programs take everything up to the last @ before the first slash for a user, also
# where ? or # has ended the host: http://one?@two/ and http://one#@two/.
_second_reading(text) := "directly after the host come ? or # and then an @, so that some programs read another host; write a slash after the host" if {
	tail := trim_prefix(text, _authority(text))
	contains(tail, "@")
	reading := regex.find_n(`^[?#][^/]*@[^/?#]*`, tail, 1)[0]
	_is_another_host(reading)
}

_is_another_host(reading) if regex.match(`^[?#]@`, reading)

_is_another_host(reading) if strings.count(reading, "@") > _max_readings

_is_another_host(reading) if {
	strings.count(reading, "@") <= _max_readings
	parts := split(reading, "@")
	host := parts[count(parts) - 1]

	# ?mail=a@example.com&x=1: no program takes that for a host.
	not regex.match(`[&=]`, host)
	_authority_problem(host)
}

_max_readings := 8

# [IPv6 address]:port
_bracketed_problem(authority) := _no_address if {
	not regex.match(_bracketed, authority)
} else := reason if {
	reason := _address_problem(_inside(authority)[1])
} else := reason if {
	reason := _port_problem(_inside(authority)[3])
}

_bracketed := `^\[([^\[\]]*)\](:(.*))?$`

_inside(authority) := regex.find_all_string_submatch_n(_bracketed, authority, 1)[0]

# name:port, also for IPv4 addresses
_named_problem(authority) := "there is no host; write the URL in full, as in https://example.com/" if {
	regex.match(`^(:[^:]*)?$`, authority)
} else := "the host is followed by more than one colon; an IPv6 address is written in brackets, and there is one port" if {
	strings.count(authority, ":") > 1
} else := reason if {
	reason := _name_problem(split(authority, ":")[0])
} else := reason if {
	reason := _port_problem(split(authority, ":")[1])
}

_port_problem(port) := "the port is not a number from 1 to 65535" if {
	not regex.match(`^(0*[1-9][0-9]{0,4})?$`, port)
} else := reason if {
	port != ""
	number := to_number(trim_left(port, "0"))
	reason := _number_problem(number)
}

_number_problem(number) := "the port is not a number from 1 to 65535" if {
	number > 65535
} else := sprintf("port %d is that of a service which does not speak HTTP, or is not for everyone; leave the port out", [number]) if {
	number in pack.blocked_ports
}

# ---------------------------------------------------------------------------
# IPv6 addresses, without brackets. net.cidr_is_valid takes exactly what RFC 4291
# allows, and net.cidr_contains treats an IPv4-mapped address (::ffff:127.0.0.1) as the
# IPv4 address that it is. All other ways to put an IPv4 address into an IPv6 one are
# networks in blocked_networks.

_no_address := "what looks like an IPv6 address is none; write it as in [2606:4700::1111], or use the name of the host"

_address_problem(address) := "a zone (%) in an IPv6 address names a network interface; there is none in a public address" if {
	contains(address, "%")
} else := _no_address if {
	not regex.match(`^[0-9A-Fa-f:.]{2,45}$`, address)
} else := _no_address if {
	not net.cidr_is_valid(concat("", [address, "/128"]))
} else := reason if {
	not _is_listed(lower(address), pack.trusted_hosts)
	reason := _network_problem(address)
} else := reason if {
	not _is_listed(lower(address), pack.trusted_hosts)
	reason := _not_allowed(lower(address))
}

_network_problem(address) := reason if {
	inside := {i | some [i, _] in net.cidr_contains_matches(pack.blocked_networks, address)}
	reason := sprintf("the host is an address in %s, which is not a public network; use a public host", [pack.blocked_networks[min(inside)]])
}

# ---------------------------------------------------------------------------
# Names and IPv4 addresses. First what no program should have to interpret.

_name_problem(written) := "there is a % in the host, which some programs decode; write the host itself" if {
	contains(written, "%")
} else := "the host has a character that no host name has" if {
	regex.match(`[^A-Za-z0-9._\x{80}-\x{10FFFF}-]`, written)
} else := "the host has characters that programs turn into other letters, digits or dots, or leave out; write it in plain letters, digits and dots" if {
	regex.match(_rewritten, written)
} else := "the host has more parts than any host name" if {
	strings.count(written, ".") > _max_dots
} else := "the host has an empty part: two dots in a row, or one at its start" if {
	regex.match(`^\.|\.\.`, written)
} else := reason if {
	reason := _host_problem(_plain(written))
}

# No host on the web has that many; each costs time.
_max_dots := 20

# As it is looked up: lower case, without the dot at the end that says "no search
# domain". Older programs write ss for sharp s.
_plain(written) := replace(lower(trim_suffix(written, ".")), "\u00df", "ss")

# A name whose last part is a number is an IPv4 address for every program, and so
# it is one here or refused. Other notations than four plain decimal numbers (127.1, 2130706433,
# 0x7f.1, 0177.0.0.1, 127.0.0.257) are read differently: 010.0.0.1 is 8.0.0.1 for most
# programs and 10.0.0.1 for some. RFC 3986 has none of them, so there is nothing to lose.
_host_problem(name) := reason if {
	not regex.match(_ends_in_number, name)
	reason := _known_name_problem(name)
}

_host_problem(name) := reason if {
	regex.match(_ends_in_number, name)
	not _is_listed(name, pack.trusted_hosts)
	reason := _number_host_problem(name)
}

_number_host_problem(name) := "the host is a number, or ends in one, but is no plain IPv4 address; write four decimal numbers without leading zeros, or the name of the host" if {
	not regex.match(_dotted_quad, name)
} else := reason if {
	reason := _network_problem(name)
} else := _not_allowed(name)

# As in the URL standard of browsers, with digits of every script.
_ends_in_number := `(^|\.)(\p{Nd}+|0x[0-9a-f]*)$`

_dotted_quad := `^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])$`

# A name in lower case that is no number
_known_name_problem(name) := reason if {
	not _is_listed(name, pack.trusted_hosts)
	reason := _untrusted_name_problem(name)
}

_untrusted_name_problem(name) := reason if {
	listed := _listed(name, pack.internal_hosts)
	reason := sprintf("the host is %s, which is in an internal network or describes the machine itself; use a public host", [listed])
} else := reason if {
	listed := _listed(name, pack.address_hosts)
	reason := sprintf("names below %s stand for an address that is part of the name; write the public name of the host", [listed])
} else := "the host is a name without a dot, which only a local network knows; write a full host name, or ./ before a relative path" if {
	not contains(name, ".")
} else := _not_allowed(name)

_not_allowed(host) := "the host is not one of those that are allowed here" if {
	count(pack.allowed_hosts) > 0
	not _is_listed(host, pack.allowed_hosts)
}

# The first entry of the list that is the host, or "*." and a domain above it.
_listed(host, list) := [entry | some entry in _entries_for(host); entry in list][0] if count(list) > 0

_is_listed(host, list) if _listed(host, list)

# a.b.c: a.b.c, *.b.c and *.c
_entries_for(host) := array.concat([host], [entry |
	parts := split(host, ".")
	some i, _ in parts
	i > 0
	entry := concat(".", array.concat(["*"], array.slice(parts, i, count(parts))))
])

# What is not the character that programs look up: Unicode's compatibility mapping
# (NFKC, in the domain names of browsers, Python, Go and curl) turns it into ASCII or
# into nothing, or it has no glyph.
_rewritten := concat("", [
	`[\p{Z}\p{Cc}\p{Co}`,
	`\x{00AA}\x{00AD}\x{00B2}\x{00B3}\x{00B9}\x{00BA}\x{00BC}-\x{00BE}`, # superscripts, fractions, soft hyphen
	`\x{0132}\x{0133}\x{017F}\x{01C4}-\x{01CC}\x{01F1}-\x{01F3}`, # ligatures, long s
	`\x{02B0}-\x{02B8}\x{02E0}-\x{02E4}\x{034F}\x{037E}\x{061C}`, # modifier letters, joiner, marks
	`\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{3164}\x{FFA0}`, # fillers and selectors without a glyph
	`\x{1D2C}-\x{1D6A}\x{1D78}\x{1D9B}-\x{1DBF}`, # phonetic letters
	`\x{1FEF}\x{2000}-\x{200B}\x{200E}-\x{209C}\x{20A8}\x{2100}-\x{2189}`, # punctuation, superscripts, letter-like, number forms
	`\x{2460}-\x{24FF}\x{2A74}-\x{2A76}\x{2C7C}\x{2C7D}`, # enclosed
	`\x{3002}\x{3200}-\x{33FF}\x{A7F1}-\x{A7F4}\x{FB00}-\x{FB06}\x{FB29}`, # ideographic full stop, squared words, ligatures
	`\x{FE00}-\x{FE1F}\x{FE30}-\x{FE6F}\x{FEFF}\x{FF01}-\x{FF61}\x{FFF0}-\x{FFFF}`, # selectors, small and full-width forms
	`\x{10780}-\x{107BF}\x{1CCD6}-\x{1CCF9}\x{1BCA0}-\x{1BCA3}\x{1D173}-\x{1D17A}\x{1D400}-\x{1D7FF}\x{1F100}-\x{1F190}\x{1FBF0}-\x{1FBF9}\x{E0000}-\x{E0FFF}`, # mathematical, enclosed, segmented, tags
	`]`,
	`|(^|[\x00-\x7F])[\x{200C}\x{200D}]|[\x{200C}\x{200D}]([\x00-\x7F]|$)`, # joiners are for scripts that need them
])

# ---------------------------------------------------------------------------
# Members of the data that are missing or have the wrong type

_unsound contains member if {
	some member, form in _forms
	not _is_of_form(object.get(pack, member, null), form)
}

_unsound contains "blocked_networks" if not _is_list_of_networks(object.get(pack, "blocked_networks", null))

_unsound contains "max_urls" if not _is_count(object.get(pack, "max_urls", null))

_unsound contains "scheme_required" if not is_boolean(object.get(pack, "scheme_required", null))

# What the JSON text of a list looks like; an entry that is written otherwise would never
# match. (One expression for a list, since a loop over all entries takes 0.6 ms.)
_forms := {
	"allowed_schemes": _schemes,
	"schemes_without_host": _schemes,
	"schemes_with_user": _schemes,
	"passes": `^\[("([^"\\]|\\.)+",?)*\]$`,
	"allowed_hosts": _hosts,
	"trusted_hosts": _hosts,
	"internal_hosts": _plain_hosts,
	"address_hosts": _plain_hosts,
	"blocked_ports": `^\[([0-9]{1,5},?)*\]$`,
}

_schemes := `^\[("[a-z][a-z0-9+.-]{0,19}",?)*\]$`

# example.com, *.example.com, 192.0.2.1 or 2001:db8::1, in lower case
_hosts := `^\[("(\*\.)?[^A-Z*/@%"\[\]\\ ]*[^A-Z*/@%"\[\]\\ .]",?)*\]$`

# The same in ASCII, since reasons name the entry.
_plain_hosts := `^\[("(\*\.)?[a-z0-9_.:-]*[a-z0-9_:-]",?)*\]$`

_is_of_form(list, form) if {
	is_array(list)
	regex.match(form, json.marshal(list))
}

_is_count(number) if {
	is_number(number)
	number >= 1
}

_is_list_of_networks(list) if {
	is_array(list)
	every entry in list {
		is_string(entry)
		net.cidr_is_valid(entry)
	}
}
