package sallyport.load_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.load
import rego.v2

test_shipped_data_is_sound if load.faults == set()

test_sound_entries if {
	load.faults == set() with data.sallyport.exemptions.register as {"a": fixtures.waiver({"paths": ["/a"]})}
		with data.sallyport.permissive_until as {"b": fixtures.waiver({"rules": ["*", "schema"]})}
		with data.sallyport.limits.tools as {"t": {"max_bytes": 1, "max_depth": 64}, "u": {}}
}

test_faults_say_where if {
	load.faults == {"exemptions/register/a/owner: say who answers for it"}
		with data.sallyport.exemptions.register as {"a": fixtures.waiver({"owner": ""})}
	load.faults == {"permissive_until/b: is not an object"} with data.sallyport.permissive_until as {"b": 1}
}

test_some_rules_cannot_be_waived if {
	load.faults == {"exemptions/register/a/rules: hard_ceiling cannot be waived"}
		with data.sallyport.exemptions.register as {"a": fixtures.waiver({"rules": ["hard_ceiling"]})}
}

test_permissive_until_has_no_paths if {
	load.faults == {"permissive_until/a/paths: it holds for whole calls; leave it out"}
		with data.sallyport.permissive_until as {"a": fixtures.waiver({"paths": ["/a"]})}
}

test_limits_of_tools[json.marshal(own)] if {
	some own in [{"max_bytes": "70000"}, {"max_byte": 70000}, {"max_depth": 0}, {"max_depth": 2.5}, {"max_bytes": -1}, "none"]
	count(load.faults) == 1 with data.sallyport.limits.tools as {"t": own}
}

test_packs_are_on_or_off_and_look_somewhere if {
	pack := {"on": true, "attach": {"*": ["/url"], "fetch": []}}
	load.faults == set() with data.sallyport.packs as {"p": pack, "q": {"on": false, "attach": {}}}
	some_fault(object.union(pack, {"on": "yes"}), "packs/p/on: is neither true nor false")
	some_fault({"attach": {"*": ["/url"]}}, "packs/p/on: is neither true nor false")
	some_fault({"on": true, "attach": {"*": []}}, "packs/p/attach: the pack is on, but there is no place for it to look at")
}

test_attach_is_by_tool[json.marshal(attach)] if {
	some attach in [["/url"], {"fetch": "/url"}, {"fetch": [1]}]
	wanted := "packs/p/attach: is not an object that gives each tool, or \"*\", a list of pointer patterns"
	some_fault({"on": true, "attach": attach}, wanted)
}

some_fault(pack, wanted) if load.faults == {wanted} with data.sallyport.packs as {"p": pack}

test_what_records_hold[name] if {
	some name, case in {
		"bytes": [{"max_bytes": "1"}, "record/max_bytes: is not a whole number above 0"],
		"no list": [{"secret_members": {}}, _words],
		"no texts": [{"secret_members": [1]}, _words],
		"capitals": [{"secret_members": ["apiKey"]}, _words],
		"no text": [{"secret_members": [""]}, _words],
		"no object": [{"masked": []}, _masked],
		"no pointer": [{"masked": {"t": ["a"]}}, _masked],
	}
	[own, wanted] := case
	record := object.union(data.sallyport.record, own)
	load.faults == {wanted} with data.sallyport.record as record
}

test_places_of_records if {
	load.faults == set() with data.sallyport.record.masked as {"*": ["/**/pin"], "t": ["", "/a~1b"]}
}

_words := "record/secret_members: is not a list of texts of small letters and digits only"

_masked := "record/masked: is not an object that gives each tool, or \"*\", a list of pointer patterns"

test_named_rules if {
	load.named == {
		{"where": "exemptions/register/a/rules", "rule": "schema"},
		{"where": "permissive_until/b/rules", "rule": "role_enum"},
	} with data.sallyport.exemptions.register as {"a": fixtures.waiver({"rules": ["schema"]})}
		with data.sallyport.permissive_until as {"b": fixtures.waiver({"rules": ["*", "schema", "role_enum"]})}
}
