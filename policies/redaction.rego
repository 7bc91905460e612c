# METADATA
# scope: package
# title: What a record of calls must not hold
# description: >-
#   Asked for each call that is recorded, and of no effect on verdicts. A record is to be
#   put to other rules later, so it keeps what it can: key material is masked, and the
#   values of members whose names say that they are secret, and what the data names.
package sallyport.redaction

import rego.v2

# METADATA
# title: Strings that are looked at for key material
# description: All of them, whether or not the pack secrets is on.
selection := chosen if {
	chosen := data.sallyport.rules.secrets.selection with data.sallyport.packs.secrets.on as true
		with data.sallyport.packs.secrets.attach as {"*": ["/**"]}
}

# METADATA
# title: How the arguments are read for a record
reading := {"max_bytes": data.sallyport.record.max_bytes, "selection": selection}

# METADATA
# title: What is kept of the arguments of one call
# description: >-
#   masked: RFC 6901 pointers; what stands there and below is replaced, each value by
#   another of its type. left_out: why nothing at all is kept, "" where something is.
# entrypoint: true
kept := {"masked": masked, "left_out": left_out}

masked contains finding.path if {
	some finding in _key_material
}

masked contains _pointer(array.concat(path, [name])) if {
	secret := _secret_among(_names_in(input.payload))
	count(secret) > 0
	walk(input.payload, [path, value])
	is_object(value)
	some name in secret
	name in object.keys(value)
}

# Models send objects as strings: what holds the JSON of one is masked as a whole.
masked contains _pointer(path) if {
	walk(input.payload, [path, text])
	is_string(text)
	regex.match(`^\s*[\[{]`, text)
	json.is_valid(text)
	count(_secret_among(_names_in(json.unmarshal(text)))) > 0
}

masked contains pointer if {
	count(_places) > 0
	walk(input.payload, [path, _])
	pointer := _pointer(path)
	some place in _places
	data.sallyport.register.matches(place, pointer)
}

_key_material := found if {
	count(input.facts.selected.secrets.strings) > 0
	found := data.sallyport.rules.secrets.deny with data.sallyport.packs.secrets.off as []
}

# Words stand at the end of a name: api_key and apiKey, but not keyboard.
_secret_among(names) := {name |
	some name in names
	plain := lower(strings.replace_n({"_": "", "-": "", ".": "", " ": ""}, name))
	some word in data.sallyport.record.secret_members
	endswith(plain, word)
}

_names_in(document) := {name |
	walk(document, [_, value])
	is_object(value)
	some name, _ in value
}

_places := [place |
	some tool in ["*", input.tool]
	some place in data.sallyport.record.masked[tool]
]

_pointer(path) := concat("", [token |
	some step in path
	token := concat("", ["/", strings.replace_n({"~": "~0", "/": "~1"}, sprintf("%v", [step]))])
])

left_out := reason if {
	input.facts.bytes > data.sallyport.record.max_bytes
	reason := sprintf("the arguments have more than %d bytes", [data.sallyport.record.max_bytes])
} else := "the arguments are not one JSON object" if {
	not input.payload
} else := ""
