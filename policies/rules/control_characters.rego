# METADATA
# scope: package
# title: Control character in a string or key
# description: >-
#   A string value or an object key holds a C0 control other than those of
#   data.sallyport.limits.allowed_control_characters, DEL or a C1 control. Such
#   characters drive terminals and cut strings in other programs. The reason
#   names code points, never the characters themselves.
# custom:
#   severity: high
#   halts: false
#   code: -32602
package sallyport.rules.control_characters

import rego.v2

deny contains {"path": found.path, "reason": reason} if {
	some found in input.facts.control_characters.strings
	forbidden := [code_point | some code_point in found.code_points; code_point in forbidden_code_points]
	count(forbidden) > 0
	reason := sprintf("%s has %d forbidden control character%s: %s", [
		object.get(_places, found["in"], "string"),
		found.count,
		_plural(found.count),
		_listing(forbidden),
	])
}

# C0 is U+0000 to U+001F, DEL is U+007F, C1 is U+0080 to U+009F. The decoder is
# told to look for exactly these.
forbidden_code_points := {code_point |
	some code_point in array.concat(numbers.range(0, 31), numbers.range(127, 159))
	not code_point in data.sallyport.limits.allowed_control_characters
}

# Strings that were counted but not listed, because the list of facts is capped.
unlisted := input.facts.control_characters.total - count(input.facts.control_characters.strings)

_places := {"key": "the key", "value": "the string"}

_plural(number) := "" if number == 1

_plural(number) := "s" if number != 1

_shown := 8

_listing(code_points) := concat(", ", [sprintf("U+%04X", [code_point]) | some code_point in code_points]) if {
	count(code_points) <= _shown
}

_listing(code_points) := sprintf("%s and %d more", [
	concat(", ", [sprintf("U+%04X", [code_point]) | some code_point in array.slice(code_points, 0, _shown)]),
	count(code_points) - _shown,
]) if {
	count(code_points) > _shown
}
