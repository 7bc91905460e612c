# METADATA
# scope: package
# title: Permissive override
# description: >-
#   Not a deny rule: it decides what becomes of a call that a door rejects. In
#   permissive mode, a migration aid, the call is logged and passed. An entry of
#   data.sallyport.permissive_until does the same for some tools and rules, with an
#   owner, a reason and an end; the rule name schema stands for the second door, and *
#   for everything. What protects the process itself, a tool in quarantine, and a
#   call that could not be judged, are refused in every mode.
package sallyport.permissive

import rego.v2

# METADATA
# title: What becomes of a call that the rules reject
default on_rejection := "refuse"

on_rejection := "bypass" if {
	count(data.sallyport.main.violations) > 0
	_may_pass
	every violation in data.sallyport.main.violations {
		tolerated(violation.rule)
	}
}

# METADATA
# title: What becomes of a call that the schema rejects
default on_schema_rejection := "refuse"

on_schema_rejection := "bypass" if {
	tolerated("schema")
	_may_pass
}

# METADATA
# title: Whether what a rule finds is let pass
tolerated(_) if input.mode == "permissive"

tolerated(rule) if {
	some entry in data.sallyport.permissive_until
	data.sallyport.register.in_force(entry)
	some name in entry.rules
	name in {"*", rule}
}

_may_pass if {
	not data.sallyport.rules.hard_ceiling.breached
	not data.sallyport.rules.quarantined_tool.quarantined
	not _unjudged
}

_unjudged if {
	some violation in data.sallyport.main.violations
	violation.rule == "inspection"
}
