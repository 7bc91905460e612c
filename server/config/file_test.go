package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func timeOf(n int64) time.Duration { return time.Duration(n) }

// load parses text as the file conf/sallyport.yaml.
func load(text string, from Sources) (*Settings, error) {
	from.File = "conf/sallyport.yaml"
	return assemble(from, parseFile(from.File, []byte(text)))
}

// faults returns the lines of an Error.
func faults(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var all *Error
	if !errors.As(err, &all) {
		t.Fatalf("%v is no *Error", err)
	}
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "conf/sallyport.yaml:")
	}
	return lines
}

func TestFaults(t *testing.T) {
	const decimal = "must be a decimal number without fraction, exponent or leading zeros"
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":              {"", nil},
		"comments only":        {"# nothing\n---\n", nil},
		"no object":            {"- a\n", []string{`1:1: is a list but must be an object`}},
		"null":                 {"null\n", []string{`1:1: has no value but must be an object; leave the key out for the default`}},
		"unknown key":          {"engine:\n  moed: strict\n", []string{`2:3: engine: unknown key "moed"; did you mean "mode"?`}},
		"hyphens for lines":    {"engine: {rules-timeout: 1s}\n", []string{`1:10: engine: unknown key "rules-timeout"; did you mean "rules_timeout"?`}},
		"key of elsewhere":     {"engine:\n  drop_nulls: [a]\n", []string{`2:3: engine: unknown key "drop_nulls"; it belongs into engine.leniency`}},
		"object of elsewhere":  {"tls: {}\n", []string{`1:1: unknown key "tls"; it belongs into listen`}},
		"nothing like it":      {"log: {quux: 1}\n", []string{`1:7: log: unknown key "quux"; the keys here are format, level`}},
		"duplicate key":        {"log:\n  level: info\n  level: warn\n", []string{`3:3: log: has the key "level" twice; the first is in line 2`}},
		"duplicate by escape":  {"log: {level: info, \"lev\\x65l\": warn}\n", []string{`1:20: log: has the key "level" twice; the first is in line 1`}},
		"near-miss of a word":  {"engine: {mode: permisive}\n", []string{`1:16: engine.mode: must be one of strict, permissive; did you mean "permissive"?`}},
		"no such word":         {"engine: {mode: off}\n", []string{`1:16: engine.mode: must be one of strict, permissive`}},
		"number for a string":  {"upstreams:\n- {name: 5, url: http://a}\nlisten: {address: '[::1]:1'}\n", []string{`2:10: upstreams[0].name: is a number but must be a string; put it in quotes`}},
		"date for a string":    {"upstreams:\n- {name: 2020-01-01, url: http://a}\nlisten: {address: '[::1]:1'}\n", []string{`2:10: upstreams[0].name: is a date but must be a string; put it in quotes`}},
		"string for a list":    {"engine: {policies: rules}\n", []string{`1:20: engine.policies: is a string but must be a list of strings`}},
		"empty value":          {"engine:\n  mode:\n", []string{`2:8: engine.mode: has no value but must be a string; leave the key out for the default`}},
		"string for a number":  {"engine: {max_violations: \"5\"}\n", []string{`1:26: engine.max_violations: is a string but must be a number`}},
		"fraction":             {"engine: {max_violations: 5.5}\n", []string{`1:26: engine.max_violations: ` + decimal}},
		"octal":                {"engine: {max_violations: 010}\n", []string{`1:26: engine.max_violations: ` + decimal}},
		"underscore":           {"engine: {max_violations: 1_0}\n", []string{`1:26: engine.max_violations: ` + decimal}},
		"below the least":      {"engine: {max_violations: 0}\n", []string{`1:26: engine.max_violations: must be from 1 to 10000`}},
		"beyond 64 bits":       {"listen: {address: '[::1]:1', limits: {body_bytes: 99999999999999999999}}\n", []string{`1:51: listen.limits.body_bytes: must be from 1024 to 4194304`}},
		"duration as number":   {"engine: {rules_timeout: 2}\n", []string{`1:25: engine.rules_timeout: is a number but must be a string such as "30s"; put it in quotes`}},
		"duration of no unit":  {"engine: {rules_timeout: \"2\"}\n", []string{`1:25: engine.rules_timeout: must be a duration such as "30s" or "1m30s", of the units ms, s, m and h`}},
		"duration too long":    {"engine: {rules_timeout: 2m}\n", []string{`1:25: engine.rules_timeout: must be from 10ms to 1m0s`}},
		"duration overflow":    {"engine: {rules_timeout: 999999999h}\n", []string{`1:25: engine.rules_timeout: must be from 10ms to 1m0s`}},
		"tool twice":           {"engine: {allow_unsafe_args: [a, b, a]}\n", []string{`1:36: engine.allow_unsafe_args[2]: is in the list already; leave it out`}},
		"address without host": {"listen: {address: ':8080'}\n", []string{`1:19: listen.address: must be host and port, such as "127.0.0.1:8080"; to serve on all interfaces, name them: "0.0.0.0:8080"`}},
		"port too high":        {"listen: {address: 'localhost:65536'}\n", []string{`1:19: listen.address: must be host and port, such as "127.0.0.1:8080"; to serve on all interfaces, name them: "0.0.0.0:8080"`}},
		"certificate alone":    {"listen: {address: '[::1]:1', tls: {cert: c.pem}}\n", []string{`1:35: listen.tls: needs key`}},
		"token itself":         {"listen: {address: '[::1]:1', token: hunter2}\n", []string{`1:37: listen.token: is a string but must be an object`}},
		"two tokens":           {"listen: {address: '[::1]:1', token: {file: t, env: T}}\n", []string{`1:47: listen.token.env: cannot stand beside file; choose one`}},
		"no token":             {"listen: {address: '[::1]:1', token: {}}\n", []string{`1:37: listen.token: needs either file or env`}},
		"upstream of nothing":  {"upstreams: [{name: a}]\n", []string{`1:13: upstreams[0]: needs either url or command`}},
		"upstream of both":     {"upstreams: [{name: a, url: http://a, command: b}]\n", []string{`1:38: upstreams[0].command: cannot stand beside url; choose one`}},
		"upstream nameless":    {"upstreams: [{command: b}]\n", []string{`1:13: upstreams[0]: needs name`}},
		"arguments of a URL":   {"listen: {address: '[::1]:1'}\nupstreams: [{name: a, url: http://a, args: [b]}]\n", []string{`2:38: upstreams[0].args: has no meaning without command`}},
		"user in a URL":        {"listen: {address: '[::1]:1'}\nupstreams: [{name: a, url: 'http://u:hunter2@a'}]\n", []string{`2:28: upstreams[0].url: must be a URL with http or https, without user name and fragment`}},
		"header itself":        {"listen: {address: '[::1]:1'}\nupstreams: [{name: a, url: http://a, headers: {Authorization: Bearer hunter2}}]\n", []string{`2:63: upstreams[0].headers.Authorization: is a string but must be an object with file or env`}},
		"header of ours":       {"listen: {address: '[::1]:1'}\nupstreams: [{name: a, url: http://a, headers: {MCP-Session-Id: {env: A}}}]\n", []string{`2:48: upstreams[0].headers: the key "MCP-Session-Id" is a header that the gateway sets itself; leave it out`}},
		"header in two cases":  {"listen: {address: '[::1]:1'}\nupstreams: [{name: a, url: http://a, headers: {X-A: {env: A}, x-a: {env: B}}}]\n", []string{`2:63: upstreams[0].headers: has "X-A" and "x-a", which are the same header; leave one`}},
		"two of one name":      {"listen: {address: '[::1]:1'}\nupstreams: [{name: a, command: b}, {name: a, command: c}]\n", []string{`2:43: upstreams[1].name: is that of upstreams[0] too; give each its own`}},
		"two of one path":      {"listen: {address: '[::1]:1'}\nupstreams: [{name: a, command: b}, {name: b, path: /a, command: c}]\n", []string{`2:52: upstreams[1].path: is that of upstreams[0] too; give each its own`}},
		"two without address":  {"upstreams: [{name: a, command: b}, {name: b, command: c}]\n", []string{`1:13: listen.address: is needed for more than one upstream; set it, such as to "127.0.0.1:8080"`}},
		"URL without address":  {"upstreams: [{name: a, url: http://a}]\n", []string{`1:28: listen.address: is needed for an upstream at a URL; set it, such as to "127.0.0.1:8080"`}},
		"dots in a path":       {"upstreams: [{name: a, path: /../b, command: b}]\n", []string{`1:29: upstreams[0].path: must be a path such as "/notes", without "/" at its end`}},
		"alias":                {"log: &a {level: info}\nengine: *a\n", []string{`1:6: has an anchor; leave it out: aliases are not allowed`, `2:9: is an alias; write the value out`}},
		"text like an alias":   {"engine: {mode: *hunter2}\n", []string{`1:16: is not YAML that can be taken here: an alias, or a text that begins with *`}},
		"merge key":            {"<<: {log: {level: info}}\n", []string{`1:1: has a key that is no string; put it in quotes, if it is meant`}},
		"tag":                  {"engine: {mode: !!str strict}\n", []string{`1:16: has an explicit tag; leave it out`}},
		"two documents":        {"log: {level: info}\n---\nlog: {level: warn}\n", []string{`3:1: a second document begins here; leave one document in the file`}},
		"number as a key":      {"1: 2\n", []string{`1:1: has a key that is no string; put it in quotes, if it is meant`}},
		"broken YAML":          {"log: {level: info\n", []string{`2:1: is not YAML: did not find expected ',' or '}'`}},
		"tab":                  {"log:\n\tlevel: info\n", []string{`2:1: is not YAML: found character that cannot start any token`}},
		"not UTF-8":            {"log:\n  level: \"\xff\"\n", []string{`2:11: is not UTF-8; save it in UTF-8`}},
		"control character":    {"log:\n  level: \"\x01\"\n", []string{`2:11: is not YAML: control characters are not allowed (value: 1)`}},
		"too large":            {strings.Repeat("#\n", longestFile/2) + "\n", []string{` has more than 1048576 bytes`}},
		"too deep":             {"log: " + strings.Repeat("[", 30) + strings.Repeat("]", 30) + "\n", []string{`1:25: is nested deeper than 20 levels`}},
		"billion laughs":       {"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", []string{`1:4: has an anchor; leave it out: aliases are not allowed`, `2:4: has an anchor; leave it out: aliases are not allowed`, `3:5: is an alias; write the value out`, `3:9: is an alias; write the value out`}},
		"escapes in a key":     {"\"\\e[2J\": 1\n", []string{`1:1: unknown key "\x1b[2J"; the keys here are engine, listen, upstreams, record, log`}},
		"all in one report": {"engine:\n  moed: strict\n  formats: x\nlog: {level: 3}\nupstreams: {}\n", []string{
			`2:3: engine: unknown key "moed"; did you mean "mode"?`, `3:12: engine.formats: must be one of assert, annotate`,
			`4:14: log.level: is a number but must be a string; put it in quotes`, `5:12: upstreams: is an object but must be a list`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(test.text, Sources{})
			got := faults(t, err)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", test.text, diff)
			}
			if strings.Contains(strings.Join(got, ""), "hunter2") {
				t.Error("a secret is shown")
			}
		})
	}
}
