package sallyport.rules.inspection_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.inspection
import rego.v2

refusal(part) := {{
	"path": "",
	"reason": sprintf("the call cannot be judged: %s is missing or has the wrong type", [part]),
	"halt": true,
}}

test_sound_calls_pass[name] if {
	some name, call in {
		"clean": fixtures.clean,
		"unread": fixtures.unread(70000),
		"faulty": fixtures.faulty("syntax", "", 1),
		"array": json.remove(fixtures.with_members({"/facts/type": "array"}), ["/payload"]),
		"permissive": fixtures.with_members({"/mode": "permissive"}),
	}
	inspection.deny == set() with input as call
}

test_missing[pointer] if {
	some pointer, part in {
		"/tool": "tool",
		"/mode": "mode",
		"/today": "today",
		"/payload": "payload",
		"/facts/registered": "facts.registered",
		"/facts/type": "facts.type",
		"/facts/bytes": "facts.bytes",
		"/facts/values": "facts.values",
		"/facts/complete": "facts.complete",
		"/facts/depth": "facts.depth",
		"/facts/deepest": "facts.deepest",
		"/facts/control_characters/total": "facts.control_characters.total",
		"/facts/control_characters/strings": "facts.control_characters.strings",
		"/facts/selected": "facts.selected",
	}
	inspection.deny == refusal(part) with input as fixtures.without([pointer])
}

test_wrong_type[pointer] if {
	some pointer, part in {
		"/tool": "tool",
		"/mode": "mode",
		"/today": "today",
		"/payload": "payload",
		"/facts/registered": "facts.registered",
		"/facts/type": "facts.type",
		"/facts/bytes": "facts.bytes",
		"/facts/values": "facts.values",
		"/facts/complete": "facts.complete",
		"/facts/depth": "facts.depth",
		"/facts/deepest": "facts.deepest",
		"/facts/control_characters/total": "facts.control_characters.total",
		"/facts/control_characters/strings": "facts.control_characters.strings",
		"/facts/selected": "facts.selected",
	}
	inspection.deny == refusal(part) with input as fixtures.with_members({pointer: [null][0]})
}

test_stop_says_why if {
	inspection.deny == refusal("facts.stop") with input as json.remove(fixtures.unread(70000), ["/facts/stop"])
}

test_fault_is_described[member] if {
	some member in ["code", "path", "offset"]
	call := json.remove(fixtures.faulty("syntax", "/a", 3), [concat("/", ["", "facts", "fault", member])])
	inspection.deny == refusal("facts.stop") with input as call
}

test_parts_are_never_empty if {
	inspection.deny == refusal("a fact or a limit") with input as fixtures.clean with inspection.sound as false
}

test_facts_missing_altogether if count(inspection.deny) > 5 with input as fixtures.without(["/facts"])

test_everything_missing if count(inspection.deny) > 5 with input as {}

# A mock replaces the whole limit, so each case says its own.
test_limit_missing if {
	clean := fixtures.clean
	inspection.deny == refusal("limits.max_bytes") with input as clean with data.sallyport.limits.max_bytes as null
	inspection.deny == refusal("limits.max_depth") with input as clean with data.sallyport.limits.max_depth as "10"
	inspection.deny == refusal("limits.allowed_control_characters") with input as clean
		with data.sallyport.limits.allowed_control_characters as null
	inspection.deny == refusal("reading.ceiling_bytes") with input as clean
		with data.sallyport.reading.ceiling_bytes as null
	inspection.deny == refusal("reading.ceiling_depth") with input as clean
		with data.sallyport.reading.ceiling_depth as null
	inspection.deny == refusal("reading.ceiling_values") with input as clean
		with data.sallyport.reading.ceiling_values as null
	inspection.deny == refusal("known_roles") with input as clean with data.sallyport.known_roles as {}
}

test_limits_missing_altogether if {
	limits := {"max_bytes": "limits.max_bytes", "max_depth": "limits.max_depth"}
	every _, part in limits {
		refusal(part) - inspection.deny == set() with input as fixtures.clean with data.sallyport.limits as {}
	}
}
