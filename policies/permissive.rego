# METADATA
# scope: package
# title: Permissive override
# description: >-
#   Not a deny rule: it decides what becomes of a call that either door rejects.
#   In permissive mode, a migration aid, the call is logged and passed.
#   What protects the process itself, a tool in quarantine, and a call that could
#   not be judged, are refused in every mode.
package sallyport.permissive

import rego.v2

default on_rejection := "refuse"

on_rejection := "bypass" if {
	input.mode == "permissive"
	not data.sallyport.rules.hard_ceiling.breached
	not data.sallyport.rules.quarantined_tool.quarantined
	not _unjudged
}

_unjudged if {
	some violation in data.sallyport.main.violations
	violation.rule == "inspection"
}
