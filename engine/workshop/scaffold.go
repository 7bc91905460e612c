package workshop

import (
	"fmt"
	"regexp"
	"strings"
)

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// longestName bounds the name of a new rule, in bytes.
const longestName = 64

// NewRule returns a rule of this name with its test, by file name. Both pass all checks as
// they are, and say what to change. The error is about the name.
func NewRule(name string) (map[string]string, error) {
	switch {
	case !ruleName.MatchString(name) || len(name) > longestName:
		return nil, fmt.Errorf("%q is no name for a rule: use lower-case letters, digits and _, a letter first, at most %d", name, longestName)
	case strings.HasSuffix(name, "_test"):
		return nil, fmt.Errorf("%q would be taken for a test", name)
	case keywords[name]:
		return nil, fmt.Errorf("%q is a keyword of Rego", name)
	}
	fill := strings.NewReplacer("NAME", name).Replace
	return map[string]string{name + ".rego": fill(newRule), name + "_test.rego": fill(newTest)}, nil
}

var keywords = map[string]bool{
	"as": true, "contains": true, "data": true, "default": true, "else": true, "every": true, "false": true, "if": true, "import": true, "in": true,
	"input": true, "not": true, "null": true, "package": true, "some": true, "true": true, "with": true,
}

const newRule = `# METADATA
# scope: package
# title: Say in one line what is refused
# description: >-
#   Say why, and what a caller has to send instead.
# custom:
#   severity: medium
package sallyport.rules.NAME

import rego.v2

# One finding for each text that asks for something else than https. Change the places
# ("*" stands for every tool), and what is looked for.
selection := {"attach": {"*": ["/**/url"]}, "contains": ["http:"]}

deny contains {"path": found.path, "reason": "must use https"} if {
	some found in input.facts.selected.NAME.strings
	startswith(lower(found.text), "http:")
}

# The list of texts is bounded. What is not on it has not been looked at.
deny contains {"path": "", "reason": "has more texts than can be checked; send fewer"} if {
	selected := input.facts.selected.NAME
	selected.total > count(selected.strings)
}
`

const newTest = `package sallyport.rules.NAME_test

import data.sallyport.rules.NAME
import rego.v2

call(texts, total) := {
	"tool": "fetch",
	"mode": "strict",
	"today": "2026-01-01",
	"payload": {},
	"facts": {"selected": {"NAME": {"strings": texts, "total": total}}},
}

at(path, text) := {"path": path, "in": "value", "text": text}

test_refused[text] if {
	some text in ["http://example.com", "HTTP://example.com"]
	NAME.deny == {{"path": "/url", "reason": "must use https"}} with input as call([at("/url", text)], 1)
}

test_passes[text] if {
	some text in ["https://example.com", "about http: and its successors", ""]
	NAME.deny == set() with input as call([at("/url", text)], 1)
}

test_nothing_selected if NAME.deny == set() with input as {"facts": {"selected": {}}}

test_more_than_can_be_checked if {
	NAME.deny == {{"path": "", "reason": "has more texts than can be checked; send fewer"}} with input as call([], 1)
}

test_asks_for_its_texts if NAME.selection.contains == ["http:"]
`
