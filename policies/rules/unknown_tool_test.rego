package sallyport.rules.unknown_tool_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.unknown_tool
import rego.v2

nameless := "the tool name is missing, empty or not a string"

unregistered := "no schema is registered for a tool of this name"

test_registered_tool_passes if unknown_tool.deny == set() with input as fixtures.clean

test_refused[name] if {
	some name, case in {
		"unregistered name": {"call": fixtures.with_members({"/facts/registered": false}), "reason": unregistered},
		"registration unknown": {"call": fixtures.without(["/facts/registered"]), "reason": unregistered},
		"registration not a boolean": {"call": fixtures.with_members({"/facts/registered": "yes"}), "reason": unregistered},
		"empty name": {"call": fixtures.with_members({"/tool": "", "/facts/registered": false}), "reason": nameless},
		"name is a number": {"call": fixtures.with_members({"/tool": 7, "/facts/registered": false}), "reason": nameless},
		"name missing": {"call": json.remove(fixtures.without(["/facts/registered"]), ["/tool"]), "reason": nameless},
	}
	unknown_tool.deny == {{"path": "", "reason": case.reason, "code": -32601, "halt": true}} with input as case.call
}
