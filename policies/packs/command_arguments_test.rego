# METADATA
# scope: package
# title: Tests of the pack command_arguments
package sallyport.rules.command_arguments_test

import rego.v2

import data.sallyport.fixtures_test.selected
import data.sallyport.fixtures_test.selected_keys
import data.sallyport.rules.command_arguments

_dash := "starts with a dash (U+%04X), as an option does; send the name alone, or ./ before the name of a file"

_option := "holds the option %s; send the operand alone, without options"

_shell := "holds %s, on which a shell acts; send the plain value, without it"

refused(path, text, reason) if {
	command_arguments.deny == {{"path": path, "reason": reason}} with input as selected("command_arguments", {path: text})
}

passes(path, text) if command_arguments.deny == set() with input as selected("command_arguments", {path: text})

test_off_as_delivered if {
	not command_arguments.selection
	command_arguments.selection.attach == data.sallyport.packs.command_arguments.attach with data.sallyport.packs.command_arguments.on as true
}

test_nothing_selected if command_arguments.deny == set() with input as selected("other", {"/ref": "--x"})

test_every_dash_at_the_start_is_refused_and_named[code_point] if {
	some code_point in data.sallyport.packs.command_arguments.dashes
	refused("/ref", sprintf("%cexec=x", [code_point]), sprintf(_dash, [code_point]))
}

test_what_is_dropped_does_not_hide_a_dash[sprintf("%d", [code_point])] if {
	some code_point in [9, 10, 13, 27, 32, 34, 39, 92, 96, 133, 160, 847, 1564, 8203, 8206, 8216, 8221, 8232, 8238, 8288, 8297, 12288, 65024, 65279, 917536]
	refused("/ref", sprintf("%c%c-x", [code_point, code_point]), sprintf(_dash, [45]))
}

test_a_dash_elsewhere_passes[text] if {
	some text in ["a-b", "a--b", "a-", "feature/-x", "", "   ", "'a-b'", "report - final"]
	passes("/ref", text)
}

test_a_lone_dash_is_refused_unless_the_data_name_it if {
	refused("/branch", "-", sprintf(_dash, [45]))
	refused("/branch", " -\n", sprintf(_dash, [45]))
	passes("/branch", "-") with data.sallyport.packs.command_arguments.dash_operands as ["-"]
	refused("/branch", "-x", sprintf(_dash, [45])) with data.sallyport.packs.command_arguments.dash_operands as ["-"]
}

test_every_option_is_found_behind_a_space if {
	texts := {path: text |
		some i, option in data.sallyport.packs.command_arguments.options
		path := sprintf("/%d", [i])
		text := concat("", ["main ", option])
	}
	denied := command_arguments.deny with input as selected("command_arguments", texts)
	object.keys(texts) == {finding.path | some finding in denied; startswith(finding.reason, "holds the option -")}
}

test_options_are_found_whatever_separates_them[text] if {
	some text in ["main --upload-pack=x", "main\t--UPLOAD-pack x", "'main' '--upload-pack'", `main "--upload-pack"`, "main \u2013\uff0dupload-pack"]
	refused("/ref", text, sprintf(_option, ["--upload-pack"]))
}

test_a_space_in_an_option_is_any_white_space if {
	refused("/ref", "HEAD -c \t core.pager=x", sprintf(_option, ["-c core."]))
	refused("/ref", "HEAD --config", sprintf(_option, ["--config"]))
	passes("/ref", "HEAD --configure")
}

test_an_option_inside_a_word_passes if passes("/ref", "feature/a--upload-pack")

test_transports_are_refused_at_the_start_of_a_word if {
	reason := "holds ext::, for which git runs other programs; send the name of a remote, or a plain https or ssh address"
	refused("/remote", "ext::sh -c id", reason)
	refused("/remote", "'EXT::sh'", reason)
	passes("/remote", "next::js")
}

test_variables_are_refused_at_the_start_of_a_word if {
	reason := "sets the variable LD_PRELOAD, with which programs run other code; send the operand alone"
	refused("/ref", "LD_PRELOAD=x", reason)
	refused("/ref", "a LD_PRELOAD=x", reason)
	passes("/ref", "ld_preload=x")
	passes("/ref", "OLD_PRELOAD=x")
	passes("/ref", "LD_PRELOAD")
}

test_every_metacharacter_is_refused[sprintf("%d", [i])] if {
	some i, part in data.sallyport.packs.command_arguments.metacharacters
	some finding in command_arguments.deny with input as selected("command_arguments", {"/host": concat("", ["a", part, "b"])})
	contains(finding.reason, "on which a shell acts")
}

test_a_line_break_is_named_and_passes_at_the_end if {
	refused("/ref", "main\nid", sprintf(_shell, ["a line break"]))
	refused("/ref", "main\rid", sprintf(_shell, ["a line break"]))
	passes("/ref", "main\r\n")
}

test_what_is_ordinary_in_a_member_passes_there_only if {
	passes("/package", "pkg@>=1.0 <2 || 3.x")
	passes("/packages/0", "pkg@>=1.0 <2 || 3.x")
	refused("/ref", "pkg@>=1.0 <2 || 3.x", sprintf(_shell, ["||"]))
	passes("/glob", "!(a|b)/*.go")
	refused("/package", "!(a|b)/*.go", sprintf(_shell, ["|"]))
	passes("/branch", "feature/R&D")
	refused("/host", "R&D", sprintf(_shell, ["&"]))
}

test_long_texts_and_broken_patterns_excuse_nothing if {
	passes("/package", sprintf("%0996d>1.0", [0]))
	refused("/package", sprintf("%0997d>1.0", [0]), sprintf(_shell, [">"]))
	broken := [{"members": ["package"], "patterns": ["(", "<"]}]
	passes("/package", "<") with data.sallyport.packs.command_arguments.ordinary as broken
	refused("/package", "(>", sprintf(_shell, [">"])) with data.sallyport.packs.command_arguments.ordinary as broken
}

test_ordinary_parts_do_not_hide_others[text] if {
	some text in ["pkg@>=1.0;id", "pkg@>=1.0 <2 ; id", "pkg >1\nid", "pkg || 7z", "pkg@>$(id)", "pkg@>1>x"]
	count(command_arguments.deny) == 1 with input as selected("command_arguments", {"/package": text})
}

test_one_finding_for_a_string_with_many_faults if {
	refused("/ref", "--exec=$(id);GIT_SSH=x ext::sh --output=x", sprintf(_dash, [45]))
}

test_keys_are_judged_alike if {
	expected := {{"path": "/hosts/-x", "reason": sprintf(_dash, [45])}}
	command_arguments.deny == expected with input as selected_keys("command_arguments", {"/hosts/-x": "-x"})
}

test_an_item_that_cannot_be_shown_is_described if {
	passes("/0", "a") with data.sallyport.packs.command_arguments.metacharacters as ["\uff1b"]
	refused("/0", "a\uff1b", sprintf(_shell, ["an item of the lists of this pack"])) with data.sallyport.packs.command_arguments.metacharacters as ["\uff1b"]
}

test_strings_that_were_not_handed_over_are_refused if {
	call := json.patch(selected("command_arguments", {"/ref": "main"}), [{"op": "replace", "path": "/facts/selected/command_arguments/total", "value": 2}])
	command_arguments.deny == {{"path": "", "reason": "more operands than are looked at in one call; send fewer"}} with input as call
}

_cannot_judge(list) if {
	reason := sprintf("the pack command_arguments cannot judge: packs/command_arguments/%s is missing or has the wrong type", [list])
	command_arguments.deny == {{"path": "", "reason": reason}} with input as selected("command_arguments", {"/ref": "--x"})
	command_arguments.deny == set() with input as selected("other", {"/ref": "--x"})
}

test_data_that_are_not_sound_refuse[list] if {
	some list in ["dashes", "dash_operands", "options", "transports", "environment", "metacharacters", "ordinary"]
	whole := data.sallyport.packs.command_arguments
	_cannot_judge(list) with data.sallyport.packs.command_arguments as json.remove(whole, [list])
	every wrong in [true, "x", {"a": "b"}, [null], [""], [{"members": ["a"]}], [1.5], [1114112]] {
		_cannot_judge(list) with data.sallyport.packs.command_arguments as object.union(whole, {list: wrong})
	}
}

test_word_of_mixed_letters[text] if {
	some text in ["origin/m\u0430ster", "\u0430dmin", "g\u03bfogle.com"]
	refused("/ref", text, "has a word that mixes Latin letters with Cyrillic or Greek ones, which look alike; write it in one script")
}

test_names_in_one_script_pass if {
	passes("/ref", "feature/\u0432\u0445\u043e\u0434-v2")
	passes("/ref", "exp-\u03b12")
}

test_plain_operands_are_looked_at_where_a_list_asks_for_it if {
	passes("/ref", "a^b")
	refused("/ref", "a^b", sprintf(_shell, ["^"])) with data.sallyport.packs.command_arguments.metacharacters as ["^"]
	refused("/ref", "a^b", sprintf(_shell, ["^"])) with data.sallyport.packs.command_arguments.metacharacters as ["^", ";"]
}
