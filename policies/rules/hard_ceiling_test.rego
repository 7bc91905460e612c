package sallyport.rules.hard_ceiling_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.hard_ceiling
import rego.v2

exempt_tools := {"bernstein_run": true}

deep(depth) := fixtures.with_members({"/facts/depth": depth, "/facts/deepest": "/a/b"})

test_clean_call_passes if {
	hard_ceiling.deny == set() with input as fixtures.clean
	not hard_ceiling.breached with input as fixtures.clean
}

test_at_the_ceilings_passes if {
	hard_ceiling.deny == set() with input as fixtures.with_members({"/facts/bytes": 4194304, "/facts/depth": 64})
		with data.sallyport.exemptions.allow_unsafe_args as exempt_tools
}

test_silent_where_the_limit_speaks if {
	hard_ceiling.deny == set() with input as fixtures.unread(4194305)
	hard_ceiling.breached with input as fixtures.unread(4194305)
	hard_ceiling.deny == set() with input as deep(65)
	hard_ceiling.breached with input as deep(65)
}

test_exempt_tool_over_the_size_ceiling if {
	hard_ceiling.deny == {{
		"path": "",
		"reason": "arguments have more than 4194304 bytes, which no exemption lifts",
		"halt": true,
	}} with input as fixtures.unread(4194305)
		with data.sallyport.exemptions.allow_unsafe_args as exempt_tools
}

test_exempt_tool_over_the_depth_ceiling if {
	hard_ceiling.deny == {{
		"path": "/a/b",
		"reason": "values are nested more than 64 levels deep, which no exemption lifts",
		"halt": true,
	}} with input as deep(65)
		with data.sallyport.exemptions.allow_unsafe_args as exempt_tools
}

test_too_many_values if {
	too_many := fixtures.with_members({"/facts/values": 131073, "/facts/complete": false, "/facts/stop": "values"})
	hard_ceiling.deny == {{
		"path": "",
		"reason": "arguments hold more than 131072 values, which no exemption lifts",
		"halt": true,
	}} with input as too_many
	hard_ceiling.breached with input as too_many
	hard_ceiling.deny == set() with input as fixtures.with_members({"/facts/values": 131072})
}

test_limit_above_the_ceiling if {
	count(hard_ceiling.deny) == 1 with input as fixtures.with_members({"/facts/bytes": 4194305})
		with data.sallyport.limits.max_bytes as 9000000
}
