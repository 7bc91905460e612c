package sallyport.rules.payload_size_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.payload_size
import rego.v2

test_at_the_limit_passes if payload_size.deny == set() with input as fixtures.with_members({"/facts/bytes": 65536})

test_one_byte_over if {
	payload_size.deny == {{
		"path": "",
		"reason": "arguments have 65537 bytes but at most 65536 are allowed",
		"halt": true,
	}} with input as fixtures.unread(65537)
}

test_size_not_counted_to_the_end if {
	call := json.patch(fixtures.unread(65537), [{"op": "add", "path": "/facts/bytes_counted", "value": false}])
	payload_size.deny == {{
		"path": "",
		"reason": "arguments have at least 65537 bytes but at most 65536 are allowed",
		"halt": true,
	}} with input as call
}

test_limit_is_data if {
	payload_size.deny == {{
		"path": "",
		"reason": "arguments have 34 bytes but at most 33 are allowed",
		"halt": true,
	}} with input as fixtures.clean with data.sallyport.limits.max_bytes as 33
}

test_the_tool_has_its_own_limit if {
	higher := {"bernstein_run": {"max_bytes": 90000}}
	lower := {"bernstein_run": {"max_bytes": 5}}
	payload_size.deny == set() with input as fixtures.with_members({"/facts/bytes": 90000}) with data.sallyport.limits.tools as higher
	count(payload_size.deny) == 1 with input as fixtures.with_members({"/facts/bytes": 90001}) with data.sallyport.limits.tools as higher
	count(payload_size.deny) == 1 with input as fixtures.with_members({"/facts/bytes": 6}) with data.sallyport.limits.tools as lower
	payload_size.deny == set() with input as fixtures.with_members({"/facts/bytes": 6, "/tool": "other"}) with data.sallyport.limits.tools as lower
}
