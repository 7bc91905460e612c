package sallyport.exempt_test

import data.sallyport.exempt
import data.sallyport.fixtures_test as fixtures
import rego.v2

test_no_rule_is_off_by_default if exempt.rules == set() with input as fixtures.clean

test_unsafe_args_switch_three_rules_off if {
	exempt.rules == {"control_characters", "payload_depth", "payload_size"} with input as fixtures.clean
		with data.sallyport.exemptions.allow_unsafe_args as {"bernstein_run": true}
}

test_another_tool_is_not_exempt if {
	exempt.rules == set() with input as fixtures.clean
		with data.sallyport.exemptions.allow_unsafe_args as {"bernstein_status": true}
}

test_only_true_is_an_exemption[json.marshal(value)] if {
	some value in [false, null, "until friday", 1, {}]
	exempt.rules == set() with input as fixtures.clean
		with data.sallyport.exemptions.allow_unsafe_args as {"bernstein_run": value}
}

test_disabled_rule_is_off if {
	exempt.rules == {"role_enum"} with input as fixtures.clean
		with data.sallyport.disabled_rules as {"role_enum": "roles are free text here"}
}

test_a_rule_is_off_for_a_reason_only if {
	exempt.rules == set() with input as fixtures.clean
		with data.sallyport.disabled_rules as {"role_enum": false}
}

test_some_rules_are_always_in_force[rule] if {
	some rule in ["hard_ceiling", "inspection", "payload_shape", "unknown_tool"]
	exempt.rules == set() with input as fixtures.clean
		with data.sallyport.disabled_rules as {rule: "no reason is good enough"}
}

test_an_entry_of_the_register_waives_rules if {
	exempt.rules == {"role_enum"} with input as fixtures.clean
		with data.sallyport.exemptions.register as {"a": fixtures.waiver({})}
	exempt.rules == {"role_enum", "payload_size"} with input as fixtures.clean
		with data.sallyport.exemptions.register as {"a": fixtures.waiver({"tools": ["*"], "rules": ["role_enum", "payload_size", "inspection"]})}
}

test_an_entry_is_for_its_tools if {
	exempt.rules == set() with input as fixtures.clean
		with data.sallyport.exemptions.register as {"a": fixtures.waiver({"tools": ["bernstein_status"]})}
}

test_an_entry_ends_when_its_day_begins if {
	register := {"a": fixtures.waiver({"expires": "2026-12-31"})}
	exempt.rules == {"role_enum"} with input as fixtures.with_members({"/today": "2026-12-30"})
		with data.sallyport.exemptions.register as register
	exempt.rules == set() with input as fixtures.with_members({"/today": "2026-12-31"})
		with data.sallyport.exemptions.register as register
	exempt.of("role_enum", "/role") == set() with input as fixtures.with_members({"/today": "2026-12-31"})
		with data.sallyport.exemptions.register as {"a": fixtures.waiver({"expires": "2026-12-31", "paths": ["/role"]})}
}

test_an_entry_with_paths_is_for_them_alone if {
	register := {"a": fixtures.waiver({"paths": ["/role", "/list/*"]})}
	exempt.rules == set() with input as fixtures.clean with data.sallyport.exemptions.register as register
	exempt.of("role_enum", "/role") == {"a"} with input as fixtures.clean with data.sallyport.exemptions.register as register
	exempt.of("role_enum", "/list/3") == {"a"} with input as fixtures.clean with data.sallyport.exemptions.register as register
	exempt.of("role_enum", "/list") == set() with input as fixtures.clean with data.sallyport.exemptions.register as register
	exempt.of("payload_size", "/role") == set() with input as fixtures.clean with data.sallyport.exemptions.register as register
}

test_what_makes_a_verdict_possible_is_not_waived_at_a_path if {
	exempt.of("payload_shape", "/a") == set() with input as fixtures.clean
		with data.sallyport.exemptions.register as {"a": fixtures.waiver({"rules": ["payload_shape"], "paths": ["/a"]})}
}
