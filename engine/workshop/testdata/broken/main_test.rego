package sallyport.main_test

import data.sallyport.main
import rego.v2

test_passes if main.deny == {"one"} with input as {"facts": {"bytes": 1}}

test_fails if main.deny == {"two"} with input as {"facts": {"bytes": 2}}

test_in_error if main.half == 1 with input as {"facts": {"bytes": 1, "depth": 0}}

test_cases[a] if {
	some a in [1, 2, 3]
	count(main.deny) == 1 with input as {"facts": {"bytes": a}}
}

test_cases_that_pass[a] if {
	some a in [1]
	count(main.deny) == 1 with input as {"facts": {"bytes": a}}
}

todo_test_later if main.deny == {"three"}
