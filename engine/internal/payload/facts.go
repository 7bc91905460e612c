package payload

import "fmt"

// Limits say how far Decode reads and what it looks for.
type Limits struct {
	MaxBytes        int          // a value of more bytes is measured, not decoded
	MaxDepth        int          // nothing deeper is built; the root has depth 0, scalars count
	MaxValues       int          // no more are built; the root, members and elements count
	MaxNumberLength int          // characters of one number
	MaxExponent     int          // greatest absolute value of a written exponent
	ListedStrings   int          // entries in ControlCharacters.Strings at most
	Watched         CodePointSet // code points that make a string worth listing
}

// CodePointSet is a set of control characters: C0, DEL and C1.
type CodePointSet [3]uint64

// NewCodePointSet makes a set. A code point that is no control character is an
// error: the decoder does not stop at those.
func NewCodePointSet(codePoints []int) (CodePointSet, error) {
	var s CodePointSet
	for _, c := range codePoints {
		if c < 0 || c > 0x9F || c >= 0x20 && c < 0x7F {
			return CodePointSet{}, fmt.Errorf("code point %d is no control character", c)
		}
		s.add(rune(c))
	}
	return s, nil
}

// Has says whether r is in the set.
func (s CodePointSet) Has(r rune) bool {
	return r >= 0 && r < 0xA0 && s[r>>6]&(1<<(r&63)) != 0
}

func (s *CodePointSet) add(r rune) { s[r>>6] |= 1 << (r & 63) }

// list returns the members in ascending order.
func (s CodePointSet) list() []int {
	var members []int
	for r := rune(0); r < 0xA0; r++ {
		if s.Has(r) {
			members = append(members, int(r))
		}
	}
	return members
}

// Result is what Decode makes of a payload.
type Result struct {
	// Value is built of map[string]any, []any, json.Number, string, bool and nil.
	// It is nil unless Facts.Complete, and no part of it aliases the given bytes.
	Value any
	Facts Facts
}

// Facts are measurements of one payload.
type Facts struct {
	// Type is the JSON type of the root, told from how it starts: object, array,
	// string, number, boolean, null; unknown for text that starts like no JSON.
	Type     string
	Bytes    int    // length of the value without white space around it
	Complete bool   // the whole value was read and decoded
	Stop     string // why not: StopSize, StopDepth, StopValues, StopFault; "" when Complete
	Values   int    // how many were read, the root, members and elements among them
	// Depth is that of the deepest value; it is counted to the end even past
	// MaxDepth, where nothing else is checked any more.
	Depth int
	// Deepest is the RFC 6901 pointer of the first value at the greatest depth, or
	// of the first one beyond MaxDepth.
	Deepest           string
	ControlCharacters ControlCharacters
	Fault             *Fault
}

// Reasons to stop before the end.
const (
	StopSize   = "size"
	StopDepth  = "depth"
	StopValues = "values"
	StopFault  = "fault"
)

// ControlCharacters tells of strings that hold watched code points.
type ControlCharacters struct {
	Strings []StringFact // the first of them, in document order
	Total   int          // how many there are, listed or not
}

// StringFact is one string value or object key that holds watched code points.
type StringFact struct {
	Path       string // RFC 6901 pointer of the string, or of the member whose key it is
	In         string // "key" or "value"
	CodePoints []int  // the different ones, ascending
	Count      int    // how many characters are such code points
}

// Fault is the first thing that keeps the text from being strict JSON.
type Fault struct {
	Code   string
	Path   string // RFC 6901 pointer of the value or member that was being read
	Offset int    // bytes from the start of the given text
}

// Codes of faults.
const (
	FaultEmpty          = "empty"
	FaultSyntax         = "syntax"
	FaultUnexpectedEnd  = "unexpected_end"
	FaultTrailingData   = "trailing_data"
	FaultDuplicateKey   = "duplicate_key"
	FaultInvalidUTF8    = "invalid_utf8"
	FaultLoneSurrogate  = "lone_surrogate"
	FaultNumberLength   = "number_length"
	FaultNumberExponent = "number_exponent"
	FaultRawControl     = "raw_control_character"
	FaultByteOrderMark  = "byte_order_mark"
)
