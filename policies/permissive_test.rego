package sallyport.permissive_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.permissive
import rego.v2

in_permissive_mode(call) := json.patch(call, [{"op": "add", "path": "/mode", "value": "permissive"}])

test_strict_refuses if permissive.on_rejection == "refuse" with input as fixtures.clean

test_permissive_bypasses[name] if {
	some name, call in {
		"unknown tool": fixtures.with_members({"/facts/registered": false}),
		"not an object": fixtures.with_members({"/facts/type": "number"}),
		"malformed": fixtures.faulty("duplicate_key", "/a", 9),
		"over the limits": fixtures.with_members({"/facts/bytes": 4194304, "/facts/depth": 64}),
	}
	permissive.on_rejection == "bypass" with input as in_permissive_mode(call)
}

test_permissive_still_refuses[name] if {
	some name, call in {
		"over the size ceiling": fixtures.unread(4194305),
		"over the depth ceiling": fixtures.with_members({"/facts/depth": 65}),
		"missing fact": fixtures.without(["/facts/bytes"]),
		"not read to its end": fixtures.with_members({"/facts/complete": false, "/facts/stop": "size"}),
	}
	permissive.on_rejection == "refuse" with input as in_permissive_mode(call)
}

test_another_word_is_strict if {
	permissive.on_rejection == "refuse" with input as fixtures.with_members({"/mode": "Permissive"})
}

test_missing_mode_is_strict if permissive.on_rejection == "refuse" with input as fixtures.without(["/mode"])

until(members) := {"a": fixtures.waiver(members)}

test_strict_refuses_what_the_schema_rejects if permissive.on_schema_rejection == "refuse" with input as fixtures.clean

test_permissive_bypasses_the_schema if permissive.on_schema_rejection == "bypass" with input as in_permissive_mode(fixtures.clean)

test_permissive_until_is_for_some_rules if {
	bad_role := json.patch(fixtures.with_members({"/tool": "bernstein_create_subtask"}), [{"op": "add", "path": "/payload/role", "value": "poet"}])
	entry := until({"tools": ["bernstein_create_subtask"]})
	permissive.on_rejection == "bypass" with input as bad_role with data.sallyport.permissive_until as entry
	permissive.on_schema_rejection == "refuse" with input as bad_role with data.sallyport.permissive_until as entry
	deep := json.patch(bad_role, [{"op": "add", "path": "/facts/depth", "value": 11}])
	permissive.on_rejection == "refuse" with input as deep with data.sallyport.permissive_until as entry
}

test_permissive_until_is_for_some_tools if {
	permissive.on_rejection == "refuse" with input as fixtures.with_members({"/facts/depth": 11})
		with data.sallyport.permissive_until as until({"tools": ["other"], "rules": ["*"]})
}

test_permissive_until_for_everything if {
	deep := fixtures.with_members({"/facts/depth": 11})
	permissive.on_rejection == "bypass" with input as deep with data.sallyport.permissive_until as until({"rules": ["*"]})
	permissive.on_schema_rejection == "bypass" with input as deep with data.sallyport.permissive_until as until({"rules": ["*"]})
}

test_permissive_until_for_the_schema if {
	permissive.on_schema_rejection == "bypass" with input as fixtures.clean
		with data.sallyport.permissive_until as until({"rules": ["schema"]})
}

test_permissive_until_ends if {
	permissive.on_schema_rejection == "refuse" with input as fixtures.with_members({"/today": "2026-12-05"})
		with data.sallyport.permissive_until as until({"rules": ["*"]})
}

test_permissive_until_never_lifts_ceilings if {
	permissive.on_rejection == "refuse" with input as fixtures.unread(4194305)
		with data.sallyport.permissive_until as until({"rules": ["*"]})
	permissive.on_schema_rejection == "refuse" with input as fixtures.with_members({"/facts/depth": 65})
		with data.sallyport.permissive_until as until({"rules": ["*"]})
}
