# METADATA
# scope: package
# title: Payload too large
# description: >-
#   The arguments, as received, have more bytes than
#   data.sallyport.limits.max_bytes. White space around the value does not count.
# custom:
#   severity: high
#   halts: true
#   code: -32602
package sallyport.rules.payload_size

import rego.v2

deny contains {"path": "", "reason": reason, "halt": true} if {
	input.facts.bytes > data.sallyport.limits.max_bytes
	reason := sprintf("arguments have %s%d bytes but at most %d are allowed", [
		_at_least,
		input.facts.bytes,
		data.sallyport.limits.max_bytes,
	])
}

# A reader stops at the limit and does not learn the true size.
default _at_least := ""

_at_least := "at least " if input.facts.bytes_counted == false
