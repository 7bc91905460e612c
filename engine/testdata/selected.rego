# What payload.Select finds, a second time.
package selected

import rego.v2

selected := values | keys

values := {found |
	walk(input.payload, [path, text])
	is_string(text)
	attached(path)
	wanted(text)
	found := {"path": pointer(path), "in": "value", "text": text}
}

keys := {found |
	input.selection.keys == true
	walk(input.payload, [path, object])
	is_object(object)
	some text, _ in object
	below := array.concat(path, [text])
	attached(below)
	wanted(text)
	found := {"path": pointer(below), "in": "key", "text": text}
}

pointer(path) := concat("", [sprintf("/%s", [replace(replace(token, "~", "~0"), "/", "~1")]) |
	some part in path
	token := sprintf("%v", [part])
])

attached(path) if {
	some place in input.selection.places
	data.sallyport.register.matches(place, pointer(path))
}

wanted(_) if {
	count(input.selection.contains) == 0
	count(input.selection.code_points) == 0
}

wanted(text) if {
	some part in input.selection.contains
	contains(lower_ascii(text), part)
}

wanted(text) if {
	some range in input.selection.code_points
	regex.match(sprintf("[\\x{%x}-\\x{%x}]", range), text)
}

lower_ascii(text) := strings.replace_n({upper(c): c | some c in split("abcdefghijklmnopqrstuvwxyz", "")}, text)
