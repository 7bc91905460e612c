package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
	"github.com/sallyport-mcp/sallyport/engine/internal/schema"
)

// merge joins what both doors found into one list: sorted by path, then policy
// before schema, then keyword, then reason. Where both doors report the same
// keyword at the same path, the policy's entry stays.
func (e *Engine) merge(found []policy.Violation, broken []schema.Violation) ([]Violation, error) {
	list := make([]Violation, 0, len(found)+len(broken))
	for _, f := range found {
		tokens, ok := pointerTokens(f.Path)
		if !ok {
			return nil, &badPointerError{rule: f.Rule}
		}
		rule := e.policy.Rules()[f.Rule]
		list = append(list, Violation{
			Reason: f.Reason, Stage: StagePolicy, Rule: f.Rule, Title: rule.Title, Severity: rule.Severity,
			Keyword: f.Keyword, tokens: tokens,
		})
	}
	for _, b := range broken {
		list = append(list, Violation{
			Reason: b.Reason, Stage: StageSchema, Keyword: b.Keyword, SchemaLocation: b.Location, tokens: b.Tokens,
		})
	}
	slices.SortStableFunc(list, compareViolations)
	list = slices.CompactFunc(list, func(a, b Violation) bool { return compareViolations(a, b) == 0 })
	return dropRepeated(list), nil
}

type badPointerError struct{ rule string }

func (e *badPointerError) Error() string {
	return "rule " + e.rule + ": the path is not an RFC 6901 pointer"
}

func compareViolations(a, b Violation) int {
	return cmp.Or(
		schema.CompareTokens(a.tokens, b.tokens),
		strings.Compare(string(a.Stage), string(b.Stage)),
		strings.Compare(a.Check(), b.Check()),
		strings.Compare(a.Reason, b.Reason),
	)
}

// dropRepeated removes schema entries whose path and keyword a rule has reported.
// The list is sorted, so the entries of one path are neighbours, policy first.
func dropRepeated(list []Violation) []Violation {
	kept := list[:0]
	start := 0 // of the entries of this path, in kept
	for _, v := range list {
		if len(kept) > 0 && schema.CompareTokens(kept[len(kept)-1].tokens, v.tokens) != 0 {
			start = len(kept)
		}
		repeated := v.Stage == StageSchema && slices.ContainsFunc(kept[start:], func(k Violation) bool {
			return k.Stage == StagePolicy && k.Keyword == v.Keyword
		})
		if !repeated {
			kept = append(kept, v)
		}
	}
	return kept
}

// refusal renders a list of violations, capped as the policy says.
func (e *Engine) refusal(tool string, code int, list []Violation, omitted int) *ValidationError {
	r := &e.reading
	if len(list) > r.MaxViolations {
		omitted += len(list) - r.MaxViolations
		list = list[:r.MaxViolations:r.MaxViolations]
	}
	for i := range list {
		list[i].Path = pointerOf(list[i].tokens, r.MaxPathBytes)
		list[i].Reason = cut(printable(list[i].Reason), r.MaxReasonBytes)
	}
	name := cut(printable(cut(tool, r.MaxToolNameBytes)), r.MaxToolNameBytes)
	return &ValidationError{
		Tool:       name,
		Code:       code,
		Message:    message(name, code, list, omitted),
		Violations: list,
		Omitted:    omitted,
	}
}
