package sallyport.permissive_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.permissive
import rego.v2

in_permissive_mode(call) := json.patch(call, [{"op": "add", "path": "/mode", "value": "permissive"}])

test_strict_refuses if permissive.on_rejection == "refuse" with input as fixtures.clean

test_permissive_bypasses[name] if {
	some name, call in {
		"clean": fixtures.clean,
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
