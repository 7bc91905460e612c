# METADATA
# scope: package
# title: Value that a program or a shell would not take as an operand
# description: >-
#   A string that a server hands to a program as an operand (a git revision, a package, a
#   host, a file pattern) starts like an option, holds an option that runs, reads or writes
#   something, names a helper program as a remote of git, sets a variable that makes
#   programs run code, or holds what a shell acts on.
# custom:
#   severity: high
#   halts: false
#   code: -32602
package sallyport.rules.command_arguments

import rego.v2

selection := {"attach": data.sallyport.packs.command_arguments.attach} if data.sallyport.packs.command_arguments.on == true

deny contains {"path": found.path, "reason": reason} if {
	some found in input.facts.selected.command_arguments.strings
	count(_unsound) == 0
	not _is_plain(found.text)
	reason := _reason(_member(found.path), found.text, _words(found.text))
}

deny contains {"path": "", "reason": "more operands than are looked at in one call; send fewer"} if {
	input.facts.selected.command_arguments.total > count(input.facts.selected.command_arguments.strings)
}

deny contains {"path": "", "reason": reason} if {
	count(input.facts.selected.command_arguments.strings) > 0
	some member in _unsound
	reason := sprintf("the pack command_arguments cannot judge: packs/command_arguments/%s is missing or has the wrong type", [member])
}

# Most operands are of a few harmless characters, and need no closer look: it takes fifteen
# times as long.
_is_plain(text) if {
	_plain_is_harmless
	regex.match(`^[A-Za-z0-9@./_][A-Za-z0-9@./_^~+-]*$`, text)
}

# Nothing on the lists could be found in such a text; of ASCII there is no dash but the hyphen.
_plain_is_harmless if {
	pack := data.sallyport.packs.command_arguments
	every part in array.concat(pack.metacharacters, pack.transports) {
		not regex.match(`^[A-Za-z0-9@./_^~+-]*$`, part)
	}
}

# The first of these that applies, so that a string has one finding.
_reason(member, text, words) := reason if {
	code_point := _dashes[_first_character(text)]
	not trim_space(text) in data.sallyport.packs.command_arguments.dash_operands
	reason := sprintf("starts with a dash (U+%04X), as an option does; send the name alone, or ./ before the name of a file", [code_point])
} else := reason if {
	contains(words, " -")
	option := _first_at_word(data.sallyport.packs.command_arguments.options, lower(words))
	reason := sprintf("holds the option %s; send the operand alone, without options", [_shown(option)])
} else := reason if {
	address := _first_at_word(data.sallyport.packs.command_arguments.transports, lower(words))
	reason := sprintf("holds %s, for which git runs other programs; send the name of a remote, or a plain https or ssh address", [_shown(address)])
} else := reason if {
	contains(words, "=")
	variable := _first_variable(words)
	reason := sprintf("sets the variable %s, with which programs run other code; send the operand alone", [_shown(variable)])
} else := reason if {
	part := _first_acted_on(member, trim_right(text, " \t\r\n"))
	reason := sprintf("holds %s, on which a shell acts; send the plain value, without it", [_shown(part)])
} else := "has a word that mixes Latin letters with Cyrillic or Greek ones, which look alike; write it in one script" if {
	regex.match(_mixed_scripts, text)
}

# A name of mixed letters is not the one that it reads as.
_mixed_scripts := `[A-Za-z][\p{Cyrillic}\p{Greek}]|[\p{Cyrillic}\p{Greek}][A-Za-z]`

# What a program or a shell drops before it looks at the next character: white space,
# quotes, backslashes, controls and characters that are not seen. U+00AD is not here but
# among the dashes, since Windows makes a hyphen of it.
_dropped := concat("", [
	"\\x{0}-\\x{20}\"'`\\\\\\x{7f}-\\x{a0}\\p{Z}\\x{34f}\\x{61c}\\x{180e}\\x{200b}-\\x{200f}\\x{2018}-\\x{201f}",
	"\\x{2028}-\\x{202e}\\x{2060}-\\x{206f}\\x{fe00}-\\x{fe0f}\\x{feff}\\x{e0000}-\\x{e01ef}",
])

_first_character(text) := regex.find_all_string_submatch_n(sprintf("^[%s]*([^%s])", [_dropped, _dropped]), text, 1)[0][1]

_dashes := {sprintf("%c", [code_point]): code_point | some code_point in data.sallyport.packs.command_arguments.dashes}

# The text with one space for each run of white space and quotes, a hyphen for each dash, and
# a space around it: what starts a word follows a space. A shell takes the quotes off after it
# has split the text.
_words(text) := concat("", [" ", text, " "]) if not regex.match(_no_plain_word, text)

_words(text) := _single_spaced(concat("", [" ", strings.replace_n(_plain, text), " "])) if regex.match(_no_plain_word, text)

# White space, quotes, controls and what is not ASCII; most operands have none of these.
_no_plain_word := "[^!#-&(-_a-~]"

_plain := object.union(_separators, {dash: "-" | some dash, _ in _dashes})

_separators := {separator: " " |
	some separator in split("\"'`\t\n\u000b\u000c\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000", "")
}

_single_spaced(text) := regex.replace(text, " {2,}", " ") if contains(text, "  ")

_single_spaced(text) := text if not contains(text, "  ")

_first_at_word(items, words) := [item | some item in items; contains(words, concat("", [" ", lower(item)]))][0]

# Names of variables have a case.
_first_variable(words) := [name |
	some name in data.sallyport.packs.command_arguments.environment
	contains(words, concat("", [" ", name, "="]))
][0]

_first_acted_on(member, text) := part if {
	_first_part(lower(text))
	part := _first_part(lower(_without_ordinary(member, text)))
}

_first_part(text) := [part | some part in data.sallyport.packs.command_arguments.metacharacters; contains(text, lower(part))][0]

# Without the parts that are in order in such a member, "<2" of a package. A space in
# their place keeps what is left and right of them apart. Texts so long are not looked through
# for them, and a pattern that is none excuses nothing.
_without_ordinary(member, text) := regex.replace(text, concat("|", patterns), " ") if {
	count(text) <= 1000
	patterns := [sprintf("(?:%s)", [pattern]) |
		some entry in data.sallyport.packs.command_arguments.ordinary
		member in entry.members
		some pattern in entry.patterns
		regex.is_valid(pattern)
	]
	count(patterns) > 0
} else := text

# The last token of a pointer that is no index: "packages" for /packages/0.
_member(path) := names[count(names) - 1] if {
	names := [token | some token in split(path, "/"); not regex.match(`^[0-9]+$`, token)]
}

# An item of a list of this pack, in a form that is fit for a reason.
_shown(item) := "a line break" if {
	item in {"\n", "\r", "\r\n"}
} else := trim_space(item) if {
	regex.match(`^[ -~]{1,64}$`, item)
} else := "an item of the lists of this pack"

# Members of the data that the rule cannot work with: a list that is not there would let
# everything pass, an empty text would refuse everything.
_unsound contains list if {
	some list in ["options", "transports", "environment", "metacharacters", "dash_operands"]
	not _is_texts(object.get(data.sallyport.packs.command_arguments, list, null))
}

_unsound contains "dashes" if not _is_dashes(object.get(data.sallyport.packs.command_arguments, "dashes", null))

_unsound contains "ordinary" if not _is_ordinary(object.get(data.sallyport.packs.command_arguments, "ordinary", null))

# The least and the greatest item, in the order of Rego by types, tell of all between them.
_is_texts(list) if {
	is_array(list)
	count(list) == 0
}

_is_texts(list) if {
	is_array(list)
	is_string(max(list))
	is_string(min(list))
	min(list) != ""
}

# Code points of signs: whole numbers, and of ASCII none but the hyphen.
_is_dashes(list) if {
	is_array(list)
	regex.match(`^\[(?:(?:45|1[6-9][0-9]|[2-9][0-9]{2}|[1-9][0-9]{3,4}|10[0-9]{5}|[1-9][0-9]{5})[,\]])+$`, json.marshal(list))
}

_is_ordinary(list) if {
	is_array(list)
	every entry in list {
		_is_texts(entry.members)
		_is_texts(entry.patterns)
	}
}
