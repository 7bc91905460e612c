# METADATA
# scope: package
# title: Quarantined tool
# description: >-
#   A server lists the tool, but its schema cannot be enforced, so no call of it can
#   be judged, or it is not what has been approved. It is not advertised either. The
#   reason says what is wrong.
# custom:
#   severity: high
#   halts: true
#   code: -32601
package sallyport.rules.quarantined_tool

import rego.v2

deny contains {"path": "", "reason": reason, "code": -32601, "halt": true} if quarantined

# Any value counts, also false and one of the wrong type.
quarantined if some _ in [input.facts.quarantine]

default reason := "the tool is in quarantine"

reason := sprintf("the tool is in quarantine, since %s", [input.facts.quarantine]) if {
	is_string(input.facts.quarantine)
}
