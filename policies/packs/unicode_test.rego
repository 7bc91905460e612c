package sallyport.rules.unicode_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.unicode
import rego.v2

found_in(text) := findings if findings := unicode.deny with input as fixtures.selected("unicode", {"/a": text})

listed_in(text) := listed if {
	some finding in found_in(text)
	listed := regex.find_n(`\(.*\)`, finding.reason, 1)[0]
}

test_off_unless_switched_on if {
	not unicode.selection with data.sallyport.packs.unicode.on as false
	not unicode.selection with data.sallyport.packs.unicode.on as "true"
}

test_asks_for_keys_and_values_everywhere if {
	unicode.selection.attach == {"*": ["/**"]} with data.sallyport.packs.unicode.on as true
	unicode.selection.keys == true with data.sallyport.packs.unicode.on as true
	[173, 173] in unicode.selection.code_points with data.sallyport.packs.unicode.on as true
	[1114110, 1114111] in unicode.selection.code_points with data.sallyport.packs.unicode.on as true
}

test_reason_names_code_points_of_each_length if {
	found_in("\u007fa\u00adb\u202ec\udb40\udc41") == {{
		"path": "/a",
		"reason": "the string has characters that are not seen or that reorder text (U+00AD, U+202E, U+E0041); send it without them",
	}}
	unicode._name("A") == "U+0041"
}

test_key_is_told_from_value if {
	{finding.reason | some finding in unicode.deny} == {"the key has characters that are not seen or that reorder text (U+200B); send it without them"} with input as fixtures.selected_keys("unicode", {"/a": "na\u200bme"})
}

test_eight_are_named_and_each_once if {
	listed_in("\u200bx\u200bx\u2060") == "(U+200B, U+2060)"
	listed_in("\u200b\u2060\u202e\u00ad\u034f\u3164\ufeff\u2063\u2064") == "(U+200B, U+2060, U+202E, U+00AD, U+034F, U+3164, U+FEFF, U+2063)"
}

# None of them is in order by itself between two Latin letters.
test_each_watched_character_in_latin_text if {
	watched := [code_point |
		some range in unicode._watched
		some code_point in numbers.range(unicode._number(range[0]), unicode._number(range[1]))
	]
	count(watched) > 4000
	some text in [sprintf("a%cb", [watched[0]])]
	count(found_in(text)) == 1
	every code_point in [code_point | some i, code_point in watched; i % 29 == 0] {
		count(found_in(sprintf("a%cb", [code_point]))) == 1
	}
}

test_flag[name] if {
	some name, text in {
		"England": "\ud83c\udff4\udb40\udc67\udb40\udc62\udb40\udc65\udb40\udc6e\udb40\udc67\udb40\udc7f",
		"Scotland": "\ud83c\udff4\udb40\udc67\udb40\udc62\udb40\udc73\udb40\udc63\udb40\udc74\udb40\udc7f",
		"Wales": "\ud83c\udff4\udb40\udc67\udb40\udc62\udb40\udc77\udb40\udc6c\udb40\udc73\udb40\udc7f",
	}
	found_in(text) == set()
	listed_in(concat("", [text, "\udb40\udc67"])) == "(U+E0067)"
}

test_joiner_is_in_order_where_it_joins[name] if {
	some name, text in {
		"emoji": "\ud83d\udc69\ud83c\udffd\u200d\ud83d\udcbb",
		"emoji with presentation": "\u2764\ufe0f\u200d\ud83d\udd25",
		"Persian": "\u0645\u06cc\u200c\u062e",
		"Latin word with a Persian ending": "URL\u200c\u0647\u0627",
		"Hindi": "\u0915\u094d\u200d\u0937",
		"Bengali": "\u09b0\u200d\u09cd\u09af",
	}
	found_in(text) == set()
}

test_joiner_elsewhere[name] if {
	some name, text in {
		"Latin": "pass\u200dword",
		"one emoji": "\ud83d\udc69\u200d",
		"two joiners": "\ud83d\udc69\u200d\u200d\ud83d\udcbb",
	}
	listed_in(text) == "(U+200D)"
}

test_direction_mark_is_in_order_beside_its_scripts if {
	found_in("\u05d0 2.0\u200f") == set()
	found_in("\u200e(12) \u05d0") == set()
	listed_in("a\u200fb") == "(U+200F)"
	listed_in("\u05d0\udb40\udc41\u200e") == "(U+E0041, U+200E)"
}

test_byte_order_mark_at_the_start_only if {
	found_in("\ufeffusing System;") == set()
	listed_in("using\ufeff System;") == "(U+FEFF)"
}

test_allowed_is_data if {
	text := "pass\u00adword"
	count(found_in(text)) == 1
	found_in(text) == set() with data.sallyport.packs.unicode.allowed as ["U+00AD"]
	listed_in("\u00ad\u200b") == "(U+200B)" with data.sallyport.packs.unicode.allowed as ["U+00AD"]
}

test_many_allowed_ones_hide_none if {
	text := concat("", [concat("", ["\u00ad" | some _ in numbers.range(1, 100)]), "\u200b"])
	listed_in(text) == "(U+200B)" with data.sallyport.packs.unicode.allowed as ["U+00AD"]
}

test_not_silent_without_its_list[name] if {
	some name, allowed in {"a text": "U+00AD", "a number": [173], "not a code point": ["00AD"], "absent": null}
	{"path": "", "reason": "the pack unicode cannot judge: packs/unicode/allowed is not a list of code points such as \"U+00AD\""} in found_in("a\u200b") with data.sallyport.packs.unicode.allowed as allowed
}

test_strings_that_were_not_handed_over if {
	call := json.patch(fixtures.selected("unicode", {"/a": "\ufefftext"}), [{"op": "replace", "path": "/facts/selected/unicode/total", "value": 3}])
	unicode.deny == {{
		"path": "",
		"reason": "2 more strings have characters that are not seen or that reorder text; nobody looked at them",
	}} with input as call
}
