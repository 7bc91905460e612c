package schema

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

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
	reasonForbidden  = "has a form that the schema forbids"
)

// leaf returns keyword and reason of a violation that concerns the value itself.
func (f *flattener) leaf(k jsonschema.ErrorKind) (keyword, reason string, known bool) {
	switch k := k.(type) {
	case *kind.FalseSchema:
		return falseSchema, "is not allowed here", true
	case *kind.Not:
		return "not", reasonForbidden, true
	case *kind.Type:
		return "type", reasonType(k.Got, k.Want), true
	case *kind.Enum:
		return "enum", "must be one of " + values(k.Want), true
	case *kind.Const:
		return "const", "must be " + values([]any{k.Want}), true
	case *kind.Format:
		if other := (*otherValue)(nil); errors.As(k.Err, &other) {
			return other.allowed.keyword, other.allowed.reason, true
		}
		return "format", "is not a valid " + ascii(k.Want), true
	case *kind.Pattern:
		return "pattern", "does not match the pattern " + quote(k.Want, 120), true
	case *kind.MinLength:
		return "minLength", fewer(k.Got, k.Want, "character"), true
	case *kind.MaxLength:
		return "maxLength", more(k.Got, k.Want, "character"), true
	case *kind.ContentEncoding:
		return "contentEncoding", "is not valid " + ascii(k.Want) + " text", true
	case *kind.ContentMediaType:
		return "contentMediaType", "is not valid " + ascii(k.Want) + " content", true
	case *kind.ContentSchema:
		return "contentSchema", "holds content that does not fit its schema", true
	}
	if keyword, reason, known := f.numberLeaf(k); known {
		return keyword, reason, true
	}
	return containerLeaf(k)
}

func (f *flattener) numberLeaf(k jsonschema.ErrorKind) (keyword, reason string, known bool) {
	bound := func(got, want *big.Rat, relation string) string {
		return "is " + f.number(got) + " but must be " + relation + " " + f.number(want)
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
		return "minContains", fmt.Sprintf("has %s of the kind that the schema asks for but at least %s needed", counted(len(k.Got), "item"), are(k.Want)), true
	case *kind.MaxContains:
		return "maxContains", fmt.Sprintf("has %s of the kind that the schema limits but at most %s allowed", counted(len(k.Got), "item"), are(k.Want)), true
	}
	return "", "", false
}

func fewer(got, want int, unit string) string {
	if got == 0 {
		return "is empty but needs at least " + counted(want, unit)
	}
	return fmt.Sprintf("has %s but at least %s needed", counted(got, unit), are(want))
}

func more(got, want int, unit string) string {
	return fmt.Sprintf("has %s but at most %s allowed", counted(got, unit), are(want))
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
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

// reasonName joins what is wrong with the name of a property.
func reasonName(list []Violation) string {
	reasons := make([]string, len(list))
	for i, v := range list {
		reasons[i] = v.Reason
	}
	return "the property name " + strings.Join(reasons, " and ")
}

func reasonType(got string, want []string) string {
	wanted := slices.Compact(slices.Sorted(slices.Values(want)))
	if slices.Contains(wanted, "number") {
		wanted = slices.DeleteFunc(wanted, func(w string) bool { return w == "integer" })
	}
	if i := slices.Index(wanted, "null"); i >= 0 { // "or null" reads best at the end
		wanted = append(slices.Delete(wanted, i, i+1), "null")
	}
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
