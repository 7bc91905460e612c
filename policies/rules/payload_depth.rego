# METADATA
# scope: package
# title: Payload nested too deep
# description: >-
#   A value lies deeper than data.sallyport.limits.max_depth, or than limits.tools
#   says for the tool. The root has depth 0 and every member or element, scalars included, is one deeper, so the depth
#   of a value is the number of tokens in its pointer.
# custom:
#   severity: high
#   halts: true
#   code: -32602
package sallyport.rules.payload_depth

import rego.v2

deny contains {"path": input.facts.deepest, "reason": reason, "halt": true} if {
	input.facts.depth > data.sallyport.limits.max_depth
	not data.sallyport.limits.tools[input.tool].max_depth
	reason := _reason(input.facts.depth, data.sallyport.limits.max_depth)
}

deny contains {"path": input.facts.deepest, "reason": reason, "halt": true} if {
	own := data.sallyport.limits.tools[input.tool].max_depth
	input.facts.depth > own
	reason := _reason(input.facts.depth, own)
}

_reason(depth, limit) := sprintf("values are nested %d levels deep but at most %d are allowed", [depth, limit])
