# METADATA
# scope: package
# title: Rules that are not in force for this call
# description: >-
#   A tool named in data.sallyport.exemptions.allow_unsafe_args skips the three
#   rules on raw content; its schema still runs. A rule named in
#   data.sallyport.disabled_rules is off for every tool. The rules that make a
#   verdict possible at all cannot be switched off.
package sallyport.exempt

import rego.v2

rules contains rule if {
	data.sallyport.exemptions.allow_unsafe_args[input.tool] == true
	some rule in unsafe_args_rules
}

rules contains rule if {
	some rule, why in data.sallyport.disabled_rules
	is_string(why)
	not rule in always_in_force
}

unsafe_args_rules := {"control_characters", "payload_depth", "payload_size"}

always_in_force := {"hard_ceiling", "inspection", "payload_shape", "quarantined_tool", "unknown_tool"}
