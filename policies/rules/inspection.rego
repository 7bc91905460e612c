# METADATA
# scope: package
# title: Call cannot be judged
# description: >-
#   Fails closed. A comparison with a missing fact or limit is undefined in Rego,
#   and an undefined rule is a silent one; so every fact and limit that a rule
#   relies on is required here, with its type. It also fires when a payload was
#   not read to its end.
# custom:
#   severity: critical
#   halts: true
#   code: -32602
package sallyport.rules.inspection

import rego.v2

deny contains {"path": "", "reason": reason, "halt": true} if {
	not sound
	some part in _parts
	reason := sprintf("the call cannot be judged: %s is missing or has the wrong type", [part])
}

# Everything that the rules rely on. One conjunction, because it is evaluated in
# each call; which part fails is only asked once it has failed.
sound if {
	input.mode in {"strict", "permissive"}
	is_string(input.tool)
	is_string(input.today)
	_payload_is_sound
	is_boolean(input.facts.registered)
	is_string(input.facts.type)
	is_number(input.facts.bytes)
	is_number(input.facts.values)
	_stop_is_sound
	is_number(input.facts.depth)
	is_string(input.facts.deepest)
	is_number(input.facts.control_characters.total)
	is_array(input.facts.control_characters.strings)
	is_object(input.facts.selected)
	is_number(data.sallyport.limits.max_bytes)
	is_number(data.sallyport.limits.max_depth)
	is_array(data.sallyport.limits.allowed_control_characters)
	is_number(data.sallyport.reading.ceiling_bytes)
	is_number(data.sallyport.reading.ceiling_depth)
	is_number(data.sallyport.reading.ceiling_values)
	is_array(data.sallyport.known_roles)
}

_payload_is_sound if is_object(input.payload)

_payload_is_sound if input.facts.complete == false

_payload_is_sound if input.facts.type != "object"

_stop_is_sound if input.facts.complete == true

_stop_is_sound if {
	input.facts.complete == false
	input.facts.stop in {"depth", "size", "values"}
}

_stop_is_sound if {
	input.facts.complete == false
	input.facts.stop == "fault"
	is_string(input.facts.fault.code)
	is_string(input.facts.fault.path)
	is_number(input.facts.fault.offset)
}

# Never empty where sound fails, also if the two lists should drift apart.
_parts := unsound if count(unsound) > 0

_parts := {"a fact or a limit"} if count(unsound) == 0

unsound contains "mode" if not input.mode in {"strict", "permissive"}

unsound contains "tool" if not is_string(input.tool)

unsound contains "today" if not is_string(input.today)

unsound contains "payload" if not _payload_is_sound

unsound contains "facts.registered" if not is_boolean(input.facts.registered)

unsound contains "facts.type" if not is_string(input.facts.type)

unsound contains "facts.bytes" if not is_number(input.facts.bytes)

unsound contains "facts.values" if not is_number(input.facts.values)

unsound contains "facts.complete" if not is_boolean(input.facts.complete)

unsound contains "facts.stop" if {
	is_boolean(input.facts.complete)
	not _stop_is_sound
}

unsound contains "facts.depth" if not is_number(input.facts.depth)

unsound contains "facts.deepest" if not is_string(input.facts.deepest)

unsound contains "facts.control_characters.total" if not is_number(input.facts.control_characters.total)

unsound contains "facts.control_characters.strings" if not is_array(input.facts.control_characters.strings)

unsound contains "facts.selected" if not is_object(input.facts.selected)

unsound contains "limits.max_bytes" if not is_number(data.sallyport.limits.max_bytes)

unsound contains "limits.max_depth" if not is_number(data.sallyport.limits.max_depth)

unsound contains "limits.allowed_control_characters" if {
	not is_array(data.sallyport.limits.allowed_control_characters)
}

unsound contains "reading.ceiling_bytes" if not is_number(data.sallyport.reading.ceiling_bytes)

unsound contains "reading.ceiling_depth" if not is_number(data.sallyport.reading.ceiling_depth)

unsound contains "reading.ceiling_values" if not is_number(data.sallyport.reading.ceiling_values)

unsound contains "known_roles" if not is_array(data.sallyport.known_roles)
