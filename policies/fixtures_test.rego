# METADATA
# scope: package
# title: Inputs for the tests of this folder
# description: Calls as the engine hands them over; tests change one member at a time.
package sallyport.fixtures_test

import rego.v2

clean := {
	"tool": "bernstein_run",
	"mode": "strict",
	"payload": {"goal": "write the release notes"},
	"facts": {
		"registered": true,
		"type": "object",
		"bytes": 34,
		"bytes_counted": true,
		"values": 2,
		"complete": true,
		"depth": 1,
		"deepest": "/goal",
		"control_characters": {"strings": [], "total": 0},
	},
}

# The clean call with JSON Patch operations "replace or add" applied: {"/facts/bytes": 1}.
with_members(members) := json.patch(clean, [{"op": "add", "path": path, "value": value} | some path, value in members])

without(paths) := json.patch(clean, [{"op": "remove", "path": path} | some path in paths])

# A payload of so many bytes that was not read.
unread(bytes) := json.remove(
	with_members({
		"/facts/bytes": bytes,
		"/facts/complete": false,
		"/facts/stop": "size",
		"/facts/depth": 0,
		"/facts/deepest": "",
	}),
	["/payload"],
)

# A payload in which the decoder met a fault.
faulty(code, path, offset) := json.remove(
	with_members({
		"/facts/complete": false,
		"/facts/stop": "fault",
		"/facts/fault": {"code": code, "path": path, "offset": offset},
	}),
	["/payload"],
)

# A payload with these strings on the list of control characters.
listed(strings) := with_members({"/facts/control_characters": {"strings": strings, "total": count(strings)}})

test_with_members_changes_one_member if {
	with_members({"/facts/bytes": 1}).facts.bytes == 1
	with_members({"/facts/bytes": 1}).payload == clean.payload
}

test_without_removes if not "facts" in object.keys(without(["/facts"]))
