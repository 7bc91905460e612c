package sallyport.rules.ssrf_test

import rego.v2

import data.sallyport.fixtures_test
import data.sallyport.rules.ssrf

# The reasons for one text, as delivered.
_reasons(text) := _reasons_with({}, text)

# And with members of the data replaced.
_reasons_with(members, text) := _reasons_by(object.union(data.sallyport.packs.ssrf, members), text)

_reasons_by(pack, text) := {finding.reason | some finding in found} if {
	found := ssrf.deny with input as fixtures_test.selected("ssrf", {"/url": text}) with data.sallyport.packs.ssrf as pack
}

# There is one reason, and it has this part.
_is_refused(text, part) if {
	reasons := _reasons(text)
	count(reasons) == 1
	some reason in reasons
	contains(reason, part)
}

_is_refused_with(members, text, part) if {
	reasons := _reasons_with(members, text)
	count(reasons) == 1
	some reason in reasons
	contains(reason, part)
}

_passes(text) if _reasons(text) == set()

_passes_with(members, text) if _reasons_with(members, text) == set()

test_is_off_as_delivered if not ssrf.selection

test_looks_where_it_is_attached if {
	ssrf.selection == {"attach": {"*": ["/x"]}} with data.sallyport.packs.ssrf as {"on": true, "attach": {"*": ["/x"]}}
}

test_one_finding_at_the_place_of_each_text if {
	found := ssrf.deny with input as fixtures_test.selected("ssrf", {"/a": "http://localhost/", "/b": "https://example.com/", "/c": "file:///etc/passwd"})
	found == {
		{"path": "/a", "reason": "the host is localhost, which is in an internal network or describes the machine itself; use a public host"},
		{"path": "/c", "reason": "this scheme is not allowed, only http, https"},
	}
}

test_silent_without_strings if {
	count(ssrf.deny) == 0 with input as fixtures_test.clean
}

test_texts_that_nobody_looked_at_are_refused if {
	found := ssrf.deny with input as fixtures_test.with_members({"/facts/selected": {"ssrf": {
		"strings": [{"path": "/url", "in": "value", "text": "https://example.com/"}],
		"total": 2,
	}}})
	found == {{"path": "", "reason": "there are more than 1 URLs in this call; send fewer at a time"}}
}

test_more_texts_than_are_judged_are_refused if {
	texts := {sprintf("/urls/%d", [n]): "http://localhost/" | some n in numbers.range(1, 3)}
	found := ssrf.deny with input as fixtures_test.selected("ssrf", texts) with data.sallyport.packs.ssrf.max_urls as 2
	found == {{"path": "", "reason": "there are more than 2 URLs in this call; send fewer at a time"}}
	judged := ssrf.deny with input as fixtures_test.selected("ssrf", texts) with data.sallyport.packs.ssrf.max_urls as 3
	{finding.path | some finding in judged} == object.keys(texts)
}

# Each notation that a client takes for 127.0.0.1 or another address inside.

test_ipv4_in_plain_notation[text] if {
	some text, network in {
		"http://127.0.0.1/": "127.0.0.0/8",
		"http://127.255.255.255": "127.0.0.0/8",
		"http://0.0.0.0:8000/": "0.0.0.0/8",
		"http://10.0.0.1?x": "10.0.0.0/8",
		"http://172.16.0.1#x": "172.16.0.0/12",
		"http://192.168.1.1.": "192.168.0.0/16",
		"https://169.254.169.254/latest/meta-data/": "169.254.0.0/16",
		"https://100.64.0.1/": "100.64.0.0/10",
		"https://192.0.0.192/": "192.0.0.0/24",
		"https://198.19.0.1/": "198.18.0.0/15",
		"https://224.0.0.1/": "224.0.0.0/4",
		"https://255.255.255.255/": "240.0.0.0/4",
		"127.0.0.1": "127.0.0.0/8",
		"127.0.0.1:8080/x": "127.0.0.0/8",
	}
	_is_refused(text, sprintf("the host is an address in %s, which", [network]))
}

test_ipv4_in_another_notation[host] if {
	some host in [
		"127.1", "127.0.1", "0", "2130706433", "017700000001", "0177.0.0.1", "0x7f000001", "0X7F.1", "0x7f.0.01.1",
		"4294967297", "127.0.0.257", "256.0.0.1", "127.000.000.001", "010.0.0.1", "127.0.0.08", "127.0.0.1.1", "127.0.0.0x",
		"2130706433.", "www.127", "\u0661\u0662\u0667.\u0660.\u0660.\u0661", "134744072",
	]
	every text in [sprintf("http://%s/", [host]), host] {
		_is_refused(text, "is no plain IPv4 address")
	}
}

test_public_ipv4[text] if {
	some text in [
		"http://8.8.8.8/", "http://1.1.1.1:8080", "http://9.255.255.255/", "http://11.0.0.0/", "http://126.0.0.1/",
		"http://128.0.0.1/", "http://172.15.255.255/", "http://172.32.0.0/", "http://192.167.255.255/", "http://223.255.255.255/",
		"8.8.8.8:443/x",
	]
	_passes(text)
}

test_ipv6[host] if {
	some host, network in {
		"::1": "::/96",
		"::": "::/96",
		"0:0:0:0:0:0:0:1": "::/96",
		"::127.0.0.1": "::/96",
		"::ffff:127.0.0.1": "127.0.0.0/8",
		"::FFFF:7F00:1": "127.0.0.0/8",
		"0:0:0:0:0:ffff:a9fe:a9fe": "169.254.0.0/16",
		"::ffff:0:127.0.0.1": "::ffff:0:0:0/96",
		"64:ff9b::7f00:1": "64:ff9b::/96",
		"64:ff9b:1::1": "64:ff9b:1::/48",
		"2002:7f00:1::": "2002::/16",
		"2001:0:1::1": "2001::/23",
		"fc00::1": "fc00::/7",
		"fd00:ec2::254": "fc00::/7",
		"fe80::1": "fe80::/10",
		"fec0::1": "fec0::/10",
		"ff02::1": "ff00::/8",
		"2001:db8::1": "2001:db8::/32",
	}
	every text in [sprintf("http://[%s]/", [host]), sprintf("[%s]:8080", [host]), host] {
		_is_refused(text, sprintf("the host is an address in %s, which", [network]))
	}
}

test_public_ipv6[text] if {
	some text in [
		"https://[2606:4700:4700::1111]/", "https://[2A00:1450:4001:82B::200E]:8443/x", "http://[::ffff:8.8.8.8]/", "http://[2001:200::1]",
		"[2606:4700::1111]", "2606:4700::1111",
	]
	_passes(text)
}

test_ipv6_that_is_none[text] if {
	some text in [
		"http://[::1", "http://[]/", "http://[:]/", "http://[1::2::3]/", "http://[::ffff:127.1]/", "http://[127.0.0.1]/", "http://[localhost]/",
		"http://[v1.a]/", "http://[::1]x/", "http://[12345::]/", "1:2:3", "[text](http://127.0.0.1/)",
	]
	_is_refused(text, "what looks like an IPv6 address is none")
}

test_zones[text] if {
	some text in ["http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[2606:4700::1111%25lo]/", "fe80::1%eth0"]
	_is_refused(text, "a zone (%)")
}

# Names

test_internal_names[text] if {
	some text, listed in {
		"http://localhost/": "localhost",
		"http://LocalHost.": "localhost",
		"http://a.b.localhost:3000/": "*.localhost",
		"http://printer.local/": "*.local",
		"http://metadata.google.internal/": "metadata.google.internal",
		"http://x.internal/": "*.internal",
		"http://vault.secrets.svc.cluster.local/": "*.local",
		"http://payments.default.svc/": "*.svc",
		"localhost": "localhost",
		"localhost:8080/x": "localhost",
		"metadata/computeMetadata": "metadata",
	}
	_is_refused(text, sprintf("the host is %s, which", [listed]))
}

test_names_that_carry_an_address[text] if {
	some text, listed in {
		"http://127.0.0.1.nip.io/": "*.nip.io",
		"http://app-10-0-0-1.sslip.io/": "*.sslip.io",
		"http://LVH.me": "lvh.me",
	}
	_is_refused(text, sprintf("names below %s stand for", [listed]))
}

test_names_without_a_dot[text] if {
	some text in ["http://intranet/", "http://intranet.:8080/", "intranet", "docs/a", "vault:8200/v1", "\u0645\u062b\u0627\u0644/"]
	_is_refused(text, "a name without a dot")
}

test_public_names_pass[text] if {
	some text in [
		"https://example.com", "HTTPS://EXAMPLE.COM./", "https://127-0-0-1.example.com/", "https://1.1.1.1.example.org/",
		"https://localhost.example.com/", "https://nip.io.example.com/", "https://my_bucket.example.com/", "https://xn--bcher-kva.example.com/",
		"https://b\u00fccher.de/", "https://stra\u00dfe.de/", "https://\u4f8b\u3048.\u30c6\u30b9\u30c8/", "https://\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com/",
		"example.com", "example.com/x", "example.com:8080/x", "page.html", "https://example.com?mail=a@b.org&x=1", "https://example.com?mail=a@b.org",
	]
	_passes(text)
}

test_characters_that_programs_rewrite[host] if {
	some host in [
		"\uff11\uff12\uff17.0.0.1", "\u2460\u2461\u2466.0.0.1", "127\u30020\u30020\u30021", "127\uff0e0\uff0e0\uff0e1", "127\uff610\uff610\uff611",
		"local\u00adhost", "local\u200bhost", "local\u200dhost", "localhost\u200c", "localho\u017ft", "\u212a8s.example.com", "example.com\u2100.org",
		"127.0.0.1\u3000", "\ufeffexample.com", "exam\ufe0fple.com",
	]
	_is_refused(sprintf("http://%s/", [host]), "characters that programs turn into other")
}

test_sharp_s_is_ss_for_older_programs if {
	hosts := {"internal_hosts": ["access.example.com"]}
	_is_refused_with(hosts, "https://acce\u00df.example.com/", "the host is access.example.com")
	_is_refused_with(hosts, "https://ACCE\u1e9e.example.com/", "the host is access.example.com")
}

test_percent_in_the_host[text] if {
	some text in ["http://%31%32%37.0.0.1/", "http://loc%61lhost", "127%2e1:80/x"]
	_is_refused(text, "there is a % in the host")
}

test_characters_that_no_host_has[text] if {
	some text in ["http://a.b,127.0.0.1/", "http://{host}/", "http://*.example.com/", "<http://127.0.0.1/>", "\"http://127.0.0.1/\"", "http://a.b;c/"]
	_is_refused(text, "a character that no host name has")
}

test_empty_parts_of_a_name[text] if {
	some text in ["http://.localhost/", "http://localhost../", "http://a..b/", "http://./", ".example.com/"]
	_is_refused(text, "an empty part")
}

# How a URL is written

test_schemes[text] if {
	some text in [
		"gopher://127.0.0.1:6379/_x", "file:///etc/passwd", "jar:http://127.0.0.1!/", "dict://a.b/", "LDAP://a.b/", "ftp://a.b/", "data:text/html,x",
		"javascript:alert(1)", "url:http://127.0.0.1/", "mailto:x@127.0.0.1", "C:\\x", "about:config",
	]
	_is_refused(text, "this scheme is not allowed, only http, https")
}

test_ssh_is_named[text] if {
	some text, part in {
		"ssh://git@example.com/org/repo.git": "ssh addresses are not allowed here, only http, https",
		"git+ssh://example.com/x": "ssh addresses are not allowed here",
		"git@github.com:org/repo.git": "user@host:path is an ssh address, and only http, https are allowed",
	}
	_is_refused(text, part)
}

test_white_space_and_controls[text] if {
	some text in ["ht\ttp://a.b/", "http://127.0.\n0.1/", " https://example.com/", "https://example.com/\r\n", "https://a.b/ http://c.d/", "http://a.b/\u0000", "/a b", "\u007f"]
	_is_refused(text, "no white space and no control characters")
}

test_exactly_two_slashes[text] if {
	some text in ["http:127.0.0.1/", "http:/127.0.0.1/", "http:///127.0.0.1/", "https:localhost:80", "http:\\\\a.b/", "http:/\\a.b/", "http://\\a.b/", "http:80/x", "https:"]
	_is_refused(text, "two slashes and a host")
}

test_no_host[text] if {
	some text in ["http://", "https://?x", "https://#x", "http://:80/", "https://:", ":8080/x", "://a.b/"]
	_is_refused(text, "there is no host")
}

test_no_scheme_but_slashes[text] if {
	some text in ["//127.0.0.1/", "//example.com/x", "\\\\10.0.0.1\\x", "/\\a.b/", "///a.b/"]
	_is_refused(text, "begins with two slashes or a backslash")
}

test_users_in_a_url[text] if {
	some text in ["http://example.com@127.0.0.1/", "https://user:secret@example.com/", "http://a@b@c.d/", "http://@a.b/", "someone@example.com", "@a.b"]
	_is_refused(text, "there is an @ before the path")
}

test_backslashes_before_the_path[text] if {
	some text in ["http://example.com\\@127.0.0.1/", "http://127.0.0.1\\x/", "http://a.b\\.c.d", "a.b\\@c.d"]
	_is_refused(text, "there is a backslash before or in the host")
}

test_second_reading[text] if {
	some text in [
		"http://example.com#@127.0.0.1/", "http://example.com?@example.org/", "http://example.com?x@127.0.0.1/", "http://example.com#x@[::1]:80?y",
		"http://example.com?a@b.c@localhost", "example.com?x@10.0.0.1/", "http://example.com?x@@@@@@@@@a.b/",
	]
	_is_refused(text, "directly after the host come ? or #")
}

test_ports[text] if {
	some text, part in {
		"http://a.b:65536/": "the port is not a number",
		"http://a.b:4294967376/": "the port is not a number",
		"http://a.b:0/": "the port is not a number",
		"http://a.b:-1/": "the port is not a number",
		"http://a.b:x/": "the port is not a number",
		"http://a.b:\uff18/": "the port is not a number",
		"http://[2606:4700::1111]:x/": "the port is not a number",
		"http://[2606:4700::1111]:80:22/": "the port is not a number",
		"http://a.b:80:22/": "more than one colon",
		"http://2606:4700::1111/": "more than one colon",
		"http://a.b:22/": "port 22 is that of a service",
		"http://a.b:00025": "port 25 is that of a service",
		"https://[2606:4700::1111]:6379/": "port 6379 is that of a service",
		"a.b:11211": "port 11211 is that of a service",
	}
	_is_refused(text, part)
}

test_other_ports_pass[text] if {
	some text in ["http://a.b:80/", "http://a.b:8443", "http://a.b:/", "http://a.b:08080/", "http://a.b:65535/", "https://[2606:4700::1111]:/"]
	_passes(text)
}

test_longer_than_a_host[text] if {
	some text in [sprintf("http://%s/", [concat("", [x | some _ in numbers.range(1, 301); x := "a"])]), concat(".", [sprintf("%d", [n]) | some n in numbers.range(100, 200)])]
	_is_refused(text, "longer than any host name")
}

test_more_parts_than_a_host if {
	_is_refused(sprintf("http://%s.com/", [concat(".", [x | some _ in numbers.range(1, 21); x := "a"])]), "more parts than any host name")
	_passes(sprintf("http://%s.com/", [concat(".", [x | some _ in numbers.range(1, 20); x := "a"])]))
}

# What does not choose a host

test_what_follows_the_host_may_be_anything[text] if {
	some text in [
		"https://medium.com/@user", "https://a.b/x:y@z", "https://a.b/%00%2f", "https://a.b/x\\y", "https://a.b/?url=http://127.0.0.1/", "https://a.b/#@127.0.0.1",
		"https://a.b/http://127.0.0.1/", "https://a.b/\u3000\uff11",
	]
	_passes(text)
}

test_relative_references_pass[text] if {
	some text in ["", "/", "/docs/a", "/127.0.0.1/", "./page.html", "../x", ".", "..", "?q=1", "#x", "/@user"]
	_passes(text)
}

test_texts_that_pass_whole if {
	_passes("about:blank")
	_is_refused_with({"passes": []}, "about:blank", "this scheme is not allowed")
}

# Data

test_schemes_can_be_allowed if {
	allowed := {"allowed_schemes": ["https", "ssh", "ftp"]}
	_passes_with(allowed, "ftp://example.com/x")
	_passes_with(allowed, "ssh://git@example.com/x")
	_passes_with(allowed, "ssh://example.com/x")
	_passes_with(allowed, "git@example.com:org/repo.git")
	_is_refused_with(allowed, "http://example.com/", "this scheme is not allowed, only https, ssh, ftp")
	_is_refused_with(allowed, "git@10.0.0.1:org/repo.git", "10.0.0.0/8")
	_is_refused_with(allowed, "ssh://git@127.0.0.1/x", "127.0.0.0/8")
	_is_refused_with(allowed, "ssh://git:secret@example.com/x", "there is an @ before the path")
	_is_refused_with(allowed, "ftp://x@example.com/x", "there is an @ before the path")
}

test_reasons_name_six_schemes_at_most if {
	reasons := _reasons_with({"allowed_schemes": ["a", "b", "c", "d", "e", "f", "g"]}, "http://a.b/")
	reasons == {"this scheme is not allowed, only a, b, c, d, e, f"}
}

test_schemes_without_a_host if {
	without := {"schemes_without_host": ["mailto", "file"]}
	_passes_with(without, "mailto:someone@example.com?subject=x")
	_passes_with(without, "mailto:1")
	_passes_with(without, "file:///x")
	_is_refused_with(without, "mailto://127.0.0.1/", "127.0.0.0/8")
	_is_refused_with(without, "file://\\10.0.0.1/", "a backslash")
	_is_refused_with(without, "tel:1-2", "this scheme is not allowed")
}

test_a_scheme_can_be_required if {
	required := {"scheme_required": true}
	every text in ["example.com", "example.com:80/x", "/docs/a", "", "page.html", "2606:4700::1111"] {
		_is_refused_with(required, text, "write the URL with its scheme")
	}
	_passes_with(required, "https://example.com/")
	_passes_with(required, "about:blank")
	_is_refused_with(required, "git@github.com:org/repo.git", "user@host:path is an ssh address")
}

test_only_allowed_hosts if {
	hosts := {"allowed_hosts": ["example.com", "*.example.org", "8.8.8.8", "2606:4700::1111"]}
	every text in ["https://example.com/", "https://EXAMPLE.com.:8443", "https://a.b.example.org/", "https://8.8.8.8/", "https://[2606:4700::1111]/", "/docs/a"] {
		_passes_with(hosts, text)
	}
	every text in ["https://www.example.com/", "https://example.org/", "https://notexample.org", "https://8.8.4.4/", "https://[2606:4700::1112]/", "page.html"] {
		_is_refused_with(hosts, text, "not one of those that are allowed here")
	}
	_is_refused_with(hosts, "https://127.0.0.1/", "127.0.0.0/8")
	_is_refused_with(hosts, "https://example.com?x@other.example/", "directly after the host")
}

test_trusted_hosts if {
	hosts := {"trusted_hosts": ["localhost", "127.0.0.1", "*.corp", "::1"], "allowed_hosts": ["example.com"]}
	every text in ["http://localhost:3000/", "localhost:3000", "http://127.0.0.1:8080/", "http://wiki.corp/", "http://[::1]:8080/", "https://example.com/"] {
		_passes_with(hosts, text)
	}
	every text in ["http://127.0.0.2/", "http://a.localhost/", "http://[::2]/", "http://corp/", "http://localhost:6379/", "ftp://localhost/", "http://a@localhost/"] {
		count(_reasons_with(hosts, text)) == 1
	}
}

test_data_that_is_not_sound[name] if {
	some name, members in {
		"allowed_schemes": {"allowed_schemes": "http"},
		"allowed_schemes, in capitals": {"allowed_schemes": ["HTTP"]},
		"schemes_without_host": {"schemes_without_host": [1]},
		"schemes_with_user": {"schemes_with_user": null},
		"passes": {"passes": [null]},
		"allowed_hosts": {"allowed_hosts": ["https://example.com"]},
		"allowed_hosts, in capitals": {"allowed_hosts": ["Example.com"]},
		"trusted_hosts": {"trusted_hosts": {"localhost": true}},
		"internal_hosts": {"internal_hosts": ["localhost."]},
		"internal_hosts, not plain": {"internal_hosts": ["b\u00fccher.de"]},
		"address_hosts": {"address_hosts": ["*.*.nip.io"]},
		"blocked_networks": {"blocked_networks": ["10.0.0.0"]},
		"blocked_networks, no texts": {"blocked_networks": [10]},
		"blocked_networks, no list": {"blocked_networks": false},
		"blocked_ports": {"blocked_ports": ["22"]},
		"blocked_ports, no list": {"blocked_ports": 22},
		"max_urls": {"max_urls": "250"},
		"max_urls, too small": {"max_urls": 0},
		"scheme_required": {"scheme_required": "yes"},
	}
	_reasons_with(members, "https://example.com/") == {sprintf("the pack ssrf cannot judge: packs/ssrf/%s is missing or has the wrong type", [split(name, ",")[0]])}
}

test_data_that_is_missing[member] if {
	some member in [
		"allowed_schemes", "schemes_without_host", "schemes_with_user", "passes", "allowed_hosts", "trusted_hosts", "internal_hosts", "address_hosts",
		"blocked_networks", "blocked_ports", "max_urls", "scheme_required",
	]
	reasons := _reasons_by(object.remove(data.sallyport.packs.ssrf, [member]), "https://example.com/")
	reasons == {sprintf("the pack ssrf cannot judge: packs/ssrf/%s is missing or has the wrong type", [member])}
}

test_data_is_not_looked_at_without_strings if {
	count(ssrf.deny) == 0 with input as fixtures_test.clean with data.sallyport.packs.ssrf as {"on": true}
}

# Every reason can be shown to anyone, whatever was sent.
test_reasons_are_plain_and_short if {
	every text in ["http://\u00fc@/", "http://127.0.0.1/", "http://\uff11/", "http://a.b:22", "gopher:x", "git@a.b:c"] {
		some reason in _reasons(text)
		regex.match(`^[ -~]{1,256}$`, reason)
	}
}

test_longest_reasons_fit if {
	scheme := concat("", [x | some _ in numbers.range(1, 20); x := "a"])
	host := concat("", ["*.", concat("", [x | some _ in numbers.range(1, 98); x := "b"]), ".c"])
	members := {"allowed_schemes": [scheme, scheme, scheme, scheme, scheme, scheme, "http"], "internal_hosts": [host]}
	every text in ["git@a.b:c", "ssh:x", sprintf("http://%s/", [replace(host, "*", "x")])] {
		some reason in _reasons_with(members, text)
		count(reason) <= 256
		count(reason) > 170
	}
}
