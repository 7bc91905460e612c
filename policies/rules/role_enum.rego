# METADATA
# scope: package
# title: Unknown role
# description: >-
#   The role of a subtask is not one of data.sallyport.known_roles. The same list
#   is bound as the enum of that member in the schema that is advertised and
#   enforced. This is the one rule whose reason repeats a value of the caller:
#   quoted, ASCII only and cut, so that the model sees what it sent.
# custom:
#   severity: medium
#   halts: false
#   code: -32602
package sallyport.rules.role_enum

import rego.v2

deny contains {"path": "/role", "keyword": "enum", "reason": reason} if {
	input.tool == "bernstein_create_subtask" # written out, so that the rule costs other tools nothing
	known := bindings[input.tool].role
	value := input.payload.role
	not value in known
	reason := sprintf("%s is not one of %s", [_shown(value), concat(", ", known)])
}

# tool -> member of its arguments -> the values it may have. Read at load, too:
# the schema of the tool gets these values as the enum of that member.
bindings := {"bernstein_create_subtask": {"role": data.sallyport.known_roles}}

_shown(value) := _cut(sprintf("%+q", [value])) if is_string(value)

_shown(value) := sprintf("a value of type %s", [type_name(value)]) if not is_string(value)

_cut(text) := text if count(text) <= 64

_cut(text) := sprintf("%s...\"", [substring(text, 0, 60)]) if count(text) > 64
