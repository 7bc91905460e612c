# METADATA
# scope: package
# title: Echo
# description: Refuses a password, and repeats it.
# custom: {severity: low}
package sallyport.rules.echo

import rego.v2

deny contains {"path": "/password", "reason": sprintf("is %v", [object.get(input.payload, "password", "")])} if {
	object.get(input.payload, "password", null) != null
}
