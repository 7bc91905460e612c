package engine

import (
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
)

// Mode says what becomes of a rejected call.
type Mode string

const (
	// Strict refuses rejected calls.
	Strict Mode = "strict"
	// Permissive logs rejected calls and passes them: a migration aid. What
	// protects the process itself is refused all the same.
	Permissive Mode = "permissive"
)

// ModeVariable is the environment variable that New reads when no mode is set by
// option. Its value is trimmed and compared without case; only "permissive"
// selects Permissive.
const ModeVariable = "BERNSTEIN_MCP_VALIDATION"

func modeFromEnvironment() Mode {
	if strings.EqualFold(strings.TrimSpace(os.Getenv(ModeVariable)), string(Permissive)) {
		return Permissive
	}
	return Strict
}

// defaultTimeout is far above what rules take (tens of microseconds) and far
// below what a client waits.
const defaultTimeout = 2 * time.Second

// defaultMemo is far more than there are different clean inputs, as the shipped rules see
// them; with the longest keys it takes 8 MiB.
const defaultMemo = 8192

// Dialect is a draft of JSON Schema.
type Dialect string

// The drafts that a document without $schema may be taken for.
const (
	Draft7      Dialect = "draft-07"
	Draft202012 Dialect = "2020-12"
)

// LoadPolicy says what becomes of an engine some of whose schemas have faults.
type LoadPolicy string

// The two load policies.
const (
	// AllOrNothing: any fault means that there is no engine. The default for files.
	AllOrNothing LoadPolicy = "all-or-nothing"
	// PerTool: a faulty tool is put in quarantine. It is not advertised, and its
	// calls are refused with the reason, in every mode; the other tools work. The
	// default for the tools of a server.
	PerTool LoadPolicy = "per-tool"
)

// Formats says what the keyword format does.
type Formats string

// Both readings are in the JSON Schema specification (2020-12, Validation,
// section 7.2).
const (
	// AssertFormats refuses a value that has not the format. The default for files.
	AssertFormats Formats = "assert"
	// AnnotateFormats takes the keyword for a remark. The default for the tools of a
	// server, whose own check may be laxer than ours.
	AnnotateFormats Formats = "annotate"
)

// ServerTool is one tool as an MCP server lists it (MCP, tools/list).
type ServerTool struct {
	Name        string
	InputSchema json.RawMessage // the very bytes in the list
	Fault       error           // what makes the entry unusable; nil for a good one
}

type settings struct {
	schemas         fs.FS
	serverTools     []ServerTool
	fromFiles       bool
	fromServer      bool
	loadPolicy      LoadPolicy
	dialect         Dialect
	formats         Formats
	policies        []func() (policy.Source, error)
	revisions       []string // of the bundles among policies
	mode            Mode
	allowUnsafeArgs []string
	backtracking    []string
	dropNulls       []string
	unwrapStrings   []string
	memo            int
	maxViolations   int
	timeout         time.Duration
	logger          *zap.Logger
	clock           func() time.Time

	// asked are settings as they were given, "" for those that depend on where the tools
	// come from.
	asked struct {
		loadPolicy LoadPolicy
		formats    Formats
	}
}

// Option sets one thing about a new engine.
type Option func(*settings)

// WithSchemas takes the tools from the .json files at the root of fsys, one file
// per tool, instead of from the bundled schemas.
func WithSchemas(fsys fs.FS) Option {
	return func(s *settings) { s.schemas, s.fromFiles = fsys, true }
}

// WithServerTools takes the tools from what an MCP server lists, instead of from
// files. An empty list is no error: then every call is refused.
func WithServerTools(tools []ServerTool) Option {
	return func(s *settings) { s.serverTools, s.fromServer = slices.Clone(tools), true }
}

// WithLoadPolicy sets what becomes of an engine some of whose schemas have faults.
func WithLoadPolicy(p LoadPolicy) Option { return func(s *settings) { s.loadPolicy = p } }

// WithDialect sets what schema documents without $schema are, as if they said so
// themselves. Without it they are taken for Draft7 (files) or Draft202012 (the tools
// of a server, as the MCP specification wants it), and a document that would mean
// something else in the other draft is a fault.
func WithDialect(d Dialect) Option { return func(s *settings) { s.dialect = d } }

// WithFormats sets what the keyword format does.
func WithFormats(f Formats) Option { return func(s *settings) { s.formats = f } }

// WithBacktrackingPatterns allows these tools patterns that the engine of linear
// time cannot express, such as look-ahead within a pattern. Each needs a maxLength
// of at most 1,024 beside it, or, in the schemas of a server, a longer text is
// refused. A match that takes too long refuses the call.
func WithBacktrackingPatterns(tools ...string) Option {
	return func(s *settings) { s.backtracking = append(s.backtracking, tools...) }
}

// WithDropNulls makes the engine take a null for an absent member, for these tools,
// where the member is optional and its schema forbids null. The bytes to forward are
// then the repaired ones; see ValidatedPayload.Repairs.
func WithDropNulls(tools ...string) Option {
	return func(s *settings) { s.dropNulls = append(s.dropNulls, tools...) }
}

// WithUnwrapJSONStrings makes the engine take a string that holds the JSON of an
// object or array for that object or array, for these tools, where the schema wants
// one and no string. The bytes to forward are then the repaired ones; see
// ValidatedPayload.Repairs.
func WithUnwrapJSONStrings(tools ...string) Option {
	return func(s *settings) { s.unwrapStrings = append(s.unwrapStrings, tools...) }
}

// WithPolicies adds rules of the user's own: every .rego file below fsys, tests
// left out, in packages sallyport.rules.<name>; and a data.json at its root,
// which is laid over the data of the built-in rules.
func WithPolicies(fsys fs.FS) Option {
	return func(s *settings) {
		if fsys == nil {
			s.policies = append(s.policies, nil) // New refuses it
			return
		}
		s.policies = append(s.policies, func() (policy.Source, error) { return readPolicies(fsys) })
	}
}

// WithMode sets the mode; it beats the environment variable in both directions.
func WithMode(mode Mode) Option { return func(s *settings) { s.mode = mode } }

// WithAllowUnsafeArgs exempts tools from the rules on raw content (size, depth,
// control characters). Their schema still applies, and so do the ceilings that
// protect the process.
func WithAllowUnsafeArgs(tools ...string) Option {
	return func(s *settings) { s.allowUnsafeArgs = append(s.allowUnsafeArgs, tools...) }
}

// WithMaxViolations sets how many violations one answer lists at most, instead of
// what the policy data says (100).
func WithMaxViolations(n int) Option { return func(s *settings) { s.maxViolations = n } }

// WithTimeout bounds one evaluation of the rules; past it the call is refused.
// The default is two seconds.
func WithTimeout(d time.Duration) Option { return func(s *settings) { s.timeout = d } }

// WithClock sets what tells the time, instead of time.Now: the rules see the day in UTC, on
// which exemptions end. It has to be safe for concurrent use.
func WithClock(now func() time.Time) Option { return func(s *settings) { s.clock = now } }

// WithLogger sets where the engine reports bypassed calls and its own faults. By
// default it writes warnings and errors as JSON lines to standard error.
func WithLogger(logger *zap.Logger) Option { return func(s *settings) { s.logger = logger } }

func defaultLogger() *zap.Logger {
	encoder := zap.NewProductionEncoderConfig()
	encoder.EncodeTime = zapcore.ISO8601TimeEncoder
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(encoder), zapcore.Lock(os.Stderr), zapcore.WarnLevel))
}

// WithVerdictMemo sets how many clean verdicts of the rules are remembered, at most; 0
// switches that off. The default is 8,192. What is remembered is that the rules found
// nothing wrong with an input, by all of it that they read; schemas are always asked.
// Where a rule reads the payload as a whole, it is asked each time; the log says so.
func WithVerdictMemo(n int) Option { return func(s *settings) { s.memo = n } }

// MemoStats tells how the clean verdicts of the rules were found since New.
type MemoStats struct {
	Looked uint64 // calls that were looked up: those with nothing suspicious about their facts
	Known  uint64 // of them, those whose verdict was known, so that no rule was asked
	Partly uint64 // of them, those for which only the rules in Readers were asked
	// Limit says why verdicts are not remembered, or only in part; "" where they are.
	Limit   string
	Readers []string // the rules that read the payload, by name
}

// MemoStats returns what has been counted since New.
func (e *Engine) MemoStats() MemoStats {
	s := e.policy.MemoStats()
	return MemoStats{Looked: s.Looked, Known: s.Known, Partly: s.Partly, Limit: s.Limit, Readers: slices.Clone(s.Readers)}
}
