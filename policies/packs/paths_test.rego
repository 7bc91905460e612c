package sallyport.rules.paths_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.paths
import rego.v2

# The only reason that this text is refused for, or "passes".
verdict(text) := reason if {
	some {"path": "/a", "reason": reason} in paths.deny with input as fixtures.selected("paths", {"/a": text})
} else := "passes" if {
	paths.deny == set() with input as fixtures.selected("paths", {"/a": text})
}

refused(text, part) if contains(verdict(text), part)

climbs := "climbs with '..'"

stripped := "becomes '..' for a program that strips"

irregular := "percent encoding of a dot or slash that no standard allows"

home := "starts with a home folder"

variable := "starts with a variable"

network := "network or device path of Windows"

outside := "outside the folders that this tool may use"

test_off_as_delivered if {
	not paths.selection
	data.sallyport.packs.paths.on == false
}

test_attached_when_it_is_on if {
	selection := paths.selection with data.sallyport.packs.paths.on as true
	selection == {"attach": data.sallyport.packs.paths.attach}
}

test_refused[text] if {
	some text, part in {
		"a\u0000b": "has a NUL",
		"a%00b": "has a NUL",
		"%2525252e": "more than three times",
		"%c0%ae/x": irregular,
		"%c0%2e%c0%2e/x": irregular,
		"../x": climbs,
		"x\\..": climbs,
		"%25252e./x": climbs,
		"%%32%65./x": climbs,
		"\uff0e\uff0e\uff0fx": climbs,
		"..%ef%bc%8fx": climbs,
		"..;a/x": climbs,
		"a,../x": climbs,
		"{a,..}/x": climbs,
		"/api/..?x": climbs,
		"%u00252e": irregular,
		"%uff052e%uff052e/x": irregular,
		"%ef%bc%852e./x": irregular,
		"....//x": stripped,
		"..././x": stripped,
		"file:///x": "is a file: URI",
		"JAR:FILE:///x": "is a file: URI",
		"file:": "is a file: URI",
		"~": home,
		"~root/x": home,
		" \"~/x\"": home,
		"$HOME/x": variable,
		"${HOME:-/x}": variable,
		"%25USERPROFILE%25\\x": variable,
		"\\\\host\\share": network,
		"//?/C:/x": network,
		"\\??\\C:\\x": network,
		"a.txt::$DATA": "hidden part of an NTFS file",
		"C:\\a.txt:b": "NTFS stream",
		"C:\\con.txt": "device name of Windows",
		"C:\\a.\\b": "ends with a dot or space",
		"C:\\a ": "ends with a dot or space",
		"/proc/self/environ": "leads to /proc,",
		"//etc/./shadow": "leads to /etc/shadow,",
		"/home/me/.SSH/id_rsa": "leads to .ssh,",
		"/dev/shm/.ssh": "leads to .ssh,",
		"C:\\Windows\\System32\\Config\\SAM": "leads to Windows/System32/config,",
	}
	refused(text, part)
}

test_passes if {
	texts := [
		"", "src/main.go", "/srv/x.txt", "a..b", "...", "foo/..bar", "v1..v2", "[...slug].tsx", "my file.txt",
		"\u65e5\u672c\u8a9e.md", "C:\\Users\\me\\doc.txt", "backup~", "~$minutes.docx", "file: notes.md", "**/*.go", "100%.txt",
		"a%20b.txt", "PANAM%C1.pdf", "12:30.txt", "notes: today.md", "aux.c", "con", "C:x", "PROGRA~1", "//foo/bar:baz",
		"/dev/null", "/dev/shm/x", "/proc/cpuinfo", "dev/null", "/device", "x.ssh", "etc/shadow", "routes/$home.tsx", "name.",
		"pages/x/", "./x", "caf\u00e9 menu.md", "\uff1a\uff0e", "$HOMEPAGE/x", "profile:x",
	]
	asked := {path: text | some i, text in texts; path := sprintf("/%d", [i])}
	denied := paths.deny with input as fixtures.selected("paths", asked)
	{asked[finding.path] | some finding in denied} == set()
}

test_windows_forms_when_the_data_says_windows[text] if {
	some text, part in {
		"C:x": "relative to the folder of a drive",
		"//host/share": "network path of Windows",
		"\\/host": "network path of Windows",
		"PROGRA~1/x": "short name of Windows",
		"GIT~1": "short name of Windows",
		"a.txt:b": "NTFS stream",
		"aux.c": "device name of Windows",
		"a/LPT\u00b9": "device name of Windows",
		"name.": "ends with a dot or space",
		"a /b": "ends with a dot or space",
	}
	refused(text, part) with data.sallyport.packs.paths.windows as true
}

test_ordinary_windows_paths_pass[text] if {
	some text in ["src\\main.cs", "C:\\site\\a..b.txt", "console/aux1", "com10", "backup~", "a.b", "...", "C:/"]
	verdict(text) == "passes" with data.sallyport.packs.paths.windows as true
}

test_absolute_paths_are_within_the_roots[text] if {
	some text in [
		"/site", "/site/", "/site/a b", "/site//a", "//site/./a", "/srv/data/x", "a/b", "./x", "site",
		"C:\\Site\\a.txt", "c:/site", "\"/site/x\"", "/site/a%20b",
	]
	verdict(text) == "passes" with data.sallyport.packs.paths.roots as ["/site", "/srv/data/", "C:\\site"]
}

test_other_absolute_paths_are_outside[text] if {
	some text in [
		"/", "/etc/hosts", "/site-old/x", "/Site/x", "/sitex", "/srv", "/site\\x", "/site%2fx", "%2fetc%2fhosts", "\\site\\x",
		"C:\\sites\\x", "C:\\", "D:\\site\\x", "\uff0fetc/hosts", "%ef%bc%8fetc/hosts", " /etc/hosts",
	]
	refused(text, outside) with data.sallyport.packs.paths.roots as ["/site", "/srv/data/", "C:\\site"]
}

test_root_of_everything if {
	verdict("/x/y") == "passes" with data.sallyport.packs.paths.roots as ["/"]
	refused("C:\\x", outside) with data.sallyport.packs.paths.roots as ["/"]
}

test_places_are_data if {
	refused("app/.env", "leads to .env,") with data.sallyport.packs.paths.more_sensitive as [".env"]
	verdict("app/.envrc") == "passes" with data.sallyport.packs.paths.more_sensitive as [".env"]
	verdict("/etc/shadow") == "passes" with data.sallyport.packs.paths.sensitive as []
	verdict(".ssh/Config") == "passes" with data.sallyport.packs.paths.not_sensitive as [".ssh/config"]
	refused(".ssh/id_rsa", "leads to .ssh,") with data.sallyport.packs.paths.not_sensitive as [".ssh/config"]
}

test_first_of_several_places if {
	refused("/proc/1/root/home/me/.ssh", "leads to .ssh,")
}

test_schemes_and_variables_are_data if {
	refused("php://filter/x", "is a php: URI") with data.sallyport.packs.paths.uri_schemes as ["file", "php"]
	refused("git+ssh:x", "is a git+ssh: URI") with data.sallyport.packs.paths.uri_schemes as ["git+ssh"]
	refused("%TEMP%\\x", variable) with data.sallyport.packs.paths.variables as ["TEMP"]
	verdict("$HOME/x") == "passes" with data.sallyport.packs.paths.variables as ["TEMP"]
	verdict("$/x") == "passes" with data.sallyport.packs.paths.variables as []
}

test_one_finding_for_each_string if {
	found := paths.deny with input as fixtures.selected("paths", {"/a": "../x", "/b": "x", "/c": "/proc/..", "/d": "/proc/1"})
	[finding.path | some finding in found] == ["/a", "/c", "/d"]
}

# What is plain passes without a look at its spelling, so none of these may be.
test_plain_is_nothing_that_is_spelled[text] if {
	some text in [
		"..", "a/..", "../a", "/..", "a/../b", "...", "....//", "~", "~a", "$HOME", "%41", "a%41", "a:b", "a\\b", "//a", "a//b", "a ", "a b",
		".", "./a", "a\u0000", "a\n", "a\u2024", "\u2025", "a\uff0fb", "a\uff0e", "a\u200bb", "a\u00ad", "a\u00a5", "a\u20a9", "\ufeffa", "a\u2215b",
		"a\ufe52", "a\u2060b", "a\u206a", "a\u29f8", "a\uff05",
	]
	not regex.match(paths._plainly, text)
}

test_no_lookalike_is_plain if {
	every lookalike, _ in paths._lookalikes {
		not regex.match(paths._plainly, concat("", ["a", lookalike]))
	}
}

test_more_paths_than_are_looked_at if {
	call := fixtures.with_members({"/facts/selected": {"paths": {"strings": [{"path": "/a", "in": "value", "text": "x"}], "total": 2}}})
	paths.deny == {{"path": "", "reason": "there are more paths than are looked at; send fewer in one call"}} with input as call
}

test_silent_without_paths if {
	paths.deny == set() with input as fixtures.clean
	paths.deny == set() with input as fixtures.clean with data.sallyport.packs.paths as {}
}

cannot_judge(member) := {{"path": "", "reason": reason}} if {
	reason := sprintf("the pack paths cannot judge: packs/paths/%s is missing or has the wrong type", [member])
}

test_refuses_what_it_cannot_judge[name] if {
	some name, case in {
		"roots are relative": {"/roots": ["work"]},
		"roots are text": {"/roots": "/site"},
		"sensitive is a number": {"/sensitive": [1]},
		"sensitive ends with a slash": {"/sensitive": ["/etc/private/"]},
		"sensitive is in the home folder": {"/sensitive": ["~/.ssh"]},
		"sensitive is a pattern": {"/sensitive": ["/etc/*_key"]},
		"more_sensitive is null": {"/more_sensitive": null},
		"not_sensitive is an object": {"/not_sensitive": {}},
		"uri_schemes with a colon": {"/uri_schemes": ["file:"]},
		"variables with a sign": {"/variables": ["$HOME"]},
		"windows is text": {"/windows": "yes"},
	}
	some pointer, value in case
	pack := json.patch(data.sallyport.packs.paths, [{"op": "replace", "path": pointer, "value": value}])
	found := paths.deny with input as fixtures.selected("paths", {"/a": "x"}) with data.sallyport.packs.paths as pack
	found == cannot_judge(trim_prefix(pointer, "/"))
}

test_refuses_without_a_member[member] if {
	some member in ["roots", "windows", "uri_schemes", "variables", "sensitive", "more_sensitive", "not_sensitive"]
	pack := object.remove(data.sallyport.packs.paths, [member])
	found := paths.deny with input as fixtures.selected("paths", {"/a": "../x"}) with data.sallyport.packs.paths as pack
	found == cannot_judge(member)
}

test_roots_with_escapes_are_sound if {
	verdict("C:\\R&D \"x\"\\a") == "passes" with data.sallyport.packs.paths.roots as ["C:\\R&D \"x\"", "/srv/R&D"]
}
