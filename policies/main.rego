# METADATA
# scope: package
# title: Verdict
# description: >-
#   Merges the findings of all rules into one document for one call. It only
#   routes: what is refused, and why, is said in the rules.
package sallyport.main

import rego.v2

# METADATA
# title: The verdict of the first door
# description: >-
#   violations: every finding, each with rule, path and reason. omitted: findings
#   that exist but are not listed. halt: the schema must not see the payload.
#   code: the JSON-RPC error code if the call is rejected. on_rejection: what
#   becomes of the call if this door rejects it, on_schema_rejection if the schema
#   does. exempted: findings that do not count, and what they are exempt by.
# entrypoint: true
verdict := {
	"violations": violations,
	"omitted": omitted,
	"halt": halt,
	"code": code,
	"on_rejection": data.sallyport.permissive.on_rejection,
	"on_schema_rejection": data.sallyport.permissive.on_schema_rejection,
	"exempted": exempted,
}

# A rule is a package below sallyport.rules; its findings are its deny set.
found contains object.union(finding, {"rule": rule}) if {
	some rule, finding
	data.sallyport.rules[rule].deny[finding]
}

findings contains finding if {
	some finding in found
	not _is_exempt(finding)
}

_is_exempt(finding) if count(data.sallyport.exempt.of(finding.rule, finding.path)) > 0

exempted contains {"rule": finding.rule, "path": finding.path, "by": by} if {
	some finding in found
	some by in data.sallyport.exempt.of(finding.rule, finding.path)
}

# Rules that end the verdict, in this order: where one of them finds something,
# its findings are the whole answer.
gates := ["inspection", "quarantined_tool", "unknown_tool", "payload_shape"]

violations := set() if {
	count(findings) == 0
	input.facts.complete == true
} else := {unread} if {
	count(findings) == 0
} else := at_gate[0] if {
	count(at_gate) > 0
} else := findings

at_gate := [found |
	some gate in gates
	found := {finding | some finding in findings; finding.rule == gate}
	count(found) > 0
]

# Nothing was found, but the payload was not read to its end either.
unread := {
	"rule": "inspection",
	"path": "",
	"reason": "the call cannot be judged: the payload was not read to its end",
	"halt": true,
}

default halt := false

halt if {
	some violation in violations
	violation.halt == true
}

default code := -32602

code := -32601 if {
	some violation in violations
	violation.code == -32601
}

default omitted := 0

omitted := data.sallyport.rules.control_characters.unlisted if {
	some violation in violations
	violation.rule == "control_characters"
}

# METADATA
# title: How a payload is to be read
# description: >-
#   Asked once, at load. Tells the decoder its limits and what to look for, so
#   that no threshold lives outside the policy.
# entrypoint: true
reading := {
	"max_bytes": data.sallyport.limits.max_bytes,
	"max_depth": data.sallyport.limits.max_depth,
	"ceiling_bytes": data.sallyport.reading.ceiling_bytes,
	"ceiling_depth": data.sallyport.reading.ceiling_depth,
	"ceiling_values": data.sallyport.reading.ceiling_values,
	"max_number_length": data.sallyport.reading.max_number_length,
	"max_exponent": data.sallyport.reading.max_exponent,
	"max_listed_strings": data.sallyport.reading.max_listed_strings,
	"watched_code_points": data.sallyport.rules.control_characters.forbidden_code_points,
	"schemas": data.sallyport.schemas,
	"leniency": data.sallyport.leniency,
	"max_violations": data.sallyport.answer.max_violations,
	"max_reason_bytes": data.sallyport.answer.max_reason_bytes,
	"max_path_bytes": data.sallyport.answer.max_path_bytes,
	"max_tool_name_bytes": data.sallyport.answer.max_tool_name_bytes,
	"enum_bindings": data.sallyport.rules.role_enum.bindings,
	"disabled_rules": data.sallyport.disabled_rules,
	"always_in_force": data.sallyport.exempt.always_in_force,
	"faults": data.sallyport.load.faults,
	"named_rules": data.sallyport.load.named,
	"waivers": data.sallyport.load.registers,
	"max_selected_strings": data.sallyport.reading.max_selected_strings,
	"selections": selections,
}

# METADATA
# title: How many bytes of this payload are to be read
# description: >-
#   Asked for a payload above limits.max_bytes. Normally reading stops there; a
#   payload that is not refused for its size has to be read whole.
# entrypoint: true
read_bytes := data.sallyport.reading.ceiling_bytes if {
	_size_does_not_refuse
} else := min({_max_bytes, data.sallyport.reading.ceiling_bytes})

_max_bytes := object.get(data.sallyport.limits.tools, [input.tool, "max_bytes"], data.sallyport.limits.max_bytes)

_size_does_not_refuse if "payload_size" in data.sallyport.exempt.rules

_size_does_not_refuse if data.sallyport.permissive.tolerated("payload_size")

# Strings that rules ask for, by rule.
selections[rule] := selection if selection := data.sallyport.rules[rule].selection
