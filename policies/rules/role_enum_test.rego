package sallyport.rules.role_enum_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.role_enum
import rego.v2

subtask(role) := fixtures.with_members({
	"/tool": "bernstein_create_subtask",
	"/payload": {"parent_task_id": "t-1", "goal": "check the diff", "role": role},
})

reason_for(role) := reason if {
	some violation in role_enum.deny with input as subtask(role)
	violation.path == "/role"
	violation.keyword == "enum"
	reason := violation.reason
}

test_each_known_role_passes if {
	every role in data.sallyport.known_roles {
		role_enum.deny == set() with input as subtask(role)
	}
}

test_role_may_be_absent if {
	role_enum.deny == set() with input as fixtures.with_members({"/tool": "bernstein_create_subtask"})
}

test_other_tools_may_have_any_role if {
	role_enum.deny == set() with input as fixtures.with_members({"/payload": {"goal": "x", "role": "poet"}})
}

test_unread_payload_is_not_its_business if {
	role_enum.deny == set() with input as json.patch(
		fixtures.unread(70000),
		[{"op": "add", "path": "/tool", "value": "bernstein_create_subtask"}],
	)
}

test_reason[name] if {
	some name, case in {
		"plain": {"role": "poet", "shown": `"poet"`},
		"other case": {"role": "Backend", "shown": `"Backend"`},
		"trailing line feed": {"role": "backend\n", "shown": `"backend\n"`},
		"invisible characters": {"role": "qa\u202e\u001b[2J", "shown": `"qa\u202e\x1b[2J"`},
		"62 characters": {"role": repeat("a", 62), "shown": sprintf(`"%s"`, [repeat("a", 62)])},
		"63 characters": {"role": repeat("a", 63), "shown": sprintf(`"%s..."`, [repeat("a", 59)])},
		"null": {"role": null, "shown": "a value of type null"},
		"object": {"role": {"qa": true}, "shown": "a value of type object"},
	}
	reason_for(case.role) == sprintf("%s is not one of %s", [case.shown, concat(", ", data.sallyport.known_roles)])
}

repeat(text, times) := concat("", [text | some _ in numbers.range(1, times)])

test_reason_fits_in_its_limit if {
	count(reason_for(repeat("a", 500))) <= data.sallyport.answer.max_reason_bytes
}

test_roles_are_data if {
	role_enum.deny == set() with input as subtask("poet") with data.sallyport.known_roles as ["poet"]
}
