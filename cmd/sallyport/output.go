package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// Verdicts as they are shown.
const (
	verdictAccepted = "accepted"
	verdictRefused  = "refused"
	verdictBypassed = "bypassed"
)

// stageMessage is where a message is refused that holds no call to judge.
const stageMessage engine.Stage = "message"

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
	Repairs   []engine.Repair    `json:"repairs,omitempty"`
	Exempted  []engine.Exempted  `json:"exempted,omitempty"`

	file string
	line int
}

func newResult(file string, line int) result {
	return result{
		Input: fmt.Sprintf("%s:%d", showName(file), line), Verdict: verdictAccepted,
		Errors: []engine.Violation{}, file: file, line: line,
	}
}

// rejected fills in what a refusal, or what was bypassed, says.
func (r *result) rejected(verdict string, e *engine.ValidationError) {
	r.Tool, r.Verdict, r.Code, r.Message = e.Tool, verdict, e.Code, e.Message
	r.Errors, r.Truncated, r.Omitted, r.Repairs = e.Violations, e.Truncated(), e.Omitted, e.Repairs
}

// noCall fills in why a message holds no call.
func (r *result) noCall(e *server.MessageError) {
	check := "not_a_call"
	if e.Code == -32700 {
		check = "not_json"
	}
	r.Verdict, r.Code, r.Message = verdictRefused, e.Code, e.Message
	r.Errors = []engine.Violation{{Reason: e.Message, Stage: stageMessage, Keyword: check}}
}

// summary counts verdicts, and what kept the work from being done.
type summary struct {
	calls, accepted, refused, bypassed int

	unjudged    int  // calls that are refused because they could not be judged
	unreadable  int  // inputs
	stopped     bool // at the first refused call
	interrupted bool
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
	begin(file string) error // what follows is of this input
	call(result) error
	unreadable(cause error) error // of the input that has begun
	close(summary) error
}

// callsOnly is part of an output that shows calls and no inputs.
type callsOnly struct{}

func (callsOnly) begin(string) error     { return nil }
func (callsOnly) unreadable(error) error { return nil }

func newOutput(format string, w io.Writer, colour bool, eng *engine.Engine) output {
	switch format {
	case "json":
		return newJSONOutput(w)
	case "junit":
		return &junitOutput{w: w}
	case "sarif":
		return newSARIFOutput(w, policyRules(eng))
	}
	return newTextOutput(w, colour)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }

// showName makes the name of a file or tool fit for a terminal.
func showName(name string) string {
	if strings.ContainsFunc(name, unprintable) {
		return strconv.QuoteToASCII(name)
	}
	return name
}

// showTool sets a name apart that could pass for more than a name.
func showTool(name string) string {
	switch {
	case name == "":
		return "(no tool)"
	case strings.ContainsFunc(name, unicode.IsSpace):
		return strconv.QuoteToASCII(name)
	}
	return name
}

// showLine makes one line of an error fit for a terminal.
func showLine(line string) string {
	line = strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " \r")
	var b strings.Builder
	for _, r := range line {
		if unprintable(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// showPath names what has no path of its own, too.
func showPath(v engine.Violation) string {
	if v.Stage == stageMessage && v.Path == "" {
		return "(message)"
	}
	return showPointer(v.Path)
}

// showPointer names the arguments as a whole, too.
func showPointer(path string) string {
	if path == "" {
		return "(arguments)"
	}
	return path
}

// repairText says that a payload was changed before it was judged.
func repairText(r engine.Repair) string {
	return fmt.Sprintf("%s  was repaired before it was judged: %s", r.Path, r.Kind)
}
