package sallyport.main_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.main
import rego.v2

rules_of(verdict) := {violation.rule | some violation in verdict.violations}

breaks_everything := json.patch(fixtures.unread(70000), [
	{"op": "add", "path": "/facts/registered", "value": false},
	{"op": "add", "path": "/facts/type", "value": "array"},
	{"op": "add", "path": "/facts/depth", "value": 11},
])

test_clean_call if {
	main.verdict == {
		"violations": set(),
		"omitted": 0,
		"halt": false,
		"code": -32602,
		"on_rejection": "refuse",
		"on_schema_rejection": "refuse",
		"exempted": set(),
	} with input as fixtures.clean
}

test_unknown_tool_stops_first if {
	verdict := main.verdict with input as breaks_everything
	verdict.violations == {{
		"rule": "unknown_tool",
		"path": "",
		"reason": "no schema is registered for a tool of this name",
		"code": -32601,
		"halt": true,
	}}
	verdict.code == -32601
	verdict.halt == true
}

test_shape_stops_second if {
	call := json.patch(breaks_everything, [{"op": "add", "path": "/facts/registered", "value": true}])
	verdict := main.verdict with input as call
	rules_of(verdict) == {"payload_shape"}
	verdict.code == -32602
}

test_missing_fact_stops_before_all if {
	verdict := main.verdict with input as json.remove(breaks_everything, ["/facts/bytes"])
	rules_of(verdict) == {"inspection"}
	verdict.halt == true
}

test_halting_rules_are_reported_together if {
	call := fixtures.with_members({
		"/facts/depth": 11,
		"/facts/control_characters": {
			"strings": [{"path": "/a", "in": "value", "code_points": [27], "count": 1}],
			"total": 3,
		},
	})
	verdict := main.verdict with input as call
	rules_of(verdict) == {"control_characters", "payload_depth"}
	verdict.halt == true
	verdict.omitted == 2
}

test_control_characters_do_not_halt if {
	call := fixtures.listed([{"path": "/a", "in": "value", "code_points": [27], "count": 1}])
	verdict := main.verdict with input as call
	rules_of(verdict) == {"control_characters"}
	verdict.halt == false
	verdict.omitted == 0
}

test_exempt_tool_skips_raw_content_rules if {
	call := fixtures.with_members({"/facts/bytes": 70000, "/facts/depth": 11})
	verdict := main.verdict with input as call
		with data.sallyport.exemptions.allow_unsafe_args as {"bernstein_run": true}
	verdict.violations == set()
	verdict.exempted == {
		{"rule": "payload_depth", "path": "/goal", "by": "exemptions/allow_unsafe_args"},
		{"rule": "payload_size", "path": "", "by": "exemptions/allow_unsafe_args"},
	}
}

test_a_path_is_exempt_and_others_are_not if {
	call := fixtures.listed([
		{"path": "/notes/0/body", "in": "value", "code_points": [27], "count": 1},
		{"path": "/title", "in": "value", "code_points": [27], "count": 1},
	])
	verdict := main.verdict with input as call
		with data.sallyport.exemptions.register as {"notes": fixtures.waiver({
			"rules": ["control_characters"],
			"paths": ["/notes/*/body"],
		})}
	{violation.path | some violation in verdict.violations} == {"/title"}
	verdict.exempted == {{"rule": "control_characters", "path": "/notes/0/body", "by": "notes"}}
}

test_a_finding_without_a_path_is_not_exempt if {
	verdict := main.verdict with input as fixtures.clean
		with data.sallyport.rules.role_enum.deny as {{"reason": "x"}}
		with data.sallyport.disabled_rules as {"role_enum": "why"}
	verdict.violations == {{"rule": "role_enum", "reason": "x"}}
}

test_payload_not_read_to_its_end if {
	call := fixtures.with_members({"/facts/complete": false, "/facts/stop": "size"})
	verdict := main.verdict with input as call
	verdict.violations == {{
		"rule": "inspection",
		"path": "",
		"reason": "the call cannot be judged: the payload was not read to its end",
		"halt": true,
	}}
}

test_a_rule_cannot_take_another_name if {
	verdict := main.verdict with input as fixtures.clean
		with data.sallyport.rules.role_enum.deny as {{"path": "", "reason": "x", "rule": "inspection"}}
	rules_of(verdict) == {"role_enum"}
}

test_reading_has_every_member if {
	main.reading.max_bytes == 65536
	main.reading.max_depth == 10
	main.reading.ceiling_bytes == 4194304
	main.reading.ceiling_depth == 64
	main.reading.max_number_length == 64
	main.reading.max_exponent == 308
	main.reading.max_listed_strings == 32
	main.reading.max_violations == 100
	main.reading.max_reason_bytes == 256
	main.reading.max_path_bytes == 512
	main.reading.max_tool_name_bytes == 128
	count(main.reading.watched_code_points) == 62
	main.reading.enum_bindings.bernstein_create_subtask.role == data.sallyport.known_roles
	main.reading.disabled_rules == {}
	main.reading.faults == set()
	main.reading.named_rules == set()
	main.reading.waivers == {"exemptions/register": {}, "permissive_until": {}}
	not "role_enum" in object.keys(main.reading.selections)
	main.reading.max_selected_strings == 1000
	"inspection" in main.reading.always_in_force
}

test_disabled_rules_are_told if {
	main.reading.disabled_rules == {"role_enum": "x"} with data.sallyport.disabled_rules as {"role_enum": "x"}
}

test_reading_is_undefined_without_a_limit if not main.reading with data.sallyport.limits as {}

test_reading_stops_at_the_limit if main.read_bytes == 65536 with input as fixtures.clean

test_reading_goes_to_the_ceiling_where_size_does_not_refuse if {
	main.read_bytes == 4194304 with input as fixtures.with_members({"/mode": "permissive"})
	main.read_bytes == 4194304 with input as fixtures.clean
		with data.sallyport.exemptions.allow_unsafe_args as {"bernstein_run": true}
}

test_reading_goes_to_the_limit_of_the_tool if {
	own := {"bernstein_run": {"max_bytes": 90000}}
	main.read_bytes == 90000 with input as fixtures.clean with data.sallyport.limits.tools as own
	main.read_bytes == 65536 with input as fixtures.with_members({"/tool": "other"}) with data.sallyport.limits.tools as own
}

test_selections_are_told if {
	main.reading.selections.role_enum == {"attach": {"*": ["/**"]}}
		with data.sallyport.rules.role_enum.selection as {"attach": {"*": ["/**"]}}
}

test_reading_never_goes_past_the_ceiling if {
	main.read_bytes == 4194304 with input as fixtures.clean with data.sallyport.limits.max_bytes as 9000000
}
