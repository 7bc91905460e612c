package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// lintReport is what a walk over a document's keywords found.
type lintReport struct {
	tool     string
	draft    draft
	faults   []*CompileError
	warnings []Warning
}

// lint looks at how a document is written: JSON Schema ignores words that it does
// not know, so a slip of the pen or a keyword of another draft silently allows
// what it was meant to forbid.
func lint(tool string, document any) *lintReport {
	d, known := dialectOf(document)
	report := &lintReport{tool: tool, draft: d}
	if known {
		report.schema(document, "")
	}
	return report
}

func (r *lintReport) fault(at, problem, remedy string) {
	r.faults = append(r.faults, &CompileError{Tool: r.tool, Location: at, Problem: problem, Remedy: remedy})
}

func (r *lintReport) schema(value any, at string) {
	object, ok := value.(map[string]any)
	if !ok {
		return // a boolean schema; anything else is for the metaschema to refuse
	}
	for _, word := range sortedKeys(object) {
		r.word(word, object[word], at)
	}
	if _, refers := object["$ref"]; refers && r.draft <= draft7 {
		r.siblings(object, at)
	}
}

func (r *lintReport) word(word string, value any, at string) {
	here := at + "/" + escape(word)
	k, known := keywords[word]
	switch {
	case !known:
		r.unknown(word, at)
		return
	case r.draft < k.since:
		r.fault(here, fmt.Sprintf("%s is not known in %s and would be ignored", word, r.draft), fmt.Sprintf("declare $schema as %s or later", k.since))
	case k.until != 0 && r.draft > k.until && word != "id":
		r.fault(here, fmt.Sprintf("%s is not known in %s any more and would be ignored", word, r.draft), successor(word))
	}
	if number, isNumber := value.(json.Number); k.length && isNumber {
		if n, err := number.Int64(); err == nil && n > 1<<31 {
			r.fault(here, fmt.Sprintf("%s is beyond what can be counted", number), "use at most 2147483648")
		}
	}
	r.descend(k.place, value, here)
}

func successor(word string) string {
	switch word {
	case "dependencies":
		return "use dependentRequired or dependentSchemas"
	case "additionalItems":
		return "use prefixItems with items"
	}
	return "use $dynamicRef with $dynamicAnchor"
}

func (r *lintReport) descend(p place, value any, at string) {
	list, isList := value.([]any)
	object, isObject := value.(map[string]any)
	switch {
	case p == oneSchema || p == schemaOrList && !isList:
		r.schema(value, at)
	case (p == schemaList || p == schemaOrList) && isList:
		for i, item := range list {
			r.schema(item, fmt.Sprintf("%s/%d", at, i))
		}
	case (p == schemaMap || p == dependencies) && isObject:
		for _, name := range sortedKeys(object) {
			r.schema(object[name], at+"/"+escape(name))
		}
	}
}

func (r *lintReport) unknown(word, at string) {
	here := at + "/" + escape(word)
	switch {
	case strings.HasPrefix(word, "x-") || word == timeoutKeyword && at == "":
	case word == "nullable":
		r.fault(here, "nullable has no effect in JSON Schema, so null would be refused", `add "null" to type instead`)
	case word == timeoutKeyword:
		r.warnings = append(r.warnings, Warning{here, word + " has an effect at the root only", "move it there, or remove it"})
	case foreign[word]:
		r.warnings = append(r.warnings, Warning{here, quote(word, 48) + " has no effect in JSON Schema", "remove it, or name it x-" + word})
	default:
		if meant := nearest(word); meant != "" {
			r.fault(here, quote(word, 48)+" is no keyword and would be ignored", "did you mean "+meant+"?")
			return
		}
		r.warnings = append(r.warnings, Warning{here, quote(word, 48) + " is no keyword of JSON Schema and is ignored", "remove it, or start its name with x-"})
	}
}

// shortestGuess keeps short words, which resemble each other, out of guessing.
const shortestGuess = 5

// nearest returns the keyword that word is likely meant to be.
func nearest(word string) string {
	best, distance := "", 3
	for _, candidate := range sortedKeywords {
		if strings.EqualFold(word, candidate) {
			return candidate
		}
		if len(word) < shortestGuess || len(candidate) < shortestGuess-1 {
			continue
		}
		if d := levenshtein.ComputeDistance(word, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

var sortedKeywords = func() []string {
	words := map[string]any{timeoutKeyword: nil}
	for word := range keywords {
		words[word] = nil
	}
	return sortedKeys(words)
}()

// siblings refuses assertions beside $ref, which drafts up to 7 ignore.
func (r *lintReport) siblings(object map[string]any, at string) {
	for _, word := range sortedKeys(object) {
		k, known := keywords[word]
		if known && word != "$ref" && !k.annotation {
			r.fault(at+"/"+escape(word), fmt.Sprintf("%s beside $ref is ignored in %s", word, r.draft), "put both into an allOf, or declare $schema as draft 2019-09 or later")
		}
	}
}
