# METADATA
# scope: package
# title: Payload is not a well-formed JSON object
# description: >-
#   The arguments must be one JSON object that every parser reads the same way.
#   Malformed JSON, duplicate keys, invalid UTF-8, lone surrogates and numbers
#   outside the limits of data.sallyport.reading are refused at the pointer
#   where the decoder met them.
# custom:
#   severity: high
#   halts: true
#   code: -32602
package sallyport.rules.payload_shape

import rego.v2

deny contains {"path": "", "reason": reason, "halt": true} if {
	not readable_as_object
	reason := sprintf("arguments must be a JSON object, not %s", [object.get(_names, _type, "this")])
}

deny contains {"path": input.facts.fault.path, "reason": reason, "halt": true} if {
	readable_as_object
	input.facts.stop == "fault"
	problem := object.get(_problems, input.facts.fault.code, "unknown fault")
	reason := sprintf("malformed JSON at byte %d: %s", [input.facts.fault.offset, problem])
}

readable_as_object if input.facts.type == "object"

# Not recognisable as any JSON type: then the decoder's fault says more than the type.
readable_as_object if {
	input.facts.type == "unknown"
	input.facts.stop == "fault"
}

default _type := "unknown"

_type := input.facts.type

_names := {
	"array": "an array",
	"boolean": "a boolean",
	"null": "null",
	"number": "a number",
	"string": "a string",
}

_problems := {
	"byte_order_mark": "a byte order mark is not allowed",
	"duplicate_key": "this key appears twice in its object",
	"empty": "there is no value",
	"invalid_utf8": "the text is not valid UTF-8",
	"lone_surrogate": "a surrogate escape has no partner",
	"number_exponent": sprintf("the exponent of a number is beyond %d", [data.sallyport.reading.max_exponent]),
	"number_length": sprintf("a number has more than %d characters", [data.sallyport.reading.max_number_length]),
	"raw_control_character": "a control character in a string must be escaped",
	"syntax": "unexpected character",
	"trailing_data": "there is more after the value",
	"unexpected_end": "the text ends too early",
}
