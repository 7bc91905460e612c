# METADATA
# scope: package
# title: Findings that do not count
# description: >-
#   An entry of data.sallyport.exemptions.register waives rules for tools, as a whole
#   or at some paths, with an owner, a reason and an end. A tool named in
#   data.sallyport.exemptions.allow_unsafe_args skips the three rules on raw content;
#   its schema still runs. A rule named in data.sallyport.disabled_rules is off for
#   every tool. The rules that make a verdict possible at all cannot be waived.
package sallyport.exempt

import rego.v2

# METADATA
# title: What a rule is exempt by for this whole call
# description: Names of entries; a rule without any is in force.
grounds[rule] contains "exemptions/allow_unsafe_args" if {
	data.sallyport.exemptions.allow_unsafe_args[input.tool] == true
	some rule in unsafe_args_rules
}

grounds[rule] contains "disabled_rules" if {
	some rule, why in data.sallyport.disabled_rules
	is_string(why)
	not rule in always_in_force
}

grounds[rule] contains id if {
	some id, entry in data.sallyport.exemptions.register
	not entry.paths
	data.sallyport.register.in_force(entry)
	some rule in entry.rules
	not rule in always_in_force
}

# METADATA
# title: Rules that are not in force for this call
rules contains rule if some rule, _ in grounds

# METADATA
# title: What a finding is exempt by
of(rule, path) := object.get(grounds, rule, set()) | {id |
	some id, entry in data.sallyport.exemptions.register
	rule in entry.rules
	not rule in always_in_force
	data.sallyport.register.in_force(entry)
	some pattern in entry.paths
	data.sallyport.register.matches(pattern, path)
}

unsafe_args_rules := {"control_characters", "payload_depth", "payload_size"}

always_in_force := {"hard_ceiling", "inspection", "payload_shape", "quarantined_tool", "unknown_tool"}
