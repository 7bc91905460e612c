package engine

import (
	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
)

// anyTool stands for all tools in the attach of a selection.
const anyTool = "*"

// selections are what the rules ask for, ready for the decoder.
type selections struct {
	byTool map[string]map[string]*payload.Selection // tool -> rule
	others map[string]*payload.Selection            // for tools that are not named, by rule
}

func newSelections(asked map[string]policy.Selection) *selections {
	s := &selections{byTool: map[string]map[string]*payload.Selection{}, others: map[string]*payload.Selection{}}
	for rule, selection := range asked {
		if places := selection.Attach[anyTool]; len(places) > 0 {
			s.others[rule] = selectionAt(&selection, places)
		}
		for tool := range selection.Attach {
			if tool != anyTool {
				s.byTool[tool] = nil
			}
		}
	}
	for tool := range s.byTool {
		own := map[string]*payload.Selection{}
		for rule, selection := range asked {
			if places := append(append([]string(nil), selection.Attach[anyTool]...), selection.Attach[tool]...); len(places) > 0 {
				own[rule] = selectionAt(&selection, places)
			}
		}
		s.byTool[tool] = own
	}
	return s
}

func selectionAt(asked *policy.Selection, places []string) *payload.Selection {
	s := &payload.Selection{Keys: asked.Keys}
	for _, place := range places {
		tokens, _ := pointerTokens(place) // the policy has seen to its form
		s.Places = append(s.Places, tokens)
	}
	for _, r := range asked.CodePoints {
		s.CodePoints = append(s.CodePoints, payload.CodePointRange{From: rune(r[0]), To: rune(r[1])})
	}
	s.Contains = payload.NewTexts(asked.Contains)
	return s
}

// in returns what the rules ask for of one payload, by rule.
func (s *selections) in(tool string, object map[string]any, most int) map[string]policy.Selected {
	asked, own := s.byTool[tool]
	if !own {
		asked = s.others
	}
	var found map[string]policy.Selected
	for rule, selection := range asked {
		selected := payload.Select(object, selection, most)
		if selected.Total == 0 {
			continue
		}
		if found == nil {
			found = map[string]policy.Selected{}
		}
		converted := policy.Selected{Total: selected.Total}
		for _, one := range selected.Strings {
			converted.Strings = append(converted.Strings, policy.SelectedString(one))
		}
		found[rule] = converted
	}
	return found
}
