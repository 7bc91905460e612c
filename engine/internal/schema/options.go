package schema

import "time"

// Options say how a document is read and what checking it may cost.
type Options struct {
	// Default is the dialect of a document without $schema: Draft7 or Draft2020.
	// What would mean something else in the other one is a fault then.
	Default Dialect
	// Declared, if not 0, stands in for a $schema that the document lacks, so that
	// nothing about it is open to doubt.
	Declared Dialect
	Formats  Formats
	// Backtracking allows patterns that need a backtracking engine, such as
	// look-ahead, where a maxLength bounds the text.
	Backtracking bool
	// CapTexts is for schemas that nobody here can add a maxLength to: a pattern that
	// backtracks needs none then, and a text of more than 1,024 characters is refused.
	CapTexts bool
	// OpenRoot lets a root pass, with a warning, that does not say whether members
	// that it does not name are allowed. CheckRoot alone looks at it.
	OpenRoot bool
	Limits   Limits
}

// Formats says what the keyword format does.
type Formats int

// Both readings are in the specification (2020-12, Validation, section 7.2).
const (
	AssertFormats   Formats = iota // a value without the format is refused
	AnnotateFormats                // the keyword is taken for a remark
)

// Limits bound what a document and a validation may cost.
type Limits struct {
	Subschemas    int           // in one document
	EnumValues    int           // in one enum
	Compile       time.Duration // of one document
	Steps         int           // of one validation, whatever the value's size
	StepsPerValue int           // of one validation, on top, for each value that the payload holds
	Validate      time.Duration // one validation
}
