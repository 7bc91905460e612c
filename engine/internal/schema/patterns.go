package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sallyport-mcp/sallyport/engine/internal/schema/ecma"
	"github.com/sallyport-mcp/sallyport/engine/internal/schema/formats"
)

// ownFormats replace checks of the validator that let too much pass.
var ownFormats = func() map[string]func(any) error {
	checks := map[string]func(any) error{}
	for name, check := range formats.All {
		checks[name] = func(value any) error {
			if text, ok := value.(string); ok {
				return check(text)
			}
			return nil // a format says nothing of other types
		}
	}
	return checks
}()

// compilePattern compiles a pattern, which is written in ECMA-262, for the engine
// that takes linear time; where that cannot express it, and only if it is allowed,
// for the one that backtracks.
func compilePattern(pattern string, backtracking bool, b *budget) (jsonschema.Regexp, error) {
	translated, err := ecma.Translate(pattern)
	var unsupported *ecma.UnsupportedError
	switch {
	case err == nil:
		return newLinear(pattern, translated, b)
	case backtracking && errors.As(err, &unsupported):
		return newBacktracking(pattern, b)
	}
	return nil, err
}

// linear is a pattern for Go's engine.
type linear struct {
	pattern string // as the schema has it
	regexp  *regexp.Regexp
	states  int // instructions of the compiled program
	budget  *budget
}

func newLinear(pattern, translated string, b *budget) (*linear, error) {
	compiled, err := regexp.Compile(translated)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	return &linear{pattern, compiled, len(program.Inst), b}, nil
}

// String returns the pattern as the schema has it.
func (l *linear) String() string { return l.pattern }

// workPerStep is what one step pays for: so many states of a pattern times bytes of
// a text. At worst the engine is in every state at every byte.
const workPerStep = 512

// MatchString pays for the time that a text of this length may take, and matches.
func (l *linear) MatchString(text string) bool {
	l.budget.spend(1 + l.states*len(text)/workPerStep)
	return l.regexp.MatchString(text)
}

// backtracking is a pattern for the engine that may take exponential time.
type backtracking struct {
	pattern string
	regexp  *regexp2.Regexp
	budget  *budget
}

const (
	// maxBacktracked is the greatest maxLength beside a pattern that backtracks, in
	// characters.
	maxBacktracked = 1024
	// matchTimeout bounds one match. The engine's clock is coarse: a match may take
	// several times as long.
	matchTimeout = 50 * time.Millisecond
)

// surrogateEscape is what this engine reads in its own way: it takes a surrogate that is
// alone for U+FFFD.
var surrogateEscape = regexp.MustCompile(`(?i)\\u\{?0*d[89a-f]`)

func newBacktracking(pattern string, b *budget) (*backtracking, error) {
	if surrogateEscape.MatchString(pattern) {
		return nil, errors.New("escapes of surrogates need the engine of linear time; write the character itself")
	}
	compiled, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	compiled.MatchTimeout = matchTimeout
	return &backtracking{pattern, compiled, b}, nil
}

// String returns the pattern as the schema has it.
func (r *backtracking) String() string { return r.pattern }

// MatchString matches text. A match that does not end in time takes the validation
// down, since neither answer would be right everywhere: no match makes a value
// valid within "not". Text beyond maxBacktracked is not tried. Lint has seen to it
// that a maxLength stands beside the pattern, so it is refused in any case.
func (r *backtracking) MatchString(text string) bool {
	if utf8.RuneCountInString(text) > maxBacktracked {
		return true
	}
	r.budget.spend(1 + len(text))
	matched, err := r.regexp.MatchString(text)
	if err != nil {
		panic(spent{fmt.Errorf("%w: the pattern %s takes more than %s", ErrBudget, quote(r.pattern, 48), matchTimeout)})
	}
	return matched
}

// pattern looks at a pattern of the schema object that it belongs to.
func (found *survey) pattern(at, pattern string, bound any) {
	translated, err := ecma.Translate(pattern)
	found.weigh(len(translated))
	var unsupported *ecma.UnsupportedError
	if errors.As(err, &unsupported) && found.options.Backtracking {
		if _, err := newBacktracking(pattern, &budget{}); err != nil {
			found.refuse(at, "the pattern "+quote(pattern, 120)+" is not supported: "+ascii(err.Error()), "")
		} else if !boundsBacktracking(bound) {
			found.refuse(at, "the pattern "+quote(pattern, 120)+" needs backtracking, and the text that it is put to has no bound", boundRemedy)
		}
		return
	}
	if err != nil {
		found.faults = append(found.faults, found.unsupported(at, pattern, err))
	}
}

const boundRemedy = "put a maxLength of at most 1024 beside the pattern (for patternProperties, into propertyNames)"

func boundsBacktracking(maxLength any) bool {
	number, ok := maxLength.(json.Number)
	if !ok {
		return false
	}
	n, err := number.Int64()
	return err == nil && n <= maxBacktracked
}

// unsupported is the fault of a pattern that does not compile.
func (found *survey) unsupported(at, pattern string, err error) *CompileError {
	problem, remedy := "the pattern "+quote(pattern, 120)+" is not supported", ""
	var (
		invalid     *ecma.SyntaxError
		unsupported *ecma.UnsupportedError
	)
	switch {
	case errors.As(err, &invalid):
		problem = fmt.Sprintf("the pattern %s is not valid ECMA-262: at offset %d: %s", quote(pattern, 120), invalid.Offset, ascii(invalid.Problem))
		remedy = invalid.Remedy
	case errors.As(err, &unsupported):
		problem += ": " + ascii(unsupported.Feature)
		remedy = unsupported.Remedy
		if remedy == "" {
			remedy = "write it without, or allow backtracking patterns for this tool"
		}
	default:
		problem += ": " + ascii(err.Error())
	}
	return found.fault(at, problem, remedy)
}
