package schema

import (
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// lengths stands for minLength and maxLength. The validator's own counts the characters of
// every string; the number of bytes mostly says enough, since a character takes from one
// to four of them.
type lengths struct{ least, most *int } // nil where absent

// takeLengths takes the keywords out of a schema. ok is false where there are none.
func takeLengths(s *jsonschema.Schema) (taken lengths, ok bool) {
	taken = lengths{s.MinLength, s.MaxLength}
	s.MinLength, s.MaxLength = nil, nil
	return taken, taken != lengths{}
}

// Validate implements jsonschema.SchemaExt.
func (l lengths) Validate(ctx *jsonschema.ValidatorContext, value any) {
	text, ok := value.(string)
	if !ok {
		return
	}
	const longest = utf8.UTFMax
	enough := l.least == nil || len(text)/longest >= *l.least
	fits := l.most == nil || len(text) <= *l.most
	if enough && fits {
		return
	}
	n := utf8.RuneCountInString(text)
	if l.least != nil && n < *l.least {
		ctx.AddError(&kind.MinLength{Got: n, Want: *l.least})
	}
	if l.most != nil && n > *l.most {
		ctx.AddError(&kind.MaxLength{Got: n, Want: *l.most})
	}
}
