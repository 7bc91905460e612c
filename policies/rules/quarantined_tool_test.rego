package sallyport.rules.quarantined_tool_test

import data.sallyport.fixtures_test as fixtures
import data.sallyport.main
import data.sallyport.rules.quarantined_tool
import rego.v2

test_other_tools_pass if quarantined_tool.deny == set() with input as fixtures.clean

test_refused[name] if {
	some name, case in {
		"with the reason": {"fact": "its schema cannot be enforced: at /type: must be a string", "reason": "the tool is in quarantine, since its schema cannot be enforced: at /type: must be a string"},
		"with a reason of the wrong type": {"fact": false, "reason": "the tool is in quarantine"},
		"without a reason": {"fact": null, "reason": "the tool is in quarantine"},
	}
	call := fixtures.with_members({"/facts/registered": false, "/facts/quarantine": case.fact})
	quarantined_tool.deny == {{"path": "", "reason": case.reason, "code": -32601, "halt": true}} with input as call
}

# Its reason says more than that there is no schema of the name.
test_is_the_whole_answer if {
	call := fixtures.with_members({"/facts/registered": false, "/facts/quarantine": "why"})
	{finding.rule | some finding in main.verdict.violations} == {"quarantined_tool"} with input as call
	main.verdict.code == -32601 with input as call
	main.verdict.halt == true with input as call
}

test_is_refused_in_permissive_mode[mode] if {
	some mode in ["strict", "permissive"]
	call := fixtures.with_members({"/mode": mode, "/facts/registered": false, "/facts/quarantine": "why"})
	main.verdict.on_rejection == "refuse" with input as call
}
