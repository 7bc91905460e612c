package sallyport.rules.control_characters_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.control_characters
import rego.v2

found(place, code_points, number) := {"path": "/goal", "in": place, "code_points": code_points, "count": number}

test_no_control_character_passes if control_characters.deny == set() with input as fixtures.clean

test_refused[name] if {
	some name, case in {
		"one in a value": {
			"fact": found("value", [27], 1),
			"reason": "the string has 1 forbidden control character: U+001B",
		},
		"several in a key": {
			"fact": found("key", [0, 127, 155], 5),
			"reason": "the key has 5 forbidden control characters: U+0000, U+007F, U+009B",
		},
		"as many as are shown": {
			"fact": found("value", numbers.range(0, 7), 8),
			"reason": concat("", [
				"the string has 8 forbidden control characters: ",
				"U+0000, U+0001, U+0002, U+0003, U+0004, U+0005, U+0006, U+0007",
			]),
		},
		"more than are shown": {
			"fact": found("value", array.concat(numbers.range(0, 8), [11]), 99),
			"reason": concat("", [
				"the string has 99 forbidden control characters: ",
				"U+0000, U+0001, U+0002, U+0003, U+0004, U+0005, U+0006, U+0007 and 2 more",
			]),
		},
	}
	control_characters.deny == {{"path": "/goal", "reason": case.reason}} with input as fixtures.listed([case.fact])
}

test_one_violation_for_each_string if {
	strings := [found("value", [27], 1), found("key", [27], 1), {"path": "/x", "in": "value", "code_points": [7], "count": 1}]
	count(control_characters.deny) == 3 with input as fixtures.listed(strings)
}

test_allowed_characters_pass if {
	control_characters.deny == set() with input as fixtures.listed([found("value", [9, 10, 13], 3)])
}

test_forbidden_set_is_c0_del_c1_without_the_allowed if {
	count(control_characters.forbidden_code_points) == 62
	{9, 10, 13, 32, 126, 160} & control_characters.forbidden_code_points == set()
	{0, 8, 11, 12, 14, 31, 127, 128, 133, 159} - control_characters.forbidden_code_points == set()
}

test_allowed_list_is_data if {
	10 in control_characters.forbidden_code_points with data.sallyport.limits.allowed_control_characters as []
}

test_unlisted_counts_what_the_list_left_out if {
	call := fixtures.with_members({"/facts/control_characters": {"strings": [found("value", [27], 1)], "total": 41}})
	control_characters.unlisted == 40 with input as call
}
