# The facts about a payload, restated in Rego alone over the text and the value
# that json.unmarshal makes of it. Slow, and only for comparison with what the
# decoder measures.
package facts

import rego.v2

value := json.unmarshal(input.text)

type := type_name(value)

depth := max({count(path) | walk(value, [path, _])})

pointers contains pointer(path) if {
	walk(value, [path, _])
	count(path) == depth
}

pointer(path) := concat("", [sprintf("/%s", [token(step)]) | some step in path])

token(step) := replace(replace(step, "~", "~0"), "/", "~1") if is_string(step)

token(step) := sprintf("%d", [step]) if is_number(step)

watched := {sprintf("%c", [code_point]): code_point | some code_point in input.watched}

strings contains {"path": pointer(path), "in": "value", "code_points": seen, "count": number} if {
	walk(value, [path, node])
	is_string(node)
	seen := code_points(node)
	count(seen) > 0
	number := occurrences(node)
}

strings contains {"path": pointer(array.concat(path, [key])), "in": "key", "code_points": seen, "count": number} if {
	walk(value, [path, node])
	is_object(node)
	some key, _ in node
	seen := code_points(key)
	count(seen) > 0
	number := occurrences(key)
}

code_points(text) := sort([code_point | some character, code_point in watched; contains(text, character)])

occurrences(text) := sum([strings_count(text, character) | some character, _ in watched])

strings_count(text, character) := count(split(text, character)) - 1

facts := {
	"type": type,
	"depth": depth,
	"deepest": pointers,
	"strings": strings,
}
