# METADATA
# scope: package
# title: File path that leads elsewhere
# description: >-
#   A string that stands for a file path climbs out with "..", in whatever spelling,
#   leaves the folders of data.sallyport.packs.paths.roots, leads to a home folder, to
#   another machine, a device or a place that holds secrets, or is a URI. Off until
#   data.sallyport.packs.paths.on is true. The reason names what was found, never the path.
# custom:
#   severity: high
#   halts: false
#   code: -32602
package sallyport.rules.paths

import rego.v2

selection := {"attach": data.sallyport.packs.paths.attach} if data.sallyport.packs.paths.on == true

# Plain paths hold nothing that could be spelled wrongly, so only the place counts.
deny contains {"path": found.path, "reason": reason} if {
	_sound
	_place_counts
	some found in _plain
	reason := _placed(_plain_views(found.text))
}

deny contains {"path": found.path, "reason": reason} if {
	_sound
	some found in _others
	reason := _reason(found.views)
}

# More strings than were handed over: nobody looked at the rest.
deny contains {"path": "", "reason": "there are more paths than are looked at; send fewer in one call"} if {
	input.facts.selected.paths.total > count(input.facts.selected.paths.strings)
}

# With a member that is missing or misspelt, conditions on it never hold: say so instead.
deny contains {"path": "", "reason": reason} if {
	input.facts.selected.paths.total > 0
	member := min(_unsound)
	reason := sprintf("the pack paths cannot judge: packs/paths/%s is missing or has the wrong type", [member])
}

# ---------------------------------------------------------------- one path

# What is wrong with one path. The order is from what makes later answers pointless (a
# NUL, spellings without end) to what depends on data.
_reason(views) := reason if {
	_has_one_of(views.low, _marks)
	reason := _spelled(views)
} else := reason if {
	reason := _placed(views)
}

# Without one of these nothing that _spelled looks for is there.
_marks := ["..", "\\", ":", "%", "~", "$", "//", "\u0000"]

_has_one_of(text, parts) if {
	some part in parts
	contains(text, part)
}

_spelled(views) := "the path has a NUL; send it without" if {
	contains(views.low, "\u0000")
} else := "the path is percent-encoded more than three times; send it as it is" if {
	views.endless
} else := "the path has a percent encoding of a dot or slash that no standard allows; send it as it is" if {
	_has_one_of(views.low, _irregular_starts)
	regex.match(_irregular, views.low)
} else := "the path climbs with '..' (decoded, and with lookalike characters replaced); name the file without '..'" if {
	contains(views.low, "..")
	regex.match(_traversal, views.low)
} else := "the path becomes '..' for a program that strips '../' or './' once; name the file without dots between slashes" if {
	contains(views.low, "...")
	regex.match(_nested, views.low)
} else := sprintf("the path is a %s: URI; send a plain path", [scheme]) if {
	contains(views.bare, ":")
	scheme := _scheme(views.bare)
} else := "the path starts with a home folder (~ or ~user); send the path that it stands for" if {
	regex.match(_home, views.bare)
} else := "the path starts with a variable for a folder of the user or the system; send the path that it stands for" if {
	count(data.sallyport.packs.paths.variables) > 0
	regex.match(_variable, views.bare)
} else := "the path is a network or device path of Windows; send a path on a local drive" if {
	regex.match(_network, views.bare)
} else := "the path names a hidden part of an NTFS file; send the name of the file alone" if {
	contains(views.bare, ":$")
	regex.match(_ntfs, views.bare)
}

_placed(views) := reason if {
	reason := _windows(views)
} else := sprintf("the path leads to %s, which holds secrets or the system itself; use another file", [place]) if {
	place := _sensitive(views.slashed)
} else := "the path is outside the folders that this tool may use; send a relative path or one within them" if {
	_outside(views)
}

_place_counts if count(_near) > 0

_place_counts if count(data.sallyport.packs.paths.roots) > 0

_place_counts if data.sallyport.packs.paths.windows == true

# ---------------------------------------------------------------- views

# Most paths are plain: segments of ASCII letters, digits and "_.-", and of the characters
# of most scripts, with another one than a dot at their start or behind a first dot. One
# match tells so, and saves twenty. None of _lookalikes is among these characters.
_plain := [found |
	some found in input.facts.selected.paths.strings
	regex.match(_plainly, found.text)
]

_others := [{"path": found.path, "views": views} |
	some found in input.facts.selected.paths.strings
	not regex.match(_plainly, found.text)
	views := _views(found.text)
]

_plainly := sprintf(`^/?%[1]s(?:/%[1]s)*$`, [_segment])

_segment := `\.?[a-zA-Z0-9_\x{c0}-\x{1fff}\x{3040}-\x{d7ff}-][a-zA-Z0-9_.\x{c0}-\x{1fff}\x{3040}-\x{d7ff}-]*`

# A path as programs may understand it: decoded, with lookalikes replaced, in lower case
# (low), without what programs trim from its ends (bare), with one slash between segments
# and behind the last one (slashed). text and decoded keep the case.
_views(text) := {
	"text": text,
	"decoded": decoded,
	"endless": endless,
	"low": low,
	"bare": bare,
	"slashed": _slashed(bare),
} if {
	[decoded, endless] := _decoded(_folded(text))
	low := _unescaped(lower(decoded))
	bare := trim(low, _trimmed)
}

_plain_views(text) := {"text": text, "decoded": text, "low": low, "bare": low, "slashed": concat("", [low, "/"])} if {
	low := lower(text)
}

# Programs that expect a path from a model trim white space and quotes around it.
_trimmed := " \t\r\n\"'`"

# Three rounds of percent-decoding undo %2e, %252e, %25252e and %%32%65 alike. What a
# fourth round would still change is refused, so that nothing is behind it.
_decoded(text) := [third, regex.match(_encoded, third)] if {
	contains(text, "%")
	third := _once(_once(_once(text)))
} else := [text, false]

_once(text) := strings.replace_n(_ascii, text) if {
	regex.match(_encoded, text)
} else := text

_encoded := `%[0-7][0-9a-fA-F]`

# Encoded forms of the ASCII characters, in both cases of the hexadecimal digits. Bytes from
# 0x80 on stay encoded: parts of them are not characters.
_ascii[code] := sprintf("%c", [code_point]) if {
	some code_point in numbers.range(0, 127)
	some format in ["%%%02x", "%%%02X"]
	code := sprintf(format, [code_point])
}

_folded(text) := strings.replace_n(_lookalikes, text) if {
	regex.match(`[^\x00-\x7f]`, text)
} else := text

# What compatibility normalisation (NFKC) and the best-fit tables of Windows turn into a
# dot, slash, backslash or percent sign, and invisible characters that HFS+ leaves out.
_lookalikes := {
	"\u2024": ".",
	"\u2025": "..",
	"\uff0e": ".",
	"\ufe52": ".",
	"\u2044": "/",
	"\u2215": "/",
	"\u29f8": "/",
	"\uff0f": "/",
	"\u2216": "\\",
	"\u29f5": "\\",
	"\ufe68": "\\",
	"\uff3c": "\\",
	"\uff05": "%",
	"\u00ad": "",
	"\u200b": "",
	"\u200c": "",
	"\u200d": "",
	"\u200e": "",
	"\u200f": "",
	"\u202a": "",
	"\u202b": "",
	"\u202c": "",
	"\u202d": "",
	"\u202e": "",
	"\u2060": "",
	"\u2066": "",
	"\u2067": "",
	"\u2068": "",
	"\u2069": "",
	"\u206a": "",
	"\u206b": "",
	"\u206c": "",
	"\u206d": "",
	"\u206e": "",
	"\u206f": "",
	"\ufeff": "",
}

# The same lookalikes in percent-encoded UTF-8, and the %u form of IIS, in lower case.
_unescaped(low) := strings.replace_n(_escapes, low) if {
	contains(low, "%")
} else := low

_escapes := {
	"%e2%80%a4": ".",
	"%e2%80%a5": "..",
	"%ef%bc%8e": ".",
	"%ef%b9%92": ".",
	"%e2%81%84": "/",
	"%e2%88%95": "/",
	"%e2%a7%b8": "/",
	"%ef%bc%8f": "/",
	"%e2%88%96": "\\",
	"%e2%a7%b5": "\\",
	"%ef%b9%a8": "\\",
	"%ef%bc%bc": "\\",
	"%u0000": "\u0000",
	"%u002e": ".",
	"%u002f": "/",
	"%u005c": "\\",
	"%u2024": ".",
	"%u2025": "..",
	"%u2044": "/",
	"%u2215": "/",
	"%u2216": "\\",
	"%uff0e": ".",
	"%uff0f": "/",
	"%uff3c": "\\",
}

_slashed(path) := _collapsed(replace(path, `\`, "/"))

# "." segments and repeated slashes are nothing; a slash ends the last segment too.
_collapsed(path) := regex.replace(concat("", [path, "/"]), `/(?:\.?/)+`, "/") if {
	_has_one_of(concat("", [path, "/"]), ["//", "/./"])
} else := concat("", [path, "/"])

# ---------------------------------------------------------------- climbing

# What no standard allows. Overlong UTF-8: C0 and C1, E0 before 80-9F, F0 before 80-8F, F8
# and FC start no character. The same with a second byte that is ASCII: it is decoded
# already, and counts only beside dots and slashes, since %C1 alone is a letter in Latin-1.
# And %u for ASCII (escape() of JavaScript has it from U+0100 on), and encoded fullwidth
# percent signs in front of the code of a dot or slash.
_irregular := concat("|", [
	`%c[01]%[89ab][0-9a-f]`,
	`%e0%[89][0-9a-f]%[89ab][0-9a-f]`,
	`%f0%8[0-9a-f]%[89ab][0-9a-f]`,
	`%f[8c]%8[0-7]%[89ab][0-9a-f]`,
	`%c[01]\.%c[01]\.`,
	`\.\.%c[01][/\\]`,
	`%e0@%[89ab][0-9a-f]`,
	`%u00[0-7][0-9a-f]`,
	`(?:%ef%bc%85|%uff05)(?:2[5ef]|5c)`,
])

_irregular_starts := ["%c0", "%c1", "%e0", "%f0", "%f8", "%fc", "%u00", "%uff05", "%ef%bc%85"]

# ".." as a whole segment, also with white space around it and with path parameters, a query
# or a fragment behind it; behind what separates paths in lists; as an alternative in braces. The yen and the won sign
# are backslashes in code pages 932 and 949.
_traversal := concat("|", [
	`(?:^|[/\\\x{a5}\x{20a9}])\s*\.\.\s*(?:;[^/\\]*)?(?:[/\\\x{a5}\x{20a9}?#]|$)`,
	"[\\s,;:|=\"'`(<{\\[@]\\.\\.[/\\\\\\x{a5}\\x{20a9}]",
	`[{,]\.\.[,}]`,
])

# "....//" and "..././" leave "../" behind when "../" is taken out once, "...//" when "./"
# is. A folder "..." is in order.
_nested := `(?:^|[/\\])\.{3,}[/\\](?:[/\\]|\.[/\\])`

# ---------------------------------------------------------------- URIs and homes

# A scheme with something behind it, or alone; "file: minutes.md" is a name. It may be
# wrapped, as in jar:file: and git+file:.
_scheme(bare) := min({scheme |
	some scheme in data.sallyport.packs.paths.uri_schemes
	contains(bare, scheme)
	regex.match(sprintf(`^(?:[a-z0-9.+-]*[:+])*%s:(?:\S|$)`, [_quoted(scheme)]), bare)
})

_quoted(text) := regex.replace(text, `[\\.+*?()|\[\]{}^$]`, `\$0`)

# ~, ~/x, ~user/x and ~user, but neither ~$minutes.docx nor ~WRL0001.tmp.
_home := `^~(?:[a-z0-9_.+-]*[/\\]|[a-z0-9_+-]*$)`

# $HOME/x, ${HOME}, $(HOME), $env:HOME and %HOME%, but not $home.tsx. Further on in a path,
# what a variable stands for does not lead out.
_variable := sprintf(`^(?:\$(?:env:)?%[1]s(?:[/\\]|$)|\$[{(](?:env:)?%[1]s(?:[^a-z0-9_]|$)|%%%[1]s[%%:])`, [_variables])

_variables := lower(sprintf("(?:%s)", [concat("|", data.sallyport.packs.paths.variables)]))

# ---------------------------------------------------------------- Windows

# \\host\share, \\?\, \\.\, \??\ and the first two of them with slashes.
_network := `^(?:\\\\|//[?.][/\\]|\\\?\?\\)`

_ntfs := `:\$(?:data|index_allocation|i30|bitmap)(?:[:/\\]|$)`

# What has a meaning of its own on Windows alone is an ordinary name elsewhere ("aux.c",
# "12:30.txt"). So it counts where the data says windows, or the path starts with a drive.
_windows(views) := "the path is relative to the folder of a drive (C:name); send C:\\ and the whole path" if {
	data.sallyport.packs.paths.windows == true
	regex.match(`^[a-z]:(?:[^/\\]|$)`, views.bare)
} else := "the path is a network path of Windows; send a path on a local drive" if {
	data.sallyport.packs.paths.windows == true
	regex.match(`^[/\\]{2}`, views.bare)
} else := "the path has a short name of Windows (such as PROGRA~1); send the long name" if {
	data.sallyport.packs.paths.windows == true
	regex.match(`(?:^|[/\\])[^/\\.~]{1,6}~[0-9]{1,6}(?:\.[^/\\.]{0,3})?(?:[/\\]|$)`, views.bare)
} else := "the path has a colon behind the drive (an NTFS stream); send the name of the file alone" if {
	_for_windows(views.bare)
	contains(regex.replace(views.bare, `^[a-z]:`, ""), ":")
} else := "the path has a device name of Windows (such as CON or COM1); use another name" if {
	_for_windows(views.bare)
	regex.match(_device, views.bare)
} else := "the path has a segment that ends with a dot or space, which Windows leaves out; send it without" if {
	_for_windows(views.bare)
	regex.match(`[^/\\. \t][. ]+(?:[/\\]|$)`, views.low)
}

_for_windows(_) if data.sallyport.packs.paths.windows == true

_for_windows(bare) if regex.match(`^[a-z]:[/\\]`, bare)

# With any extension or stream behind it. The superscript digits count as digits.
_device := `(?:^|[/\\:])(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\x{b9}\x{b2}\x{b3}]) *(?:[.:][^/\\]*)?(?:[/\\]|$)`

# ---------------------------------------------------------------- places

# The first listed place that a path leads to: at its start where the place starts with a
# slash, at any depth otherwise. Letters of either case are the same, as on macOS and Windows.
_sensitive(slashed) := min({place |
	some place, needle in _near
	_leads_to(slashed, place, needle)
	not _excused(slashed, place)
})

# Few calls come near any of the places: all paths are searched at once for each of them,
# and only those that were found are looked for in each path.
_near[place] := _needle(place) if {
	some place in array.concat(data.sallyport.packs.paths.sensitive, data.sallyport.packs.paths.more_sensitive)
	contains(_all, lower(place))
}

_all := concat("\n", array.concat(
	[lower(concat("\n", [found.text | some found in _plain]))],
	[found.views.slashed | some found in _others],
))

_leads_to(slashed, place, needle) if {
	startswith(place, "/")
	startswith(slashed, needle)
}

_leads_to(slashed, place, needle) if {
	not startswith(place, "/")
	contains(concat("", ["/", slashed]), needle)
}

# An exception holds for the place that it is within, and for no other one.
_excused(slashed, place) if {
	some exception in data.sallyport.packs.paths.not_sensitive
	startswith(lower(exception), concat("", [lower(place), "/"]))
	_leads_to(slashed, exception, _needle(exception))
}

_needle(place) := sprintf("%s/", [lower(place)]) if startswith(place, "/")

_needle(place) := sprintf("/%s/", [lower(place)]) if not startswith(place, "/")

# ---------------------------------------------------------------- roots

# A path that starts at the top of a file system has to be within a root as it is written
# and as it is decoded, since nobody knows which of them the tool opens.
_outside(views) if {
	count(data.sallyport.packs.paths.roots) > 0
	some spelling in {trim(views.text, _trimmed), trim(views.decoded, _trimmed)}
	_absolute(spelling)
	not _within(spelling)
}

_outside(views) if {
	count(data.sallyport.packs.paths.roots) > 0
	_absolute(views.bare)
	not _absolute(trim(views.decoded, _trimmed))
}

_absolute(path) if regex.match(`^(?:[a-zA-Z]:)?[/\\]`, path)

# Whole segments: both ends have a slash, so that /site-old is not within /site.
_within(path) if {
	some root in data.sallyport.packs.paths.roots
	startswith(root, "/")
	startswith(_collapsed(path), _collapsed(root))
}

_within(path) if {
	some root in data.sallyport.packs.paths.roots
	not startswith(root, "/")
	startswith(lower(_slashed(path)), lower(_slashed(root)))
}

# ---------------------------------------------------------------- data

# One match over all members as JSON text; item by item takes ten times as long. Which
# member is not sound is asked only if one is not.
_sound if {
	pack := data.sallyport.packs.paths
	regex.match(_sound_text, json.marshal([
		pack.roots,
		pack.windows,
		pack.uri_schemes,
		pack.variables,
		pack.sensitive,
		pack.more_sensitive,
		pack.not_sensitive,
	]))
}

_sound_text := concat("", [`^\[`, concat(",", [_forms[member] | some member in _members]), `\]$`])

_members := ["roots", "windows", "uri_schemes", "variables", "sensitive", "more_sensitive", "not_sensitive"]

_unsound contains member if {
	not _sound
	some member, form in _forms
	not regex.match(sprintf("^%s$", [form]), json.marshal(object.get(data.sallyport.packs.paths, member, null)))
}

# JSON text has a comma between items only. Roots are absolute. Places have single slashes
# between segments and none at the end; they are no patterns, and have no drive and no ~.
_forms := {
	"roots": `\[(?:"(?:/|[a-zA-Z]:(?:/|\\\\))(?:[^"\\]|\\.)*",?)*\]`,
	"windows": `(?:true|false)`,
	"uri_schemes": `\[(?:"[a-z][a-z0-9.+-]*",?)*\]`,
	"variables": `\[(?:"[a-zA-Z_][a-zA-Z0-9_]*",?)*\]`,
	"sensitive": _list_of_places,
	"more_sensitive": _list_of_places,
	"not_sensitive": _list_of_places,
}

_list_of_places := `\[(?:"/?[0-9A-Za-z_. !#$%'()+,;=@^{}\[\]-]+(?:/[0-9A-Za-z_. !#$%'()+,;=@^{}\[\]-]+)*",?)*\]`
