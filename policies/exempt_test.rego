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
