# METADATA
# scope: package
# title: Payload beyond what the process reads at all
# description: >-
#   The ceilings of data.sallyport.reading protect the process itself. No
#   exemption and no permissive mode lifts them. Where payload_size or
#   payload_depth reports the same payload, this rule is silent.
# custom:
#   severity: critical
#   halts: true
#   code: -32602
package sallyport.rules.hard_ceiling

import rego.v2

deny contains {"path": "", "reason": reason, "halt": true} if {
	too_large
	not _reported_by("payload_size")
	reason := sprintf("arguments have more than %d bytes, which no exemption lifts", [data.sallyport.reading.ceiling_bytes])
}

deny contains {"path": input.facts.deepest, "reason": reason, "halt": true} if {
	too_deep
	not _reported_by("payload_depth")
	reason := sprintf("values are nested more than %d levels deep, which no exemption lifts", [data.sallyport.reading.ceiling_depth])
}

deny contains {"path": "", "reason": reason, "halt": true} if {
	too_many
	reason := sprintf("arguments hold more than %d values, which no exemption lifts", [data.sallyport.reading.ceiling_values])
}

breached if too_large

breached if too_deep

breached if too_many

too_large if input.facts.bytes > data.sallyport.reading.ceiling_bytes

too_deep if input.facts.depth > data.sallyport.reading.ceiling_depth

too_many if input.facts.values > data.sallyport.reading.ceiling_values

_reported_by("payload_size") if {
	count(data.sallyport.rules.payload_size.deny) > 0
	not "payload_size" in data.sallyport.exempt.rules
}

_reported_by("payload_depth") if {
	count(data.sallyport.rules.payload_depth.deny) > 0
	not "payload_depth" in data.sallyport.exempt.rules
}
