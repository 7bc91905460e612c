package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/sallyport-mcp/sallyport/engine"
)

// Verdicts as they are shown.
const (
	verdictAccepted = "accepted"
	verdictRefused  = "refused"
	verdictBypassed = "bypassed"
)

// result is what became of one call. The engine has made tool, message and errors
// fit to show.
type result struct {
	Input     string             `json:"input"`
	Tool      string             `json:"tool"`
	Verdict   string             `json:"verdict"`
	Code      int                `json:"code"`
	Message   string             `json:"message"`
	Errors    []engine.Violation `json:"errors"`
	Truncated bool               `json:"truncated"`
	Omitted   int                `json:"omitted"`

	file string
	line int
}

func newResult(file string, line int, tool string) result {
	return result{
		Input: fmt.Sprintf("%s:%d", showName(file), line), Tool: tool, Verdict: verdictAccepted,
		Errors: []engine.Violation{}, file: file, line: line,
	}
}

// rejected fills in what a refusal, or what was bypassed, says.
func (r *result) rejected(verdict string, e *engine.ValidationError) {
	r.Tool, r.Verdict, r.Code, r.Message = e.Tool, verdict, e.Code, e.Message
	r.Errors, r.Truncated, r.Omitted = e.Violations, e.Truncated(), e.Omitted
}

// summary counts verdicts.
type summary struct {
	calls, accepted, refused, bypassed int
	stopped                            bool // at the first refused call
}

func (s *summary) add(verdict string) {
	s.calls++
	switch verdict {
	case verdictAccepted:
		s.accepted++
	case verdictRefused:
		s.refused++
	default:
		s.bypassed++
	}
}

// output shows results in one format.
type output interface {
	call(result) error
	close(summary) error
}

func newOutput(format string, w io.Writer, colour bool, eng *engine.Engine) output {
	switch format {
	case "json":
		return newJSONOutput(w)
	case "junit":
		return &junitOutput{w: w}
	case "sarif":
		return newSARIFOutput(w, eng)
	}
	return newTextOutput(w, colour)
}

// showName makes a file name fit for a terminal.
func showName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.QuoteToASCII(name)
	}
	return name
}

// showPath names the payload itself, too.
func showPath(path string) string {
	if path == "" {
		return "(arguments)"
	}
	return path
}
