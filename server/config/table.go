package config

import (
	"slices"
	"time"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

const bySource = "by source: "

// table holds everything that can be set, once.
var table = []*Option{
	{
		Key: "engine.mode", Flag: "mode", Kind: Choice, Choices: []string{string(engine.Strict), string(engine.Permissive)},
		Absent: engine.ModeVariable + ", else strict",
		Usage:  "what becomes of rejected calls: refused, or logged and passed",
		field:  func(c *Config, _ *Upstream) any { return &c.Engine.Mode },
	},
	{
		Key: "engine.rejections", Flag: "rejections", Kind: Choice, Choices: []string{string(server.ProtocolErrors), string(server.ToolResults)},
		Default: string(server.ProtocolErrors),
		Usage:   "form in which a refused call is answered",
		field:   func(c *Config, _ *Upstream) any { return &c.Engine.Rejections },
	},
	{
		Key: "engine.schemas", Flag: "schemas", Kind: Path, Choices: []string{Learned, Bundled}, Default: Learned, folder: true,
		pattern: patternPath, what: "a folder",
		Usage: "where schemas come from: the upstream's own list, this program, or a folder with one <tool>.json per tool",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.Schemas },
	},
	{
		Key: "engine.tools_list", Flag: "tools-list", Kind: Path, Absent: "none", pattern: patternPath, what: "a file",
		Usage: "file with a server's answer to tools/list, to take the schemas from it instead",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.ToolsList },
	},
	{
		Key: "engine.policies", Flag: "policies", Kind: Paths, Absent: "none", folder: true, pattern: patternPath, what: "a folder",
		Usage: "folders with rules of your own",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.Policies },
	},
	{
		Key: "engine.bundle.file", Flag: "bundle", Kind: Path, Absent: "none", pattern: patternPath, what: "a file",
		Usage: "OPA bundle (.tar.gz) with rules of your own; with bundle-url the file in which the last good one is kept",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.Bundle.File },
	},
	{
		Key: "engine.bundle.key", Flag: "bundle-key", Kind: Path, Absent: "the bundle must not be signed", pattern: patternPath, what: "a file",
		Usage: "file with the public key in PEM, or the shared secret, that the bundle has to be signed with",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.Bundle.Key },
	},
	{
		Key: "engine.bundle.algorithm", Flag: "bundle-algorithm", Kind: Choice, Choices: bundleAlgorithms, Default: "RS256",
		Usage: "signature algorithm of that key",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.Bundle.Algorithm },
	},
	{
		Key: "engine.bundle.url", Flag: "bundle-url", Kind: Text, Absent: "none", pattern: patternURL, what: "a URL with http or https, without user name and fragment",
		Usage: "where an HTTP service has signed bundles; each that is newer and has no fault goes into force",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.Bundle.URL },
	},
	{
		Key: "engine.bundle.poll", Flag: "bundle-poll", Kind: Duration, Min: int64(time.Second), Max: int64(24 * time.Hour), Default: "1m",
		Usage: "how long to wait before it is asked again",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.Bundle.Poll },
	},
	{
		Key: "engine.allow_unsafe_args", Flag: "allow-unsafe-args", Kind: Texts, Absent: "none", pattern: patternTool, what: whatTool,
		Usage: "tools that are exempt from the rules on size, depth and control characters",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.AllowUnsafeArgs },
	},
	{
		Key: "engine.leniency.drop_nulls", Flag: "drop-nulls", Kind: Texts, Absent: "none", pattern: patternTool, what: whatTool,
		Usage: "tools for which a null that the schema forbids counts as an absent member",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.Leniency.DropNulls },
	},
	{
		Key: "engine.leniency.unwrap_json_strings", Flag: "unwrap-json-strings", Kind: Texts, Absent: "none", pattern: patternTool, what: whatTool,
		Usage: "tools for which a string that holds JSON counts as the object or array in it",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.Leniency.UnwrapJSONStrings },
	},
	{
		Key: "engine.dialect", Flag: "dialect", Kind: Choice, Choices: []string{string(engine.Draft7), string(engine.Draft202012)},
		Absent: bySource + "draft-07 for files, 2020-12 for an upstream's list",
		Usage:  "draft of schemas that have no $schema",
		field:  func(c *Config, _ *Upstream) any { return &c.Engine.Dialect },
	},
	{
		Key: "engine.formats", Flag: "formats", Kind: Choice, Choices: []string{string(engine.AssertFormats), string(engine.AnnotateFormats)},
		Absent: bySource + "assert for files, annotate for an upstream's list",
		Usage:  "what the keyword format does",
		field:  func(c *Config, _ *Upstream) any { return &c.Engine.Formats },
	},
	{
		Key: "engine.backtracking_patterns", Flag: "backtracking-patterns", Kind: Texts, Absent: "none", pattern: patternTool, what: whatTool,
		Usage: "tools whose patterns may need backtracking",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.BacktrackingPatterns },
	},
	{
		Key: "engine.load_policy", Flag: "load-policy", Kind: Choice, Choices: []string{string(engine.AllOrNothing), string(engine.PerTool)},
		Absent: bySource + "all-or-nothing for files, per-tool for an upstream's list",
		Usage:  "what a faulty schema does: stop the start, or put its tool in quarantine",
		field:  func(c *Config, _ *Upstream) any { return &c.Engine.LoadPolicy },
	},
	{
		Key: "engine.max_violations", Flag: "max-violations", Kind: Integer, Min: 1, Max: 10_000, Absent: "as the policy data says (100)",
		Usage: "how many violations one answer lists",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.MaxViolations },
	},
	{
		Key: "engine.rules_timeout", Flag: "rules-timeout", Kind: Duration, Min: int64(10 * time.Millisecond), Max: int64(time.Minute), Default: "2s",
		Usage: "bounds one evaluation of the rules; past it the call is refused",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.RulesTimeout },
	},
	{
		Key: "engine.verdict_memo", Flag: "verdict-memo", Kind: Integer, Min: 0, Max: 1_000_000, Default: "8192",
		Usage: "how many clean verdicts of the rules are remembered; 0 switches that off",
		field: func(c *Config, _ *Upstream) any { return &c.Engine.VerdictMemo },
	},
	{
		Key: "listen.address", Flag: "listen", Kind: Text, pattern: patternAddress, what: whatAddress, Absent: "standard input and output",
		Usage: "host and port to serve HTTP on",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Address },
	},
	{
		Key: "listen.open", Flag: "open", Kind: Bool, Default: "false",
		Usage: "allows an address that other machines can reach without a token",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Open },
	},
	{
		Key: "listen.tls.cert", Flag: "tls-cert", Kind: Path, pattern: patternPath, what: "a file", Absent: "no TLS",
		Usage: "PEM file with the certificate and its chain",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.TLS.Cert },
	},
	{
		Key: "listen.tls.key", Flag: "tls-key", Kind: Path, pattern: patternPath, what: "a file", Absent: "no TLS",
		Usage: "PEM file with the private key of the certificate",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.TLS.Key },
	},
	{
		Key: "listen.token.file", Flag: "token-file", Kind: Path, pattern: patternPath, what: "a file", group: "listen.token", Absent: "no token is asked for",
		Usage: "file with the bearer token that clients have to send",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Token.File },
	},
	{
		Key: "listen.token.env", Flag: "token-env", Kind: Text, pattern: patternVariable, what: whatVariable, group: "listen.token", Absent: "no token is asked for",
		Usage: "name of the environment variable with that token",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Token.Env },
	},
	{
		Key: "listen.allowed_hosts", Flag: "allowed-host", Kind: Texts, pattern: patternHost, what: "a host, with or without a port",
		Absent: "any, and on a loopback address its names only",
		Usage:  "values of the header Host that may pass",
		field:  func(c *Config, _ *Upstream) any { return &c.Listen.AllowedHosts },
	},
	{
		Key: "listen.allowed_origins", Flag: "allowed-origin", Kind: Texts, pattern: patternOrigin, what: `an origin such as "https://app.example"`,
		Absent: "that of the host itself",
		Usage:  "values of the header Origin that may pass besides that of the host itself",
		field:  func(c *Config, _ *Upstream) any { return &c.Listen.AllowedOrigins },
	},
	{
		Key: "listen.limits.body_bytes", Flag: "max-body-bytes", Kind: Integer, Min: 1 << 10, Max: server.MaxMessageBytes, Default: "4194304",
		Usage: "largest body of a request, in bytes",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Limits.BodyBytes },
	},
	{
		Key: "listen.limits.header_bytes", Flag: "max-header-bytes", Kind: Integer, Min: 4 << 10, Max: 1 << 20, Default: "65536",
		Usage: "largest headers of a request, in bytes",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Limits.HeaderBytes },
	},
	{
		Key: "listen.limits.header_timeout", Flag: "header-timeout", Kind: Duration, Min: int64(100 * time.Millisecond), Max: int64(10 * time.Minute), Default: "10s",
		Usage: "how long the headers of a request may take to arrive",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Limits.HeaderTimeout },
	},
	{
		Key: "listen.limits.body_timeout", Flag: "body-timeout", Kind: Duration, Min: int64(100 * time.Millisecond), Max: int64(time.Hour), Default: "1m",
		Usage: "how long the body of a request may take to arrive",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Limits.BodyTimeout },
	},
	{
		Key: "listen.limits.idle_timeout", Flag: "idle-timeout", Kind: Duration, Min: int64(time.Second), Max: int64(24 * time.Hour), Default: "2m",
		Usage: "how long a connection is kept between requests",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Limits.IdleTimeout },
	},
	{
		Key: "listen.limits.shutdown_grace", Flag: "grace", Kind: Duration, Min: int64(100 * time.Millisecond), Max: int64(10 * time.Minute), Default: "30s",
		Usage: "how long calls in flight may go on at the end",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Limits.ShutdownGrace },
	},
	{
		Key: "listen.limits.max_children", Flag: "max-children", Kind: Integer, Min: 1, Max: 10_000, Default: "64",
		Usage: "how many times each command may run at once, once for each session",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Limits.MaxChildren },
	},
	{
		Key: "listen.limits.child_idle", Flag: "child-idle", Kind: Duration, Min: int64(time.Second), Max: int64(24 * time.Hour), Default: "10m",
		Usage: "how long a command may be idle before it is ended",
		field: func(c *Config, _ *Upstream) any { return &c.Listen.Limits.ChildIdle },
	},
	{
		Key: "upstreams[].name", Flag: "upstream", Kind: Text, pattern: patternName, what: "made of letters, digits, dots, underscores and hyphens, at most 64",
		Absent: "required",
		Usage:  "name of the server in logs, and of its path; no two are the same",
		field:  func(_ *Config, u *Upstream) any { return &u.Name },
	},
	{
		Key: "upstreams[].path", Flag: "upstream-path", Kind: Text, pattern: patternPrefix, what: `a path such as "/notes", without "/" at its end`,
		Absent: `"/" and the name; without a name on the command line "/"`,
		Usage:  "prefix of the paths that clients use for it",
		field:  func(_ *Config, u *Upstream) any { return &u.Path },
	},
	{
		Key: "upstreams[].url", Flag: "upstream", Kind: Text, pattern: patternURL, what: "a URL with http or https, without user name and fragment",
		Absent: "either this or command",
		Usage:  "where it serves MCP over HTTP",
		field:  func(_ *Config, u *Upstream) any { return &u.URL },
	},
	{
		Key: "upstreams[].headers", Flag: "upstream-header", Kind: References, pattern: patternHeader, what: "the name of a header", refuse: patternOwnHeader, Absent: "none",
		Usage: "headers to send along, each with the file or variable that has the value",
		field: func(_ *Config, u *Upstream) any { return &u.Headers },
	},
	{
		Key: "upstreams[].command", Kind: Text, pattern: patternPath, what: "the name of a program", Absent: "either this or url",
		Usage: "program to start, which serves MCP on its standard input and output",
		field: func(_ *Config, u *Upstream) any { return &u.Command },
	},
	{
		Key: "upstreams[].args", Kind: Texts, pattern: patternText, what: "a text", repeats: true, Absent: "none",
		Usage: "its arguments; they are no place for secrets, since every process of the machine can read them",
		field: func(_ *Config, u *Upstream) any { return &u.Args },
	},
	{
		Key: "upstreams[].env", Flag: "upstream-env", Kind: References, pattern: patternVariable, what: whatVariable, plain: true, Absent: "none",
		Usage: "environment variables of the program: a text, or the file or variable that has the value",
		field: func(_ *Config, u *Upstream) any { return &u.Env },
	},
	{
		Key: "upstreams[].cwd", Flag: "upstream-cwd", Kind: Path, pattern: patternPath, what: "a folder", folder: true, Absent: "the working folder",
		Usage: "folder that the program runs in",
		field: func(_ *Config, u *Upstream) any { return &u.Cwd },
	},
	{
		Key: "upstreams[].lock", Flag: "lock", Kind: Path, pattern: patternPath, what: "a file", Absent: "no pins",
		Usage: "file with pins of its tools",
		field: func(_ *Config, u *Upstream) any { return &u.Lock },
	},
	{
		Key: "record.file", Flag: "record", Kind: Path, Absent: "none", pattern: patternPath, what: "a file",
		Usage: "file to which a record of each call is appended, without its secrets",
		field: func(c *Config, _ *Upstream) any { return &c.Record.File },
	},
	{
		Key: "record.url", Flag: "record-url", Kind: Text, Absent: "none", pattern: patternURL, what: "a URL with http or https, without user name and fragment",
		Usage: "HTTP service that takes these records as OPA's decision logs",
		field: func(c *Config, _ *Upstream) any { return &c.Record.URL },
	},
	{
		Key: "record.token.file", Flag: "record-token-file", Kind: Path, pattern: patternPath, what: "a file", group: "record.token", Absent: "no token is sent",
		Usage: "file with the bearer token for that service",
		field: func(c *Config, _ *Upstream) any { return &c.Record.Token.File },
	},
	{
		Key: "record.token.env", Flag: "record-token-env", Kind: Text, pattern: patternVariable, what: whatVariable, group: "record.token", Absent: "no token is sent",
		Usage: "name of the environment variable with that token",
		field: func(c *Config, _ *Upstream) any { return &c.Record.Token.Env },
	},
	{
		Key: "record.delay", Flag: "record-delay", Kind: Duration, Min: int64(time.Second), Max: int64(time.Hour), Default: "10s",
		Usage: "how long records are gathered before they are sent",
		field: func(c *Config, _ *Upstream) any { return &c.Record.Delay },
	},
	{
		Key: "log.format", Flag: "log-format", Kind: Choice, Choices: []string{FormatJSON, FormatConsole}, Default: FormatJSON,
		Usage: "form of the log",
		field: func(c *Config, _ *Upstream) any { return &c.Log.Format },
	},
	{
		Key: "log.level", Flag: "log-level", Kind: Choice, Choices: []string{"debug", "info", "warn", "error"}, Default: "info",
		Usage: "least level that is logged",
		field: func(c *Config, _ *Upstream) any { return &c.Log.Level },
	},
}

// BundleAlgorithms returns the values of engine.bundle.algorithm, the default first.
func BundleAlgorithms() []string { return slices.Clone(bundleAlgorithms) }

// bundleAlgorithms are those of JWS (RFC 7518) that OPA verifies bundles with.
var bundleAlgorithms = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "HS256", "HS384", "HS512",
}

// What patterns want, in words.
const (
	whatTool     = "the name of a tool"
	whatAddress  = `host and port, such as "127.0.0.1:8080"; to serve on all interfaces, name them: "0.0.0.0:8080"`
	whatVariable = "the name of an environment variable: letters, digits and underscores"
)
