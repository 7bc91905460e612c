package sallyport.rules.payload_depth_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.payload_depth
import rego.v2

test_at_the_limit_passes if payload_depth.deny == set() with input as fixtures.with_members({"/facts/depth": 10})

test_one_level_over if {
	payload_depth.deny == {{
		"path": "/a/a/a/a/a/a/a/a/a/a/0",
		"reason": "values are nested 11 levels deep but at most 10 are allowed",
		"halt": true,
	}} with input as fixtures.with_members({"/facts/depth": 11, "/facts/deepest": "/a/a/a/a/a/a/a/a/a/a/0"})
}

test_limit_is_data if {
	payload_depth.deny == {{
		"path": "/goal",
		"reason": "values are nested 1 levels deep but at most 0 are allowed",
		"halt": true,
	}} with input as fixtures.clean with data.sallyport.limits.max_depth as 0
}

test_the_tool_has_its_own_limit if {
	higher := {"bernstein_run": {"max_depth": 12}}
	lower := {"bernstein_run": {"max_depth": 5}}
	payload_depth.deny == set() with input as fixtures.with_members({"/facts/depth": 12}) with data.sallyport.limits.tools as higher
	count(payload_depth.deny) == 1 with input as fixtures.with_members({"/facts/depth": 13}) with data.sallyport.limits.tools as higher
	count(payload_depth.deny) == 1 with input as fixtures.with_members({"/facts/depth": 6}) with data.sallyport.limits.tools as lower
	payload_depth.deny == set() with input as fixtures.with_members({"/facts/depth": 6, "/tool": "other"}) with data.sallyport.limits.tools as lower
}
