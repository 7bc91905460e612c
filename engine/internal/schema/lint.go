package schema

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/agnivade/levenshtein"
)

// survey is what a walk over a document found.
type survey struct {
	tool     string
	document any
	options  Options
	draft    Dialect
	known    bool // false: a dialect that nothing here can read
	settled  bool // the dialect is more than a default
	faults   []*CompileError
	warnings []Warning

	patterns   *patterns
	resources  map[string]*resource // by URL without fragment
	references []*reference
	detached   []string          // pointers to schemas that the root need not lead to
	seen       map[string]bool   // pointers to schemas looked at
	bulk       int               // bytes of pointers to schemas
	guesses    map[string]string // keywords that unknown words are likely meant to be
	excessive  bool              // too large to be compiled
}

// lint looks at how a document is written: JSON Schema ignores words that it does
// not know, so a slip of the pen or a keyword of another draft silently allows
// what it was meant to forbid. It looks only where a schema may stand, and where a
// reference says that one stands.
func lint(tool string, document any, o Options) *survey {
	found := &survey{tool: tool, document: document, options: o, patterns: newPatterns(o.Backtracking), resources: map[string]*resource{}, guesses: map[string]string{}, seen: map[string]bool{}}
	found.draft, found.known, found.settled = dialectOf(document, o)
	if !found.known {
		found.refuse("/$schema", "is not the URL of a draft that is known here", "use the URL of draft 4, 6, 7, 2019-09 or 2020-12")
		return found
	}
	base, err := url.Parse(baseURL(tool))
	if err != nil {
		found.refuse("", "the name of the tool does not fit into a URL", "")
		return found
	}
	root := &resource{url: base, anchors: map[string]bool{}}
	found.resources[base.String()] = root
	found.schema(document, "", root)
	found.followReferences()
	return found
}

func (found *survey) refuse(at, problem, remedy string) {
	found.faults = append(found.faults, found.fault(at, problem, remedy))
}

func (found *survey) warn(at, problem, remedy string) {
	found.warnings = append(found.warnings, Warning{Location: at, Problem: problem, Remedy: remedy})
}

func (found *survey) schema(value any, at string, within *resource) {
	found.seen[at] = true
	if found.weigh(len(at)); found.excessive {
		return
	}
	object, ok := value.(map[string]any)
	if !ok {
		return // a boolean schema; anything else is for the metaschema to refuse
	}
	within = found.enter(object, at, within)
	for _, word := range sortedKeys(object) {
		found.word(word, object, at, within)
	}
	if _, refers := object["$ref"]; refers {
		found.siblings(object, at)
	}
}

// maxBulk bounds, in bytes, what a small document can be blown up to by long names
// above many subschemas.
const maxBulk = 2 << 20

// maxPatternBytes bounds all patterns of a document, as the engine reads them: some 0.2 s of
// work. A class such as \p{L} takes some thousand bytes.
const maxPatternBytes = 1 << 20

// weigh adds to the size of the document. One that is too large is not looked at any
// further.
func (found *survey) weigh(bytes int) {
	found.bulk += bytes
	switch {
	case found.excessive:
		return
	case len(found.seen) > found.options.Limits.Subschemas:
		found.refuse("", fmt.Sprintf("has more than %d subschemas", found.options.Limits.Subschemas), "split the tool, or describe less")
	case found.patterns.states > maxStates:
		found.refuse("", "has patterns that are too large together", "use shorter ones, and bound lengths with maxLength")
	case found.patterns.bytes > maxPatternBytes:
		found.refuse("", "has patterns that are too long together", "use fewer classes such as \\p{L}")
	case found.bulk > maxBulk:
		found.refuse("", "has names that are too long for so many subschemas", "use shorter ones")
	default:
		return
	}
	found.excessive = true
}

func (found *survey) word(word string, object map[string]any, at string, within *resource) {
	here, value := at+"/"+escape(word), object[word]
	k, known := keywords[word]
	switch {
	case !known:
		found.unknown(word, at)
		return
	case found.draft < k.since:
		found.refuse(here, fmt.Sprintf("%s is not known in %s and would be ignored", word, found.draft), fmt.Sprintf("declare $schema as %s or later", k.since))
	case k.until != 0 && found.draft > k.until && k.annotation:
		found.warn(here, fmt.Sprintf("%s is not known in %s any more and is ignored", word, found.draft), successors[word])
	case k.until != 0 && found.draft > k.until:
		found.refuse(here, fmt.Sprintf("%s is not known in %s any more and would be ignored", word, found.draft), successors[word])
	default:
		if problem, remedy := found.doubt(k.knownIn(Draft7), k.knownIn(Draft2020)); problem != "" && !k.annotation {
			found.refuse(here, word+" "+problem, remedy)
		}
	}
	if k.length && uncountable(value) {
		found.refuse(here, "is more than can be counted", "use at most 2147483648")
	}
	found.value(word, object, at, within)
	found.descend(k.place, value, here, within)
}

// value looks at the values of those keywords that can silently fail.
func (found *survey) value(word string, object map[string]any, at string, within *resource) {
	here, value := at+"/"+escape(word), object[word]
	text, isText := value.(string)
	list, isList := value.([]any)
	switch {
	case word == "$schema" && at != "":
		if d, known := dialectNamed(value); !known || d != found.draft {
			found.refuse(here, "switches to another dialect within the document", "declare one $schema, at the root")
		}
	case word == "$recursiveAnchor" && value == true && at != "":
		// The validator takes the schema at hand for the root of its resource.
		found.refuse(here, "$recursiveAnchor below the root cannot be followed", "write $ref instead of $recursiveRef, or declare $schema as draft 2020-12 and use $dynamicRef")
	case refers[word] && isText:
		found.references = append(found.references, &reference{at: here, text: text, from: within})
	case word == "pattern" && isText:
		found.pattern(here, text, object["maxLength"])
	case word == "patternProperties":
		names, _ := object["propertyNames"].(map[string]any)
		patterns, _ := value.(map[string]any)
		for _, pattern := range sortedKeys(patterns) {
			found.pattern(here+"/"+escape(pattern), pattern, names["maxLength"])
		}
	case word == "type" && len(list) > jsonTypes:
		found.refuse(here, fmt.Sprintf("lists %d types, but there are only %d", len(list), jsonTypes), "list each once")
		found.excessive = true
	case word == "enum" && isList && len(list) > found.options.Limits.EnumValues:
		found.refuse(here, fmt.Sprintf("lists %d values but at most %d are allowed", len(list), found.options.Limits.EnumValues), "use a pattern, or check the value in a rule")
	case word == "enum" && len(list) > longEnum:
		found.warn(here, fmt.Sprintf("lists %d values, which a model has to read each time", len(list)), "use a pattern where one says the same")
	case word == "format" && isText && !checkedFormats[text] && found.options.Formats == AssertFormats:
		found.warn(here, "the format "+quote(text, 48)+" is not checked", "use keywords that are checked, such as pattern or maximum")
	case word == "items" && isList:
		if problem, remedy := found.doubt(true, false); problem != "" && found.draft <= Draft7 {
			found.refuse(here, "a list of schemas "+problem, remedy)
		}
	case word == "$id" && isText && strings.Contains(strings.TrimSuffix(text, "#"), "#"):
		if problem, remedy := found.doubt(true, false); problem != "" && found.draft <= Draft7 {
			found.refuse(here, "a name within the document "+problem, remedy)
		}
	}
}

// jsonTypes is how many types a value may have, integer included.
const jsonTypes = 7

// longEnum is from how many values on an enum is worth a warning.
const longEnum = 100

func (found *survey) descend(p place, value any, at string, within *resource) {
	list, isList := value.([]any)
	object, isObject := value.(map[string]any)
	switch {
	case p == oneSchema || p == schemaOrList && !isList:
		found.schema(value, at, within)
	case (p == schemaList || p == schemaOrList) && isList:
		for i, item := range list {
			found.schema(item, fmt.Sprintf("%s/%d", at, i), within)
		}
	case (p == schemaMap || p == definitions || p == dependencies) && isObject:
		for _, name := range sortedKeys(object) {
			below := at + "/" + escape(name)
			if p == definitions {
				found.detached = append(found.detached, below)
			}
			found.schema(object[name], below, within)
		}
	}
}

func (found *survey) unknown(word, at string) {
	here := at + "/" + escape(word)
	switch {
	case strings.HasPrefix(word, "x-") || word == timeoutKeyword && at == "":
	case disused[word] != "":
		found.refuse(here, word+" is not known after draft 3 and would be ignored", disused[word])
	case word == "nullable":
		found.refuse(here, "nullable has no effect in JSON Schema, so null would be refused", `write type: [..., "null"] instead`)
	case word == timeoutKeyword:
		found.warn(here, word+" has an effect at the root only", "move it there, or remove it")
	case foreign[word]:
		found.warn(here, quote(word, 48)+" has no effect in JSON Schema", "remove it, or name it x-"+word)
	default:
		if meant := found.meant(word); meant != "" {
			found.refuse(here, quote(word, 48)+" is no keyword and would be ignored", "did you mean "+meant+"?")
			return
		}
		found.warn(here, quote(word, 48)+" is no keyword of JSON Schema and is ignored", "remove it, or start its name with x-")
	}
}

// shortestGuess keeps words of few letters, which resemble each other, out of
// guessing.
const shortestGuess = 5

// furthestGuess is how many edits a word may be away from what it is meant to be:
// "additionalProperty" is three away.
func furthestGuess(word string) int {
	if len(word) >= 10 {
		return 3
	}
	return 2
}

// maxUnknown bounds the different words of a document that are no keywords, since each
// is compared with all that are.
const maxUnknown = 500

// meant is nearest, once for each word.
func (found *survey) meant(word string) string {
	meant, known := found.guesses[word]
	if known || found.excessive {
		return meant
	}
	if len(found.guesses) == maxUnknown {
		found.refuse("", fmt.Sprintf("has more than %d different words that are no keywords of JSON Schema", maxUnknown), "remove them, or start their names with x-")
		found.excessive = true
		return ""
	}
	meant = found.nearest(word)
	found.guesses[word] = meant
	return meant
}

// nearest returns the keyword that word is likely meant to be.
func (found *survey) nearest(word string) string {
	furthest := furthestGuess(word)
	best, distance := "", furthest+1
	for _, candidate := range sortedKeywords {
		if until := keywords[candidate].until; until != 0 && until < found.draft {
			continue
		}
		if strings.EqualFold(word, candidate) {
			return candidate
		}
		if len(word) < shortestGuess || len(word) > len(candidate)+furthest || len(candidate) < shortestGuess-1 {
			continue
		}
		if d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

var sortedKeywords = func() []string {
	words := map[string]bool{timeoutKeyword: true}
	for word := range keywords {
		words[word] = true
	}
	return sortedKeys(words)
}()

// siblings refuses assertions beside $ref, which drafts up to 7 ignore.
func (found *survey) siblings(object map[string]any, at string) {
	if found.draft > Draft7 && found.settled {
		return
	}
	for _, word := range sortedKeys(object) {
		k, known := keywords[word]
		if !known || word == "$ref" || k.annotation {
			continue
		}
		here, problem, remedy := at+"/"+escape(word), " beside $ref is ignored in "+found.draft.String(), "put both into an allOf, or declare $schema as draft 2019-09 or later"
		if found.draft > Draft7 {
			problem, remedy = found.doubt(false, true)
			problem = " beside $ref " + problem
		}
		found.refuse(here, word+problem, remedy)
	}
}
