package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxReason is how many bytes a reason may have. Whoever shows reasons may cut
// them shorter.
const maxReason = 256

// falseSchema is what the boolean schema false is called among the keywords.
const falseSchema = "false schema"

const (
	reasonMissing    = "required property is missing"
	reasonUnexpected = "unexpected property; the schema allows no others"
	reasonSurplus    = "surplus item; the schema allows no further ones"
)

// leaf returns keyword and reason of a violation that concerns the value itself.
func leaf(k jsonschema.ErrorKind) (keyword, reason string, known bool) {
	switch k := k.(type) {
	case *kind.FalseSchema:
		return falseSchema, "is not allowed here", true
	case *kind.Not:
		return "not", "has a form that the schema forbids", true
	case *kind.Type:
		return "type", reasonType(k.Got, k.Want), true
	case *kind.Enum:
		return "enum", "must be one of " + values(k.Want), true
	case *kind.Const:
		return "const", "must be " + values([]any{k.Want}), true
	case *kind.Format:
		return "format", "is not a valid " + plain(k.Want), true
	case *kind.Pattern:
		return "pattern", "does not match the pattern " + quote(k.Want, 120), true
	case *kind.MinLength:
		return "minLength", fewer(k.Got, k.Want, "character"), true
	case *kind.MaxLength:
		return "maxLength", more(k.Got, k.Want, "character"), true
	case *kind.ContentEncoding:
		return "contentEncoding", "is not valid " + plain(k.Want) + " text", true
	case *kind.ContentMediaType:
		return "contentMediaType", "is not valid " + plain(k.Want) + " content", true
	case *kind.ContentSchema:
		return "contentSchema", "holds content that does not fit its schema", true
	}
	if keyword, reason, known := numberLeaf(k); known {
		return keyword, reason, true
	}
	return containerLeaf(k)
}

func numberLeaf(k jsonschema.ErrorKind) (keyword, reason string, known bool) {
	bound := func(got, want *big.Rat, relation string) string {
		return fmt.Sprintf("is %s but must be %s %s", number(got), relation, number(want))
	}
	switch k := k.(type) {
	case *kind.Minimum:
		return "minimum", bound(k.Got, k.Want, "at least"), true
	case *kind.Maximum:
		return "maximum", bound(k.Got, k.Want, "at most"), true
	case *kind.ExclusiveMinimum:
		return "exclusiveMinimum", bound(k.Got, k.Want, "greater than"), true
	case *kind.ExclusiveMaximum:
		return "exclusiveMaximum", bound(k.Got, k.Want, "less than"), true
	case *kind.MultipleOf:
		return "multipleOf", bound(k.Got, k.Want, "a multiple of"), true
	}
	return "", "", false
}

func containerLeaf(k jsonschema.ErrorKind) (keyword, reason string, known bool) {
	switch k := k.(type) {
	case *kind.MinItems:
		return "minItems", fewer(k.Got, k.Want, "item"), true
	case *kind.MaxItems:
		return "maxItems", more(k.Got, k.Want, "item"), true
	case *kind.MinProperties:
		return "minProperties", fewer(k.Got, k.Want, "property"), true
	case *kind.MaxProperties:
		return "maxProperties", more(k.Got, k.Want, "property"), true
	case *kind.Contains:
		return "contains", "has no item of the kind that the schema asks for", true
	case *kind.MinContains:
		return "minContains", fmt.Sprintf("has %s of the kind that the schema asks for but needs at least %d", counted(len(k.Got), "item"), k.Want), true
	case *kind.MaxContains:
		return "maxContains", fmt.Sprintf("has %s of the kind that the schema limits but may have at most %d", counted(len(k.Got), "item"), k.Want), true
	}
	return "", "", false
}

func reasonNeeded(by string) string {
	return "property is missing; it is required because " + quote(by, 48) + " is given"
}

func reasonRepeated(first int) string {
	return fmt.Sprintf("is equal to item %d, but items must be unique", first)
}

func reasonTwoFit(fitting []int) string {
	return fmt.Sprintf("fits alternatives %d and %d of the schema but must fit exactly one", fitting[0]+1, fitting[1]+1)
}

func reasonNoneFits(alternatives int) string {
	return fmt.Sprintf("fits none of the %d alternatives of the schema", alternatives)
}

func reasonType(got string, want []string) string {
	wanted := slices.Compact(slices.Sorted(slices.Values(want)))
	for i, w := range wanted {
		wanted[i] = withArticle(w)
	}
	list := strings.Join(wanted, ", ")
	if last := len(wanted) - 1; last > 0 {
		list = strings.Join(wanted[:last], ", ") + " or " + wanted[last]
	}
	return fmt.Sprintf("is %s but must be %s", withArticle(got), list)
}

func withArticle(jsonType string) string {
	switch jsonType {
	case "null":
		return "null"
	case "array", "integer", "object":
		return "an " + jsonType
	}
	return "a " + jsonType
}

func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func fewer(got, want int, unit string) string {
	if got == 0 {
		return fmt.Sprintf("is empty but needs at least %s", counted(want, unit))
	}
	return fmt.Sprintf("has %s but needs at least %d", counted(got, unit), want)
}

func more(got, want int, unit string) string {
	return fmt.Sprintf("has %s but may have at most %d", counted(got, unit), want)
}

func counted(n int, unit string) string {
	switch {
	case n == 1:
		return "1 " + unit
	case strings.HasSuffix(unit, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(unit, "y"))
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// number shows a number exactly, or roughly where it would be long.
func number(r *big.Rat) string {
	const longest = 24
	precision, exact := r.FloatPrec()
	if exact && precision <= longest {
		if text := r.FloatString(precision); len(text) <= longest {
			return text
		}
	}
	return "about " + new(big.Float).SetRat(r).Text('e', 6)
}

// values shows what a schema lists, shortened.
func values(list []any) string {
	const shown, longest = 12, 48
	var parts []string
	for i, value := range list {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-shown))
			break
		}
		if text, ok := value.(string); ok {
			parts = append(parts, quote(text, longest))
			continue
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			encoded = []byte("a value of the schema")
		}
		parts = append(parts, cut(plain(string(encoded)), longest))
	}
	return strings.Join(parts, ", ")
}

// quote shows text of the schema in ASCII, cut to so many characters.
func quote(text string, longest int) string {
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "..."
	}
	return fmt.Sprintf("%+q", text)
}

// plain shows text of the schema in ASCII without quotes.
func plain(text string) string {
	quoted := quote(text, 120)
	return quoted[1 : len(quoted)-1]
}

func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len("...")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
