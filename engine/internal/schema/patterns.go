package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"

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

// maxStates bounds the automata of all patterns of a document; ecma.MaxStates bounds
// each.
const maxStates = 100_000

// maxWidthWork bounds what finding out the widths of all patterns of a document may take,
// some 60 ms.
const maxWidthWork = 5 * ecma.DefaultWork

// patterns are the compiled patterns of one document, shared by all copies of it. They
// are safe for concurrent use.
type patterns struct {
	backtracking bool // allowed where the engine of linear time cannot express a pattern

	mu       sync.Mutex
	compiled map[string]*pattern // by how the schema has it
	bytes    int                 // of all, as the engine reads them
	states   int                 // of all
	work     int                 // left for finding out how wide they are
}

// pattern is one pattern, compiled for the engine that takes linear time, or else for
// the one that backtracks.
type pattern struct {
	text         string // as the schema has it
	linear       *ecma.Pattern
	backtracking *regexp2.Regexp
	unbounded    bool // and so put to short texts only, since it backtracks
	err          error
}

func newPatterns(backtracking bool) *patterns {
	return &patterns{backtracking: backtracking, compiled: map[string]*pattern{}, work: maxWidthWork}
}

// compile compiles each pattern once, and remembers errors too.
func (ps *patterns) compile(text string) *pattern {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, known := ps.compiled[text]
	if known {
		return p
	}
	p = &pattern{text: text}
	ps.compiled[text] = p
	work := min(ps.work, ecma.DefaultWork)
	ps.work -= work
	p.linear, p.err = ecma.CompileWithin(&work, text)
	ps.work += max(work, 0)
	var unsupported *ecma.UnsupportedError
	switch {
	case p.err == nil:
		ps.bytes += p.linear.Bytes()
		ps.states += p.linear.States()
	case ps.backtracking && errors.As(p.err, &unsupported):
		p.backtracking, p.err = newBacktracking(text)
	}
	return p
}

// matcher is a pattern on behalf of one copy of the document.
type matcher struct {
	*pattern
	budget *budget
}

// String returns the pattern as the schema has it.
func (m matcher) String() string { return m.text }

// workPerStep is what one step pays for: so many states times bytes, each of which takes
// up to some 10 ns.
const workPerStep = 40

// MatchString pays for the time that a text of this length may take, and matches.
func (m matcher) MatchString(text string) bool {
	if m.backtracking != nil {
		return m.backtrack(text)
	}
	m.budget.spend(1 + m.linear.Width()*(len(text)+1)/workPerStep)
	return m.linear.MatchString(text)
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

func newBacktracking(pattern string) (*regexp2.Regexp, error) {
	if surrogateEscape.MatchString(pattern) {
		return nil, errors.New("escapes of surrogates need the engine of linear time; write the character itself")
	}
	compiled, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	compiled.MatchTimeout = matchTimeout
	return compiled, nil
}

// backtrack matches text. A match that does not end in time takes the validation down,
// since neither answer would be right everywhere: no match makes a value valid within
// "not". So does a text beyond maxBacktracked, unless a maxLength beside the pattern
// refuses it in any case.
func (m matcher) backtrack(text string) bool {
	if utf8.RuneCountInString(text) > maxBacktracked {
		if m.unbounded {
			panic(spent{fmt.Errorf("%w: the pattern %s is put to at most %d characters", ErrBudget, quote(m.text, 48), maxBacktracked)})
		}
		return true
	}
	m.budget.spend(1 + len(text))
	matched, err := m.backtracking.MatchString(text)
	if err != nil {
		panic(spent{fmt.Errorf("%w: the pattern %s takes more than %s", ErrBudget, quote(m.text, 48), matchTimeout)})
	}
	return matched
}

// pattern looks at a pattern of the schema object that it belongs to.
func (found *survey) pattern(at, text string, bound any) {
	if found.excessive {
		return
	}
	p := found.patterns.compile(text)
	if found.weigh(0); found.excessive {
		return
	}
	switch {
	case p.err != nil:
		found.faults = append(found.faults, found.unsupported(at, p))
	case p.backtracking == nil || boundsBacktracking(bound):
	case found.options.CapTexts:
		p.unbounded = true
		found.warn(at, "the pattern "+quote(text, 120)+" needs backtracking, so texts of more than 1024 characters are refused", boundRemedy)
	default:
		found.refuse(at, "the pattern "+quote(text, 120)+" needs backtracking, and the text that it is put to has no bound", boundRemedy)
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
func (found *survey) unsupported(at string, p *pattern) *CompileError {
	problem, remedy := "the pattern "+quote(p.text, 120)+" is not supported", ""
	var (
		invalid     *ecma.SyntaxError
		unsupported *ecma.UnsupportedError
	)
	switch {
	case errors.As(p.err, &invalid):
		problem = fmt.Sprintf("the pattern %s is not valid ECMA-262: at offset %d: %s", quote(p.text, 120), invalid.Offset, ascii(invalid.Problem))
		remedy = invalid.Remedy
	case errors.As(p.err, &unsupported):
		problem += ": " + ascii(unsupported.Feature)
		remedy = unsupported.Remedy
		if remedy == "" {
			remedy = "write it without, or allow backtracking patterns for this tool"
		}
	default:
		problem += ": " + ascii(p.err.Error())
	}
	return found.fault(at, problem, remedy)
}
