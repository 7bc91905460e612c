package sallyport.rules.secrets_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.rules.secrets
import rego.v2

# No token stands in this file as one text, so that scanners of repositories stay silent.
_joined(parts) := concat("", parts)

_github := _joined(["gh", "p_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"])

_aws := _joined(["AK", "IA", "Q3EGRIFNRZ5VYT2P"])

_jwt_header(text) := base64url.encode_no_pad(text)

_jwt(header) := concat(".", [_jwt_header(header), _jwt_header(`{"sub":"svc","n":1}`), "c2lnbmF0dXJlIG9mIHRoaXJ0eSBieXRlcyBhbmQgbW9yZQ"])

_refused(text) if {
	denied := secrets.deny with input as fixtures.selected("secrets", {"/a": text})
	count(denied) == 1
	some finding in denied
	finding.path == "/a"
	not contains(finding.reason, text)
	count(finding.reason) <= 256
}

_passes(text) if secrets.deny == set() with input as fixtures.selected("secrets", {"/a": text})

test_off_by_default if not secrets.selection

test_asks_for_values_and_keys_with_a_text_of_a_format if {
	selection := secrets.selection with data.sallyport.packs.secrets.on as true
	selection.attach == {"*": ["/**"]}
	selection.keys == true
	"ghp_" in selection.contains
	not "" in selection.contains
}

test_asks_for_everything_where_its_data_is_not_sound if {
	selection := secrets.selection with data.sallyport.packs.secrets.on as true
		with data.sallyport.packs.secrets.formats as []
	selection.contains == []
}

test_nothing_selected_passes if secrets.deny == set() with input as fixtures.clean

test_reason_names_the_format_and_what_to_do if {
	reason := concat("", [
		"holds what looks like key material: GitHub token (github-token). ",
		"Do not send it; name the variable or the vault entry that has it, and let the tool read it there",
	])
	secrets.deny == {{"path": "/a", "reason": reason}} with input as fixtures.selected("secrets", {"/a": _github})
}

test_refused[name] if {
	some name, text in {
		"token": _github,
		"token in a text": sprintf("use %s for it", [_github]),
		"token behind other letters": concat("", ["prefix", _github, "suffix"]),
		"refresh token, seventy characters": _joined([
			"gh", "r_", "xgrrGzSbbGRL34Wp39JU9nxtN27Pr1v1He8F", "jE7x7wbExGGs7nfJszJDAmZuoKasxZ0KxJ1HSzgc",
		]),
		"fine-grained token": _joined([
			"github", "_pat_", "11AAYCBDQ0tjwxY3uiVv5v", "_",
			"lo8vfONwp06Vaq9ORB7pSxWM1UT5wSEuqxoxNv15mbA", "JTNMO62S", "deYHLyzV",
		]),
		"npm token": _joined(["np", "m_", "qkJaB6MffYVzZXWqmcoF49yrUxP3wf", "0LsakP"]),
		"id of an AWS key": _aws,
		"web token": _jwt(`{"alg":"HS256"}`),
		"password in a URL": _joined(["postgres:", "//app:Zk83", "hdK2@db.internal/prod"]),
	}
	_refused(text)
}

test_passes[name] if {
	some name, text in {
		"checksum is wrong": _joined(["gh", "p_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkK", "0mLq17"]),
		"checksum of a fine-grained token is wrong": _joined([
			"github", "_pat_", "11AAYCBDQ0tjwxY3uiVv5v", "_",
			"lo8vfONwp06Vaq9ORB7pSxWM1UT5wSEuqxoxNv15mbB", "JTNMO62S", "deYHLyzV",
		]),
		"one character all the way": _joined(["AK", "IA", "QQQQQQQQQQQQQQQQ"]),
		"a word of an example": _joined(["AK", "IA", "IOSFODNN7EXAMPLE"]),
		"letters in front": _joined(["X", _aws]),
		"not what the format needs": _joined(["glagent", "-", "configuration-for-everyone"]),
		"passes by the format": _joined(["postgres:", "//app:password", "@db.internal/prod"]),
		"unsigned web token": _jwt(`{"alg":"None"}`),
		"header without an algorithm": _jwt(`{"typ":"JWT"}`),
		"algorithm that is no text": _jwt(`{"alg":12345}`),
		"header that is not JSON": _jwt(`{"alg":"HS256"`),
		"header that is no object": _jwt(`{"a [1,2,3,4,5]`),
		"header of a length that base64 cannot have": _joined(["ey", "JhbGciOiJIUzI1NiJ9abcde", ".", "eyJzdWIiOiJ4In0aaa", ".c2lnbmF0dXJlIG9mIHRoaXJ0eSBieXRlcw"]),
	}
	_passes(text)
}

test_one_finding_for_several_secrets_in_a_string if _refused(concat(" ", [_github, _aws, _github]))

test_placeholder_beside_a_secret_does_not_hide_it if _refused(sprintf("%s or %s", [_joined(["AK", "IA", "IOSFODNN7EXAMPLE"]), _aws]))

# Also where the same text occurs with letters in front.
test_stands_alone_once if _refused(sprintf("X%s %s", [_aws, _aws]))

test_finding_of_a_key_is_at_its_object if {
	call := fixtures.selected_keys("secrets", {concat("/", ["/env", _aws]): _aws})
	[finding.path | some finding in secrets.deny] == ["/env"] with input as call
}

# A path is answered and logged, so it does not carry what was found.
test_path_that_holds_a_secret_is_not_told if {
	below := concat("/", ["", _aws, "b"])
	call := fixtures.with_members({"/facts/selected": {"secrets": {"total": 2, "strings": [
		{"path": concat("/", ["", _aws]), "in": "key", "text": _aws},
		{"path": below, "in": "value", "text": _github},
	]}}})
	[finding.path | some finding in secrets.deny] == ["", ""] with input as call
}

test_more_candidates_than_are_looked_at if {
	placeholder := _joined(["xox", "b-123456789012-1234567890123-abc", "defghi "])
	text := concat("", [placeholder | some _ in numbers.range(1, 51)])
	reason := "has more than 50 texts that look like key material (slack-token), more than are looked at: send fewer"
	secrets.deny == {{"path": "/a", "reason": reason}} with input as fixtures.selected("secrets", {"/a": text})
	_passes(concat("", [placeholder | some _ in numbers.range(1, 50)]))
}

test_a_format_may_look_at_fewer if {
	text := concat(" ", [wrong | some _ in numbers.range(1, 11); wrong := _joined(["gh", "p_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkK", "0mLq17"])])
	_refused(text)
}

test_strings_that_were_not_handed_over if {
	call := json.patch(
		fixtures.selected("secrets", {"/a": "hf_ is a prefix"}),
		[{"op": "replace", "path": "/facts/selected/secrets/total", "value": 2}],
	)
	reason := "more strings look like key material than are looked at: send fewer in one call"
	secrets.deny == {{"path": "", "reason": reason}} with input as call
}

test_own_format if {
	format := {"id": "acme", "contains": ["ACME-"], "pattern": "acme-[0-9]{8}"}
	reason := concat("", [
		"holds what looks like key material: acme (acme). ",
		"Do not send it; name the variable or the vault entry that has it, and let the tool read it there",
	])
	secrets.deny == {{"path": "/a", "reason": reason}} with input as fixtures.selected("secrets", {"/a": "acme-73519284"})
		with data.sallyport.packs.secrets.own_formats as [format]
}

test_format_that_is_off if {
	secrets.deny == set() with input as fixtures.selected("secrets", {"/a": _aws})
		with data.sallyport.packs.secrets.off as ["aws-access-key-id"]
}

test_cannot_judge[name] if {
	sound := data.sallyport.packs.secrets
	format := {"id": "acme", "contains": ["acme-"], "pattern": "acme-[0-9]{8}"}
	some name, pack in {
		"no formats": json.remove(sound, ["/formats"]),
		"formats are no list": object.union(sound, {"formats": {}}),
		"empty": object.union(sound, {"formats": []}),
		"no placeholders": json.remove(sound, ["/placeholders"]),
		"placeholder is no text": object.union(sound, {"placeholders": [1]}),
		"off is no list": object.union(sound, {"off": "jwt"}),
		"own formats are no list": object.union(sound, {"own_formats": format}),
		"no limit": json.remove(sound, ["/max_candidates"]),
		"limit is none": object.union(sound, {"max_candidates": 0}),
		"limit is a text": object.union(sound, {"max_candidates": "50"}),
		"format is a text": object.union(sound, {"own_formats": ["acme-"]}),
		"format without texts": object.union(sound, {"own_formats": [json.remove(format, ["/contains"])]}),
		"format with an empty list of texts": object.union(sound, {"own_formats": [object.union(format, {"contains": []})]}),
		"texts are no list": object.union(sound, {"own_formats": [object.union(format, {"contains": "acme-"})]}),
		"format without id": object.union(sound, {"own_formats": [json.remove(format, ["/id"])]}),
		"format without pattern": object.union(sound, {"own_formats": [json.remove(format, ["/pattern"])]}),
		"title is no text": object.union(sound, {"own_formats": [object.union(format, {"title": 1})]}),
		"unknown check": object.union(sound, {"own_formats": [object.union(format, {"check": "luhn"})]}),
		"unknown member": object.union(sound, {"own_formats": [object.union(format, {"need": ["[0-9]"]})]}),
		"needs is no list": object.union(sound, {"own_formats": [object.union(format, {"needs": "[0-9]"})]}),
		"passes is no list": object.union(sound, {"own_formats": [object.union(format, {"passes": "1"})]}),
		"alone is no boolean": object.union(sound, {"own_formats": [object.union(format, {"alone": "yes"})]}),
		"most is none": object.union(sound, {"own_formats": [object.union(format, {"most": 0})]}),
	}
	reason := concat("", [
		"the pack secrets cannot judge: in packs/secrets, off, own_formats, placeholders, formats ",
		"or max_candidates is missing or has the wrong type",
	])
	secrets.deny == {{"path": "", "reason": reason}} with input as fixtures.selected("secrets", {"/a": "acme-73519284"})
		with data.sallyport.packs.secrets as pack
}

test_crc_table_is_that_of_the_polynomial if {
	every i, entry in secrets._crc_table {
		entry == _shifted(_shifted(_shifted(_shifted(_shifted(_shifted(_shifted(_shifted(i))))))))
	}
	count(secrets._crc_table) == 256
}

_shifted(n) := bits.rsh(n, 1) if bits.and(n, 1) == 0

_shifted(n) := bits.xor(bits.rsh(n, 1), 3988292384) if bits.and(n, 1) == 1

# zlib.crc32 of Python
test_crc if {
	secrets._crc32("0123456789ABCDEFGHIJKLMNOPQRST") == 4039328943
	secrets._crc32(concat("", ["0123456789ABCDEFGHIJKLMNOPQRST", "abcdefghijklmnopqrstuvwxyz0123456789ABCD"])) == 76794352
}

test_numbers_in_a_base if {
	secrets._number(secrets._base62, "0000z") == 61
	secrets._number(secrets._base62, "10") == 62
	secrets._number(secrets._base16, "ff") == 255
	secrets._number(secrets._base32, "BA") == 32
}

test_ids_are_written_alike_and_titles_are_short if {
	every format in data.sallyport.packs.secrets.formats {
		regex.match("^[0-9a-z-]{2,40}$", format.id)
		count(format.title) <= 48
		regex.is_valid(format.pattern)
	}
	every pattern in data.sallyport.packs.secrets.placeholders {
		regex.is_valid(pattern)
	}
}
