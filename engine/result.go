package engine

import (
	"errors"
	"fmt"

	"github.com/sallyport-mcp/sallyport/engine/internal/schema"
)

// Stage names the door that found a violation.
type Stage string

// The two doors.
const (
	StagePolicy Stage = "policy"
	StageSchema Stage = "schema"
)

// Violation is one thing that is wrong with a payload. On the wire it has exactly
// two members, path and reason; the others are for logs and tests.
type Violation struct {
	// Path is the RFC 6901 pointer of the value concerned, "" for the root. A
	// missing property has the path that it would have. Characters that do not
	// print are written as \u{...} and over-long pointers are cut.
	Path string `json:"path"`
	// Reason says what is wrong, in at most 256 bytes; it does not repeat string
	// values of the caller unless the rule says so.
	Reason string `json:"reason"`

	Stage    Stage  `json:"-"`
	Rule     string `json:"-"` // policy: name of the rule
	Title    string `json:"-"` // policy: title of the rule
	Severity string `json:"-"` // policy: low, medium, high or critical
	Keyword  string `json:"-"` // the JSON Schema keyword; for a policy the one that finds the same, if any
	// SchemaLocation is the place in the tool's schema, as a URI fragment pointer.
	SchemaLocation string `json:"-"`

	tokens []string
}

// Check returns the name of the rule or, for the schema, of the keyword.
func (v Violation) Check() string {
	if v.Stage == StagePolicy {
		return v.Rule
	}
	return v.Keyword
}

// ValidatedPayload is a payload that may reach a handler.
type ValidatedPayload struct {
	Tool string
	// Payload is the decoded object; numbers are json.Number, so that they keep
	// every digit. It is empty for a bypassed call whose arguments are not an
	// object. It is the receiver's own: no other call shares it.
	Payload map[string]any
	// Raw holds the very bytes that were judged, and that are to be forwarded. They
	// are the bytes that were sent, unless Repairs says otherwise.
	Raw []byte
	// Repairs are the changes that made the call acceptable, in the order of their
	// paths. Only a tool for which the operator allows them has any.
	Repairs []Repair
	// Exempted are findings of the rules that do not count, by an exemption or since the
	// rule is switched off.
	Exempted []Exempted
	// Bypassed is what the call would have been refused with; nil for a call that
	// both doors accepted. Only permissive mode, and what the policy data has in
	// permissive_until, set it.
	Bypassed *ValidationError
}

// JSON-RPC 2.0 error codes of a refusal. Which one a call gets is decided by the
// policy; these are here for callers who compare.
const (
	CodeMethodNotFound = -32601 // unknown tool
	CodeInvalidParams  = -32602 // everything else
)

// ErrFault is wrapped by a ValidationError whose call could not be judged: an
// evaluation error, a spent time-out, a cancelled context, a panic. Such a call
// is refused in every mode.
var ErrFault = errors.New("the call could not be judged")

// ValidationError is the refusal of one call.
type ValidationError struct {
	// Tool is the name as called; characters that do not print are written as
	// \u{...} and over-long names are cut.
	Tool    string
	Code    int    // CodeMethodNotFound or CodeInvalidParams
	Message string // one line that names the first violations
	// Violations are sorted by path, policy before schema, and are never empty.
	Violations []Violation
	// Omitted counts violations that exist but are not listed.
	Omitted int
	// Repairs are the changes that were tried, where the operator allows them, and
	// were not enough. The violations are those of the repaired payload.
	Repairs []Repair

	fault error
}

// Truncated says whether violations exist that are not listed.
func (e *ValidationError) Truncated() bool { return e.Omitted > 0 }

// Error returns the one-line message.
func (e *ValidationError) Error() string { return e.Message }

// Unwrap returns the cause if the call could not be judged; it wraps ErrFault.
func (e *ValidationError) Unwrap() error { return e.fault }

// RPCError is the error object of a JSON-RPC 2.0 response (section 5.1 there).
type RPCError struct {
	Code    int          `json:"code"`
	Message string       `json:"message"`
	Data    RPCErrorData `json:"data"`
}

// RPCErrorData is the data member of a refusal.
type RPCErrorData struct {
	Tool      string      `json:"tool"`
	Errors    []Violation `json:"errors"`
	Truncated bool        `json:"truncated,omitempty"`
	Omitted   int         `json:"omitted,omitempty"`
}

// JSONRPC returns the refusal as a JSON-RPC error object; the envelope with the
// id is the caller's.
func (e *ValidationError) JSONRPC() RPCError {
	return RPCError{
		Code:    e.Code,
		Message: e.Message,
		Data: RPCErrorData{
			Tool:      e.Tool,
			Errors:    append([]Violation(nil), e.Violations...),
			Truncated: e.Truncated(),
			Omitted:   e.Omitted,
		},
	}
}

// faultError refuses a call that could not be judged. Its reason is fixed, since
// the cause may quote anything; the cause is for the log.
func (e *Engine) faultError(tool string, cause error) *ValidationError {
	v := Violation{Reason: "the call could not be judged because of an internal fault, so it is refused", Stage: StagePolicy, Rule: "inspection"}
	if errors.Is(cause, schema.ErrBudget) {
		v.Reason = "the call could not be judged because the check against the schema costs too much, so it is refused; send less data, or less nested"
	}
	refusal := e.refusal(tool, CodeInvalidParams, []Violation{v}, 0)
	refusal.fault = fmt.Errorf("%w: %w", ErrFault, cause)
	return refusal
}
