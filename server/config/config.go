package config

import (
	"time"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// Config is what holds after file, environment and flags are laid over the defaults.
// Paths from the file are relative to its folder and have been joined with that; those
// from environment and flags are as they were given.
type Config struct {
	Engine    Engine
	Listen    Listen
	Upstreams []Upstream
	Record    Record
	Log       Log
}

// The two words that are no folder in Engine.Schemas.
const (
	Learned = "learned" // from what each upstream lists
	Bundled = "bundled" // those that this program brings along
)

// Engine has the settings of the engine, and of the judge in front of it.
type Engine struct {
	Mode                 engine.Mode // never empty
	Rejections           server.Rejections
	Schemas              string // Learned, Bundled or a folder
	ToolsList            string // file with an answer to tools/list, in the place of Schemas; "": none
	Policies             []string
	Bundle               Bundle
	AllowUnsafeArgs      []string
	Leniency             Leniency
	Dialect              engine.Dialect // "": by the source of the schemas
	Formats              engine.Formats // "": by the source of the schemas
	BacktrackingPatterns []string
	LoadPolicy           engine.LoadPolicy // "": by the source of the schemas
	MaxViolations        int               // 0: what the policy data says
	RulesTimeout         time.Duration
	VerdictMemo          int // 0: off
}

// Bundle has the settings of an OPA bundle of rules and data.
type Bundle struct {
	File      string // "": there is none. Where URL is set, the last good one is kept here
	Key       string // file with the key that the bundle has to be signed with; "": it is not signed
	Algorithm string // of the key
	URL       string // where new ones come from; "": only from File
	Poll      time.Duration
}

// Leniency names the tools whose arguments may be repaired.
type Leniency struct {
	DropNulls         []string
	UnwrapJSONStrings []string
}

// Listen has the settings of the HTTP side that clients see. Without an Address the
// gateway speaks on standard input and output.
type Listen struct {
	Address        string // host:port
	Open           bool   // the address may be one that others can reach without a token
	TLS            TLS
	Token          Reference // zero: no bearer token is asked for
	AllowedHosts   []string
	AllowedOrigins []string
	Limits         Limits
}

// TLS names the files of a certificate, in PEM. Both are set, or neither.
type TLS struct{ Cert, Key string }

// Limits bound what a client may take up.
type Limits struct {
	BodyBytes     int
	HeaderBytes   int
	HeaderTimeout time.Duration // to read the headers of a request
	BodyTimeout   time.Duration // to read its body
	IdleTimeout   time.Duration // of a kept connection between requests
	ShutdownGrace time.Duration // for calls in flight at the end
	MaxChildren   int           // of each command, one for each session
	ChildIdle     time.Duration // of such a child
}

// Upstream is one MCP server behind the gateway: at a URL, or a child process.
type Upstream struct {
	Name    string
	Path    string // prefix of the path that clients use; never empty, without "/" at its end but for "/" itself
	URL     string
	Headers map[string]Reference // sent along with every request
	Command string
	Args    []string
	Env     map[string]Reference // on top of the environment that the child gets anyway
	Cwd     string
	Lock    string // file with pins of its tools; "": no pins
}

// Record says where records of calls go. Without File and URL there are none.
type Record struct {
	File  string // events are appended to it
	URL   string // events are posted to it
	Token Reference
	Delay time.Duration // how long events are gathered for URL
}

// On says that calls are recorded.
func (r Record) On() bool { return r.File != "" || r.URL != "" }

// Log has the settings of the log, which goes to standard error.
type Log struct {
	Format string // FormatJSON or FormatConsole
	Level  string // debug, info, warn or error
}

// The forms of the log.
const (
	FormatJSON    = "json"
	FormatConsole = "console"
)
