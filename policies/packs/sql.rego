# METADATA
# scope: package
# title: SQL that does more than one thing, or a name that is more than a name
# description: >-
#   A statement holds a second one, a literal or a comment without an end, a comment that
#   is run, or a function that reaches files, programs, the network or the clock of the
#   database server; or a name of a table or a column holds what no name has. Databases
#   read quotes and comments differently, so a statement is read in the way of each.
# custom:
#   severity: high
#   halts: false
#   code: -32602
package sallyport.rules.sql

import rego.v2

selection := {"attach": data.sallyport.packs.sql.attach} if data.sallyport.packs.sql.on == true

deny contains {"path": found.path, "reason": reason} if {
	some found in input.facts.selected.sql.strings
	count(_unsound) == 0
	reason := _reason(_member(found.path), found.text)
}

deny contains {"path": "", "reason": "more SQL strings than are looked at in one call; send fewer"} if {
	input.facts.selected.sql.total > count(input.facts.selected.sql.strings)
}

deny contains {"path": "", "reason": reason} if {
	count(input.facts.selected.sql.strings) > 0
	some member in _unsound
	reason := sprintf("the pack sql cannot judge: packs/sql/%s is missing or has the wrong type", [member])
}

_reason(member, text) := _name_reason(member, text) if _is_name(member)

_reason(member, text) := _statement_reason(text) if not _is_name(member)

_is_name(member) if member in data.sallyport.packs.sql.identifiers

_is_name(member) if member in data.sallyport.packs.sql.identifier_lists

# The last token of a pointer that is no index: "tables" for /tables/0.
_member(path) := names[count(names) - 1] if {
	names := [token | some token in split(path, "/"); not regex.match(`^[0-9]+$`, token)]
}

# Statements
#
# In a reading of a statement, each literal, quoted name and comment is a blank (U+FFFC). What is
# left is code. A quoted plain word stays, between blanks, since it may be the name of a function.
# Databases do not agree where a literal ends, so there is one reading for each of the dialects;
# for most statements they are the same. A reading in which a quote has no end counts up to
# there, since some databases run what is before it.

_statement_reason(text) := reason if {
	start := _refused_start(text)
	reason := sprintf("holds a comment or a quoted name that starts with %s, which databases run or decode; write it as plain SQL", [_shown(start)])
} else := reason if {
	regex.match(`\r[^\n]`, text)
	regex.match("--|#", text)
	reason := "holds a CR alone, which ends a comment in some databases only; send LF or CR LF as line breaks"
} else := _code_reason(text, readings, codes) if {
	readings := _readings(text)
	codes := {_before_open_quote(reading) | some reading in readings}
}

_code_reason(text, readings, codes) := reason if {
	some code in codes
	contains(code, "/*")
	reason := "holds a comment that has no end, or one inside another, which databases read differently; leave it out"
} else := reason if {
	count(readings & codes) == 0
	reason := "holds a literal or a quoted name that has no end; close it, and write a quote inside a literal twice"
} else := reason if {
	some code in codes
	count(regex.find_n(_next_statement, code, data.sallyport.packs.sql.max_statements)) == data.sallyport.packs.sql.max_statements
	reason := sprintf(
		"holds more than %d statement(s), as at least one database reads it; send them one by one, with a quote inside a literal as two, not as \\'",
		[data.sallyport.packs.sql.max_statements],
	)
} else := reason if {
	item := _first_dangerous(codes | _routine_bodies(text))
	reason := sprintf("uses %s, which reaches files, programs, the network or the clock of the server; leave it out", [_shown(trim_right(item, " '("))])
} else := reason if {
	count(data.sallyport.packs.sql.allowed_statements) > 0
	some code in (readings & codes)
	_is_not_allowed(code)
	reason := sprintf("is or holds a statement that is not allowed here; allowed are: %s", [
		substring(_shown(concat(", ", data.sallyport.packs.sql.allowed_statements)), 0, 150),
	])
}

_blank := "\ufffc"

# White space and blanks, in a class of characters.
_gap := "\\s\\x{fffc}"

_next_statement := sprintf(";[%s]*[^%s;]", [_gap, _gap])

# Blanks around the words that the expression holds on to.
_reading(pattern, text) := regex.replace(text, pattern, sprintf("%s${1}${2}${3}${4}${5}${6}%s", [_blank, _blank]))

_readings(text) := {_reading(pattern, text) | some pattern in _patterns(text, _dollars(text))} if regex.match(_quote_or_comment, text)

_readings(text) := {text} if not regex.match(_quote_or_comment, text)

_quote_or_comment := "['\"`\\[#$]|--|/\\*"

_before_open_quote(reading) := regex.find_n("^[^'\"`]*", reading, 1)[0] if regex.match("['\"`]", reading)

_before_open_quote(reading) := reading if not regex.match("['\"`]", reading)

# Of a comment or a quoted name, not of what is inside of a literal.
_refused_start(text) := [start |
	some start in data.sallyport.packs.sql.refused_starts
	contains(text, start)
	some pattern in _patterns(text, _dollars(text))
	strings.any_prefix_match(regex.find_n(pattern, text, -1), start)
][0]

# What is quoted and what is a comment, in each of the dialects. An expression has a part only if
# the text has its sign, so that one expression is left where they agree.
_patterns(text, dollars) := {concat("|", array.concat(own, array.concat(_common(dialect, text), dollars[dialect]))) |
	some dialect in data.sallyport.packs.sql.dialects
	own := _own(dialect, text)
}

# Literals of one dialect only. One that may hold its own end, or ends with another sign than it starts with,
# goes on to the end of the text if it has none: to look for the end again from each sign inside of it would
# take the square of the length. The quote stays then, as it does for the others.
_own("postgresql", text) := [piece |
	some sign, piece in {"\\": `\b[eE]'(?:[^'\\]|\\(?s:.))*'|\b[eE](')(?:[^'\\]|\\(?s:.))*\\?$`, "&\"": `\b[uU]&"[^"]*"`}
	contains(text, sign)
]

_own("oracle", text) := [`\b[nN]?[qQ]'(?:\[(?s:.*?)(?:\]'|$)|\{(?s:.*?)(?:\}'|$)|\((?s:.*?)(?:\)'|$)|<(?s:.*?)(?:>'|$)|!(?s:.*?)(?:!'|$)|\|(?s:.*?)(?:\|'|$)|~(?s:.*?)(?:~'|$))` |
	regex.match("[qQ]'", text)
]

_own("sqlserver", text) := [`\[(\w*)\]|\[[^\]]*(?:\]|$)` | contains(text, "[")]

_own("mysql", text) := [piece |
	some sign, piece in {
		"\\": concat("|", [
			`'(?:[^'\\]|\\(?s:.))*'|(')(?:[^'\\]|\\(?s:.))*\\?$`,
			`"(\w*)"|"(?:[^"\\]|\\(?s:.))*"|(")(?:[^"\\]|\\(?s:.))*\\?$`,
		]),
		"#": `#[^\n\r]*`,
	}
	contains(text, sign)
]

# Two hyphens are no comment for MySQL unless white space follows. A number, a bracket, a variable
# or a quote behind them is read as an operand there.
_common("mysql", text) := [_quoted, _block_comment, `--(?:[^0-9(@.'"\x60\n\r][^\n\r]*)?`] if regex.match(_hyphens_and_operand, text)

_common("mysql", text) := [_quoted, _block_comment, _line_comment] if not regex.match(_hyphens_and_operand, text)

_common(dialect, _) := [_quoted, _block_comment, _line_comment] if dialect != "mysql"

_hyphens_and_operand := `--[0-9(@.'"\x60]`

_quoted := `'[^']*'|"(\w*)"|"[^"]*"|\x60(\w*)\x60|\x60[^\x60]*\x60`

_line_comment := `--[^\n\r]*`

# Without the start of another one: what is left of that is found as an open comment.
_block_comment := `/\*(?:[^*/]|/+[^*/]|\*+[^*/])*\*+/`

# $$ ... $$ and $tag$ ... $tag$ are literals of PostgreSQL. Elsewhere they are names, except in what no
# other database starts to run: a function, a procedure or a DO block.
_dollars(text) := {dialect: pieces |
	some dialect in data.sallyport.packs.sql.dialects
	pieces := [piece |
		piece := _dollar_quoted(text)
		_has_dollar_quotes(dialect, text)
	]
}

_has_dollar_quotes("postgresql", _)

_has_dollar_quotes(dialect, text) if {
	dialect != "postgresql"
	_is_routine(text)
}

_is_routine(text) if {
	regex.match(`(?i)^(?:\s|--[^\n]*\n|/\*[^*/]*\*/)*(?:create\s+(?:or\s+replace\s+)?(?:function|procedure)|do)\b`, text)
}

# Each tag with itself. Behind a letter a dollar sign is part of a name.
_dollar_quoted(text) := sprintf(`(^|[^\w$\x{80}-\x{10ffff}])(?:%s)`, [concat("|", pieces)]) if {
	contains(text, "$")
	tags := {tag | some tag in regex.find_n(`\$(?:[A-Za-z_\x{80}-\x{10ffff}][\w\x{80}-\x{10ffff}]*)?\$`, text, 500)}
	count(tags) in numbers.range(1, 10)
	pieces := [sprintf("%s(?s:.*?)%s", [quote, quote]) | some tag in tags; quote := replace(tag, "$", `\$`)]
}

# The code inside of dollar quotes, which a function or a DO block runs.
_routine_bodies(text) := {_before_open_quote(_reading(pattern, text)) |
	_is_routine(text)
	some pattern in _patterns(text, {dialect: [] | some dialect in data.sallyport.packs.sql.dialects})
}

# The first item of the list that one of the codes has. Few items have their first word in a text,
# only these are looked for.
_first_dangerous(codes) := [item |
	some code in codes
	lowered := lower(code)
	items := [item | some i, item in data.sallyport.packs.sql.dangerous; contains(lowered, _heads[i])]
	count(items) > 0
	item := _first_match(`\b`, items, regex.replace(code, _table_with_columns, "("))
][0]

# First words, in one step.
_heads := split(regex.replace(lower(concat("\n", data.sallyport.packs.sql.dangerous)), `(?m)^(\w+).*$`, "${1}"), "\n")

# The item that comes first in the text. The one expression takes one pass; only what was found is compared with
# each item.
_first_match(before, items, text) := [item |
	some item in items
	regex.match(sprintf("(?i)^%s%s$", [before, _expression(item)]), found)
][0] if {
	found := regex.find_n(sprintf("(?i)%s(?:%s)", [before, concat("|", [_expression(item) | some item in items])]), text, 1)[0]
}

# A table of such a name and its columns are no call: INSERT INTO sleep (hours).
_table_with_columns := sprintf(
	`(?i)\b(?:into|table|exists|references)[%s]+(?:\w+[%s]*\.[%s]*)*\w+[%s]*\(|^[%s]*create[%s][^;()]*\bindex\b[^;()]*\bon[%s]+[\w.]+[%s]*\(`,
	[_gap, _gap, _gap, _gap, _gap, _gap, _gap, _gap],
)

# A text of the data as an expression: a space is any white space or comment, an asterisk anything
# within the statement, ( the start of a call, ' a literal.
_expression(item) := concat("", [
	strings.replace_n(
		{
			" ": sprintf("[%s]+", [_gap]), "*": "[^;]*?", "(": sprintf("[%s]*\\(", [_gap]), "'": _blank,
			".": sprintf("[%s]*\\.", [_gap]), "\\": "\\\\", "+": "\\+", "?": "\\?", "|": "\\|", "^": "\\^",
			"$": "\\$", ")": "\\)", "[": "\\[", "]": "\\]", "{": "\\{", "}": "\\}",
		},
		item,
	),
	_end_of_word(item),
])

_end_of_word(item) := "\\b" if regex.match("[A-Za-z0-9]$", item)

_end_of_word(item) := "" if not regex.match("[A-Za-z0-9]$", item)

_is_not_allowed(code) if {
	regex.match(sprintf("[^%s;]", [_gap]), code)
	count(_statement_words(code) - {lower(word) | some word in data.sallyport.packs.sql.allowed_statements}) > 0
}

# The words that statements start with; and the statements that may be inside of others, below WITH or
# EXPLAIN, or behind another one where a database needs no semicolon.
_statement_words(code) := {word |
	some groups in regex.find_all_string_submatch_n(sprintf(`(?:^|;)[%s(]*([^%s(;]+)`, [_gap, _gap]), code, 1000)
	word := lower(groups[1])
} | {word |
	some groups in regex.find_all_string_submatch_n(sprintf(_inner_statement, [_gap, _gap, _gap, _gap]), code, 1000)
	word := lower(concat("", array.slice(groups, 1, 7)))
}

_inner_statement := concat("|", [
	`(?i)\b(?:(insert|merge)[%s]+into|(delete)[%s]+from)\b`,
	`\b(update)\b[^;]*?\bset\b`,
	`\b(drop|alter|create|truncate)[%s]+(?:table|view|index|database|schema|function|procedure|trigger|user|role|sequence)\b`,
	`\b(execute|exec)[%s]+\w`,
])

# Names of tables and columns

_name_reason(member, text) := reason if {
	sign := _first_sign(data.sallyport.packs.sql.quoted_name_signs, text)
	reason := sprintf("holds %s, which no name has; %s", [_shown(sign), _name_form])
} else := reason if {
	item := _first_dangerous({text})
	reason := sprintf("holds %s, which is no name; %s", [_shown(trim_right(item, " '(")), _name_form])
} else := _unquoted_reason(member, regex.replace(text, _quoted_name, _blank))

_unquoted_reason(member, unquoted) := reason if {
	sign := _first_sign(data.sallyport.packs.sql.name_signs, unquoted)
	reason := sprintf("holds %s outside of a quoted name; %s", [_shown(sign), _name_form])
} else := reason if {
	regex.match(sprintf("[\"'`\\[\\]]|%s%s", [_blank, _blank]), unquoted)
	reason := sprintf("has a quote that does not fit; %s", [_name_form])
} else := reason if {
	regex.match(sprintf("[%s]", [_gap]), unquoted)
	phrase := _first_match(sprintf("[%s]", [_gap]), data.sallyport.packs.sql.name_phrases, unquoted)
	reason := sprintf("goes on with %s; %s", [_shown(trim_right(phrase, " ")), _name_form])
} else := reason if {
	contains(unquoted, ",")
	not member in data.sallyport.packs.sql.identifier_lists
	reason := sprintf("holds more than one name; %s", [_name_form])
}

_first_sign(signs, text) := [sign | some sign in signs; contains(text, sign)][0]

_name_form := "send one name such as schema.table, \"My Table\" or [My Table]"

# A blank for each quoted name. Inside there may be anything but quotes and what ends a line; white space
# at its ends is left to those who put quotes around it and have the rest as SQL.
_quoted_name := concat("|", [sprintf("%s[^%s\\s](?:[^%s\r\n]*[^%s\\s])?%s", [open, _quotes, _quotes, _quotes, close]) |
	some [open, close] in [["\"", "\""], ["`", "`"], ["\\[", "\\]"]]
])

_quotes := "\"'`\\[\\]"

# An item of a list of this pack, in a form that is fit for a reason.
_shown(item) := "a line break" if {
	item in {"\n", "\r"}
} else := item if {
	regex.match(`^[ -~]{1,150}$`, item)
} else := "an item of the lists of this pack"

# Members of the data that the rule cannot work with: a list that is not there would let
# everything pass, an empty text would refuse everything.
_unsound contains list if {
	some list in [
		"refused_starts", "dangerous", "allowed_statements", "identifiers", "identifier_lists", "name_signs",
		"quoted_name_signs", "name_phrases",
	]
	not _is_texts(object.get(data.sallyport.packs.sql, list, null))
}

# One line for each item, see _heads.
_unsound contains "dangerous" if {
	_is_texts(data.sallyport.packs.sql.dangerous)
	contains(concat("", data.sallyport.packs.sql.dangerous), "\n")
}

_unsound contains "dialects" if not _is_dialects(object.get(data.sallyport.packs.sql, "dialects", null))

_unsound contains "max_statements" if not _is_count(object.get(data.sallyport.packs.sql, "max_statements", null))

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

_is_dialects(list) if {
	is_array(list)
	count(list) > 0
	every dialect in list {
		dialect in {"postgresql", "mysql", "sqlserver", "oracle"}
	}
}

_is_count(number) if {
	is_number(number)
	number >= 1
	number <= 1000
	number == floor(number)
}
