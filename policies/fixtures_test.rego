# METADATA
# scope: package
# title: Inputs for the tests of this folder
# description: Calls as the engine hands them over; tests change one member at a time.
package sallyport.fixtures_test

import rego.v2

clean := {
	"tool": "bernstein_run",
	"mode": "strict",
	"today": "2026-12-04",
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
		"selected": {},
	},
}

# The clean call with JSON Patch operations "replace or add" applied: {"/facts/bytes": 1}.
with_members(members) := json.patch(clean, [{"op": "add", "path": path, "value": value} | some path, value in members])

without(paths) := json.patch(clean, [{"op": "remove", "path": path} | some path in paths])

# An entry of a register that is in force for the clean call, with members replaced.
waiver(members) := object.union(
	{
		"tools": ["bernstein_run"],
		"rules": ["role_enum"],
		"owner": "security@example.com",
		"reason": "a test",
		"expires": "2026-12-05",
	},
	members,
)

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

# A call with these strings among the values that a rule asked for, by path.
selected(rule, texts) := with_members({"/facts/selected": {rule: {
	"strings": [{"path": path, "in": "value", "text": text} | some path, text in texts],
	"total": count(texts),
}}})

# And among the keys.
selected_keys(rule, texts) := with_members({"/facts/selected": {rule: {
	"strings": [{"path": path, "in": "key", "text": text} | some path, text in texts],
	"total": count(texts),
}}})

test_with_members_changes_one_member if {
	with_members({"/facts/bytes": 1}).facts.bytes == 1
	with_members({"/facts/bytes": 1}).payload == clean.payload
}

test_without_removes if not "facts" in object.keys(without(["/facts"]))

test_selected_are_values_or_keys if {
	selected("x", {"/a": "b"}).facts.selected == {"x": {"strings": [{"path": "/a", "in": "value", "text": "b"}], "total": 1}}
	selected_keys("x", {"/a": "a"}).facts.selected == {"x": {"strings": [{"path": "/a", "in": "key", "text": "a"}], "total": 1}}
}
