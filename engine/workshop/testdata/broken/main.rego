package sallyport.main

import rego.v2

deny contains "one" if input.facts.bytes == 1

deny contains "two" if {
	input.facts.bytes == 2
	input.facts.depth == 2
}

half := input.facts.bytes / input.facts.depth
