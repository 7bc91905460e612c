# METADATA
# scope: package
# title: Payload too large
# description: >-
#   The arguments, as received, have more bytes than
#   data.sallyport.limits.max_bytes, or than limits.tools says for the tool. White
#   space around the value does not count.
# custom:
#   severity: high
#   halts: true
#   code: -32602
package sallyport.rules.payload_size

import rego.v2

deny contains {"path": "", "reason": reason, "halt": true} if {
	input.facts.bytes > data.sallyport.limits.max_bytes
	not data.sallyport.limits.tools[input.tool].max_bytes
	reason := _reason(input.facts.bytes, data.sallyport.limits.max_bytes)
}

deny contains {"path": "", "reason": reason, "halt": true} if {
	own := data.sallyport.limits.tools[input.tool].max_bytes
	input.facts.bytes > own
	reason := _reason(input.facts.bytes, own)
}

_reason(bytes, limit) := sprintf("arguments have %s%d bytes but at most %d are allowed", [_at_least, bytes, limit])

# A reader stops at the limit and does not learn the true size.
default _at_least := ""

_at_least := "at least " if input.facts.bytes_counted == false
