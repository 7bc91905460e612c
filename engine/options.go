package engine

import (
	"io/fs"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
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

type settings struct {
	schemas         fs.FS
	policies        []fs.FS
	mode            Mode
	allowUnsafeArgs []string
	maxViolations   int
	timeout         time.Duration
	logger          *zap.Logger
}

// Option sets one thing about a new engine.
type Option func(*settings)

// WithSchemas takes the tools from the .json files at the root of fsys, one file
// per tool, instead of from the bundled schemas.
func WithSchemas(fsys fs.FS) Option { return func(s *settings) { s.schemas = fsys } }

// WithPolicies adds rules of the user's own: every .rego file below fsys, tests
// left out, in packages sallyport.rules.<name>; and a data.json at its root,
// which is laid over the data of the built-in rules.
func WithPolicies(fsys fs.FS) Option {
	return func(s *settings) { s.policies = append(s.policies, fsys) }
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

// WithLogger sets where the engine reports bypassed calls and its own faults. By
// default it writes warnings and errors as JSON lines to standard error.
func WithLogger(logger *zap.Logger) Option { return func(s *settings) { s.logger = logger } }

func defaultLogger() *zap.Logger {
	encoder := zap.NewProductionEncoderConfig()
	encoder.EncodeTime = zapcore.ISO8601TimeEncoder
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(encoder), zapcore.Lock(os.Stderr), zapcore.WarnLevel))
}
