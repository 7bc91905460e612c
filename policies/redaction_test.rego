package sallyport.redaction_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.redaction
import rego.v2

_call(payload) := fixtures.with_members({"/payload": payload})

_masked(payload, wanted) if redaction.kept == {"masked": wanted, "left_out": ""} with input as _call(payload)

test_nothing_to_mask if _masked({"goal": "write", "n": [1, {"a": null}]}, set())

test_all_strings_are_looked_at if {
	redaction.reading == {"max_bytes": 65536, "selection": redaction.selection}
	redaction.selection.attach == {"*": ["/**"]}
	redaction.selection.keys == true
	"ghp_" in redaction.selection.contains
}

# In pieces, so that scanners of repositories stay silent.
_token := concat("", ["gh", "p_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"])

test_key_material if {
	call := fixtures.selected("secrets", {"/a/0": _token, "/b": "ghp_ is how they start"})
	redaction.masked == {"/a/0"} with input as call
}

test_key_material_of_formats_that_are_off if {
	call := fixtures.selected("secrets", {"/a": _token})
	redaction.masked == {"/a"} with input as call
		with data.sallyport.packs.secrets.off as ["github-token"]
}

test_key_material_in_a_key_masks_its_object if {
	call := fixtures.selected_keys("secrets", {"/a/b": _token})
	redaction.masked == {"/a"} with input as call
}

test_names_of_secrets[name] if {
	some name in ["password", "db_password", "apiKey", "API-KEY", "x.auth.token", "Client Secret", "Authorization"]
	pointer := concat("", ["/", name])
	_masked({name: 1}, {pointer})
}

test_other_names[name] if {
	some name in ["passwords_changed", "max_tokens", "keyboard", "tokens", "secretary", ""]
	_masked({name: 1}, set())
}

test_below_others if {
	_masked({"a/b": [{"~": {"token": "t"}}, {"token": {"c": 1}}]}, {"/a~1b/0/~0/token", "/a~1b/1/token"})
}

test_json_in_strings[text] if {
	some text, wanted in {
		`{"token": 1}`: {"/a"},
		` [{"b": {"api_key": ""}}]`: {"/a"},
		`{"goal": "token"}`: set(),
		`{"token": `: set(),
		`token`: set(),
		`"token"`: set(),
	}
	_masked({"a": text}, wanted)
}

test_places_that_the_data_names if {
	places := {"*": ["/**/pin"], "bernstein_run": ["/notes/*"], "other": ["/goal"]}
	payload := {"goal": "g", "notes": ["a", "b"], "x": {"pin": 1}}
	redaction.masked == {"/notes/0", "/notes/1", "/x/pin"} with input as _call(payload)
		with data.sallyport.record.masked as places
}

test_a_whole_payload if {
	redaction.masked == {""} with input as _call({"goal": "g"})
		with data.sallyport.record.masked as {"bernstein_run": [""]}
}

test_too_long if {
	call := fixtures.with_members({"/facts/bytes": 65537})
	redaction.kept.left_out == "the arguments have more than 65536 bytes" with input as call
	unread := "the arguments have more than 65536 bytes"
	redaction.kept.left_out == unread with input as fixtures.unread(70000)
	at_limit := fixtures.with_members({"/facts/bytes": 65536})
	redaction.kept.left_out == "" with input as at_limit
}

test_no_object if {
	redaction.kept.left_out == "the arguments are not one JSON object" with input as fixtures.faulty("syntax", "", 1)
}
