package schema

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CompileError is one fault of a schema document.
type CompileError struct {
	Tool     string
	Location string // RFC 6901 pointer into the document, "" for its root
	Problem  string
	Remedy   string
}

// Error reads "at /properties/a: problem; remedy". It leaves out the tool, which
// the caller knows, perhaps by the name of a file.
func (e *CompileError) Error() string {
	text := e.Problem
	if e.Location != "" {
		text = "at " + ascii(e.Location) + ": " + text
	}
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Warning tells of something in a schema document that has no effect.
type Warning struct {
	Location string // RFC 6901 pointer into the document
	Problem  string
	Remedy   string
}

// joined sorts faults by place, drops those that say the same twice, and makes
// one error of them.
func joined(faults []*CompileError) error {
	slices.SortStableFunc(faults, func(a, b *CompileError) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Problem, b.Problem))
	})
	faults = slices.CompactFunc(faults, func(a, b *CompileError) bool { return *a == *b })
	all := make([]error, len(faults))
	for i, f := range faults {
		all[i] = f
	}
	return errors.Join(all...)
}

// merged adds the faults that the compiler found where none is known yet. Those
// that are known say the same in better words.
func merged(known, compilers []*CompileError) []*CompileError {
	all := slices.Clone(known)
	for _, f := range compilers {
		if !slices.ContainsFunc(known, func(k *CompileError) bool { return k.Location == f.Location }) {
			all = append(all, f)
		}
	}
	return all
}

func (found *survey) fault(at, problem, remedy string) *CompileError {
	return &CompileError{Tool: found.tool, Location: at, Problem: problem, Remedy: remedy}
}

const noURL = "is not a URL reference"

// explain says in our words what the compiler refused.
func (found *survey) explain(err error) []*CompileError {
	var (
		invalid   *jsonschema.SchemaValidationError
		load      *jsonschema.LoadURLError
		regex     *jsonschema.InvalidRegexError
		dangling  *jsonschema.JSONPointerNotFoundError
		anchor    *jsonschema.AnchorNotFoundError
		malformed *jsonschema.InvalidJsonPointerError
		badURL    *jsonschema.ParseURLError
		badID     *jsonschema.ParseIDError
		badName   *jsonschema.ParseAnchorError
		sameID    *jsonschema.DuplicateIDError
		sameName  *jsonschema.DuplicateAnchorError
	)
	one := func(f *CompileError) []*CompileError { return []*CompileError{f} }
	switch {
	case errors.As(err, &invalid):
		return found.metaschemaFaults(err, found.within(invalid.URL))
	case errors.As(err, &load):
		return one(found.fetches(found.referenceTo(load.URL)))
	case errors.As(err, &dangling):
		return one(found.dangles(found.referenceTo(dangling.URL)))
	case errors.As(err, &malformed):
		return one(found.dangles(found.referenceTo(malformed.URL)))
	case errors.As(err, &anchor):
		return one(found.dangles(found.referenceTo(anchor.Reference)))
	case errors.As(err, &regex):
		at := found.within(regex.URL)
		if strings.HasSuffix(at, "/patternProperties") {
			at += "/" + escape(regex.Regex)
		}
		return one(found.unsupported(at, &pattern{text: regex.Regex, err: regex.Err}))
	case errors.As(err, &badURL):
		return one(found.fault(found.referenceTo(badURL.URL).at, noURL, ""))
	case errors.As(err, &badID):
		return one(found.fault(found.within(badID.URL)+"/"+found.idWord(), noURL, ""))
	case errors.As(err, &badName):
		return one(found.fault(found.within(badName.URL)+"/"+found.idWord(), noURL, ""))
	case errors.As(err, &sameID):
		return one(found.fault(max(sameID.Ptr1, sameID.Ptr2), "has the same $id as "+quote(min(sameID.Ptr1, sameID.Ptr2), 120), "give each its own"))
	case errors.As(err, &sameName):
		return one(found.fault(max(sameName.Ptr1, sameName.Ptr2), "has the same anchor as "+quote(min(sameName.Ptr1, sameName.Ptr2), 120), "give each its own"))
	}
	text := strings.ReplaceAll(err.Error(), baseURL(found.tool), "")
	return one(found.fault("", "the validator does not compile this schema: "+quote(text, 120), ""))
}

// metaschemaFaults lists where the schema below the pointer breaks the rules of
// its draft. One error of another kind gives none.
func (found *survey) metaschemaFaults(err error, below string) []*CompileError {
	var invalid *jsonschema.SchemaValidationError
	if !errors.As(err, &invalid) {
		return nil
	}
	var faults []*CompileError
	var broken *jsonschema.ValidationError
	if errors.As(invalid.Err, &broken) {
		subject := valueAt(found.document, tokensOf(below))
		list, _ := flatten(broken, subject, "", hints{}, &budget{}) // what it does not understand ends below
		for _, v := range list {
			at := below + pointer(v.Tokens)
			pattern, isText := valueAt(subject, v.Tokens).(string)
			switch {
			case v.Keyword == "propertyNames":
				// Only patternProperties has such a rule. The validator puts it to a
				// wrong place, and lint has it in the right one.
				continue
			case v.Keyword == "format" && isText && strings.HasSuffix(at, "/pattern"):
				if p := found.patterns.compile(pattern); p.err != nil {
					faults = append(faults, found.unsupported(at, p))
					continue
				}
			}
			faults = append(faults, found.fault(at, v.Reason, "see the JSON Schema specification for this keyword"))
		}
	}
	if len(faults) == 0 && len(found.faults) == 0 {
		faults = append(faults, found.fault(below, "is not a valid JSON Schema", ""))
	}
	return faults
}

// within returns the pointer in a URL of this document.
func (found *survey) within(location string) string {
	fragment, ok := strings.CutPrefix(location, baseURL(found.tool)+"#")
	if !ok {
		return ""
	}
	if plain, err := url.PathUnescape(fragment); err == nil {
		return plain
	}
	return fragment
}
