# METADATA
# scope: package
# title: Entries that waive rules for a while
# description: >-
#   What the entries of data.sallyport.exemptions.register and
#   data.sallyport.permissive have in common. An entry names tools and rules, says
#   who answers for it and why, and ends: from the day in expires on (UTC) it is no
#   longer in force.
package sallyport.register

import rego.v2

# Days are written as 2026-12-31, so they sort as text.
in_force(entry) if {
	input.today < entry.expires
	_for_tool(entry)
}

_for_tool(entry) if input.tool in entry.tools

_for_tool(entry) if "*" in entry.tools

# METADATA
# title: Whether a path fits a pattern
# description: >-
#   Both are RFC 6901 pointers; in the pattern the token * stands for any one token,
#   and ** for any number of them, also none.
matches(pattern, path) if regex.match(concat("", ["^", concat("", _tokens(pattern)), "$"]), path)

_tokens(pattern) := [_token(token) | some i, token in split(pattern, "/"); i > 0]

_token("**") := `(?:/[^/]*)*`

_token("*") := `/[^/]*`

_token(token) := concat("", ["/", regex.replace(token, `[\\.+*?()|\[\]{}^$]`, `\$0`)]) if not token in {"*", "**"}

# METADATA
# title: What is wrong with an entry
# description: Asked once, at load; each fault stops the start. It starts with its place.
faults(entry) := {": is not an object"} if not is_object(entry)

faults(entry) := _wrong(entry) | _unknown(entry) if is_object(entry)

_wrong(entry) := {fault |
	some member, want in _members
	not _fits(want.kind, object.get(entry, member, null))
	fault := sprintf("/%s: %s", [member, want.remedy])
}

_unknown(entry) := {fault |
	some member, _ in entry
	not member in object.keys(_members)
	fault := sprintf("/%s: there is no such member; known are %s", [member, concat(", ", object.keys(_members))])
}

_members := {
	"owner": {"kind": "text", "remedy": "say who answers for it"},
	"reason": {"kind": "text", "remedy": "say why"},
	"tools": {"kind": "texts", "remedy": "list the names of tools, or *"},
	"rules": {"kind": "texts", "remedy": "list the names of rules"},
	"paths": {"kind": "pointers", "remedy": "list RFC 6901 pointers, with * and ** for tokens, or leave it out"},
	"expires": {"kind": "day", "remedy": "write the first day on which it no longer holds, such as 2026-12-31"},
}

_fits("text", value) if {
	_text(value)
}

_text(value) if {
	is_string(value)
	trim_space(value) != ""
}

_fits("texts", value) if {
	is_array(value)
	count(value) > 0
	every text in value { _text(text) }
}

_fits("pointers", value) if is_null(value)

_fits("pointers", value) if {
	is_array(value)
	count(value) > 0
	every pointer in value {
		is_string(pointer)
		regex.match(`^(?:/[^/]*)*$`, pointer)
	}
}

_fits("day", value) if {
	is_string(value)
	regex.match(`^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$`, value)
}
