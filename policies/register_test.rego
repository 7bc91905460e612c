package sallyport.register_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.register
import rego.v2

test_matches[pattern] if {
	some pattern, path in {
		"": "",
		"/a": "/a",
		"/a.b": "/a.b",
		"/a~1b": "/a~1b",
		"/*": "/a",
		"/a/*/c": "/a/b/c",
		"/**": "/a/b/c",
		"/**/c": "/c",
		"/a/**/c": "/a/b/b/c",
		"/a/**": "/a",
		"/(x)[0]{1}+?^$|": "/(x)[0]{1}+?^$|",
		"/a/*": "/a/\n",
		`/\d`: `/\d`,
	}
	register.matches(pattern, path)
}

test_does_not_match[sprintf("%s %s", [pattern, path])] if {
	some pattern, paths in {
		"": ["/", "/a"],
		"/a": ["", "/", "/A", "/a/b", "/ab"],
		"/a.b": ["/axb"],
		"/*": ["", "/a/b"],
		"/**/c": ["/a", "/c/d", "/cc"],
		`/\d`: ["/1"],
		"/***": ["/a"],
	}
	some path in paths
	not register.matches(pattern, path)
}

test_a_sound_entry if {
	register.faults(fixtures.waiver({})) == set()
	register.faults(fixtures.waiver({"paths": ["", "/a/*"]})) == set()
}

test_no_object if register.faults("yes") == {": is not an object"}

test_faults[json.marshal(members)] if {
	some members, start in {
		{"owner": " "}: "/owner: ",
		{"owner": 1}: "/owner: ",
		{"reason": ""}: "/reason: ",
		{"tools": []}: "/tools: ",
		{"tools": "*"}: "/tools: ",
		{"tools": [""]}: "/tools: ",
		{"rules": {"a": true}}: "/rules: ",
		{"paths": []}: "/paths: ",
		{"paths": ["a"]}: "/paths: ",
		{"paths": [1]}: "/paths: ",
		{"expires": "31.12.2026"}: "/expires: ",
		{"expires": "2026-13-01"}: "/expires: ",
		{"expires": "2026-12-31T00:00:00Z"}: "/expires: ",
		{"expires": 20261231}: "/expires: ",
		{"until": "2026-12-31"}: "/until: there is no such member",
	}
	some fault in register.faults(fixtures.waiver(members))
	startswith(fault, start)
}

test_each_member_is_wanted[member] if {
	some member in ["owner", "reason", "tools", "rules", "expires"]
	some fault in register.faults(object.remove(fixtures.waiver({}), [member]))
	startswith(fault, concat("", ["/", member, ": "]))
}
