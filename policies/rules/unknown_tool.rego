# METADATA
# scope: package
# title: Unknown tool
# description: >-
#   A call names a tool for which no schema is registered. Names are compared
#   byte for byte, so another case or a trailing space is another tool.
# custom:
#   severity: high
#   halts: true
#   code: -32601
package sallyport.rules.unknown_tool

import rego.v2

deny contains {"path": "", "reason": reason, "code": -32601, "halt": true} if {
	not input.facts.registered == true
}

default reason := "the tool name is missing, empty or not a string"

reason := "no schema is registered for a tool of this name" if {
	is_string(input.tool)
	input.tool != ""
}
