# METADATA
# scope: package
# title: Faults in the data
# description: >-
#   Asked once, at load. Each fault stops the start, since a waiver or a limit that is
#   written wrongly would silently be wider, narrower or not there.
package sallyport.load

import rego.v2

faults contains fault if {
	some where, entries in registers
	some id, entry in entries
	some problem in data.sallyport.register.faults(entry)
	fault := sprintf("%s/%s%s", [where, id, problem])
}

faults contains fault if {
	some where, entries in registers
	some id, entry in entries
	some rule in entry.rules
	rule in data.sallyport.exempt.always_in_force
	fault := sprintf("%s/%s/rules: %s cannot be waived", [where, id, rule])
}

faults contains fault if {
	some id, entry in data.sallyport.permissive_until
	entry.paths
	fault := sprintf("permissive_until/%s/paths: it holds for whole calls; leave it out", [id])
}

faults contains fault if {
	some tool, own in data.sallyport.limits.tools
	some member, value in own
	not _is_limit(member, value)
	fault := sprintf("limits/tools/%s/%s: only max_bytes and max_depth can be set, to whole numbers above 0", [tool, member])
}

faults contains fault if {
	some tool, own in data.sallyport.limits.tools
	not is_object(own)
	fault := sprintf("limits/tools/%s: is not an object", [tool])
}

faults contains fault if {
	some name, pack in data.sallyport.packs
	not is_boolean(object.get(pack, "on", null))
	fault := sprintf("packs/%s/on: is neither true nor false", [name])
}

faults contains fault if {
	some name, pack in data.sallyport.packs
	not _is_attach(object.get(pack, "attach", null))
	fault := sprintf("packs/%s/attach: is not an object that gives each tool, or \"*\", a list of pointer patterns", [name])
}

faults contains fault if {
	some name, pack in data.sallyport.packs
	pack.on == true
	_is_attach(pack.attach)
	count([place | some place in pack.attach[_]]) == 0
	fault := sprintf("packs/%s/attach: the pack is on, but there is no place for it to look at", [name])
}

faults contains fault if {
	not _is_limit("max_bytes", data.sallyport.record.max_bytes)
	fault := "record/max_bytes: is not a whole number above 0"
}

faults contains fault if {
	not _are_words(data.sallyport.record.secret_members)
	fault := "record/secret_members: is not a list of texts of small letters and digits only"
}

faults contains fault if {
	not _are_places(data.sallyport.record.masked)
	fault := "record/masked: is not an object that gives each tool, or \"*\", a list of pointer patterns"
}

# METADATA
# title: Rules that entries name
# description: By the place that names them. There has to be a rule of each name.
named contains {"where": where, "rule": rule} if {
	some register, entries in registers
	some id, entry in entries
	some rule in entry.rules
	not rule in _pseudo_rules[register]
	where := sprintf("%s/%s/rules", [register, id])
}

# METADATA
# title: Entries that waive rules for a while
registers := {
	"exemptions/register": data.sallyport.exemptions.register,
	"permissive_until": data.sallyport.permissive_until,
}

# What stands for more than one rule, or for the second door.
_pseudo_rules := {"exemptions/register": set(), "permissive_until": {"*", "schema"}}

_is_limit(member, value) if {
	member in {"max_bytes", "max_depth"}
	is_number(value)
	value > 0
	value == floor(value)
}

_is_attach(attach) if {
	is_object(attach)
	every places in attach {
		is_array(places)
		every place in places {
			is_string(place)
		}
	}
}

_are_words(words) if {
	is_array(words)
	every word in words {
		is_string(word)
		regex.match(`^[0-9a-z]+$`, word)
	}
}

_are_places(masked) if {
	_is_attach(masked)
	every place in [place | some place in masked[_]] {
		regex.match(`^(?:/(?:[^/~]|~[01])*)*$`, place)
	}
}
