package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/sallyport-mcp/sallyport/engine"
)

// flags parses a command line.
func flags(t testing.TB, args ...string) *Flags {
	t.Helper()
	f := new(Flags)
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Register(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	f.SetCommand(set.Args())
	return f
}

// samples returns three values of an option as they are written for a flag, none of them
// the default.
func samples(o *Option) []string {
	switch o.Kind {
	case Choice: // that there may be two only does not matter: neighbours differ
		return []string{o.Choices[0], o.Choices[1], o.Choices[0]}
	case Bool:
		return []string{"true", "true", "true"}
	case Integer:
		return []string{fmt.Sprint(o.Min), fmt.Sprint(o.Min + 1), fmt.Sprint(o.Min + 2)}
	case Duration:
		return []string{"3s", "4s", "5s"}
	case Path, Paths, Text, Texts, References:
	}
	switch o.pattern {
	case patternAddress:
		return []string{"localhost:1", "127.0.0.1:2", "[::1]:3"}
	case patternHost:
		return []string{"a.example:1", "b.example:2", "c.example:3"}
	case patternOrigin, patternURL:
		return []string{"https://a.example", "https://b.example", "https://c.example"}
	}
	return []string{"one", "two", "three"}
}

// written is a value of an option as YAML.
func written(o *Option, sample string) string {
	value := fmt.Sprintf("%q", sample)
	switch {
	case o.Kind == Integer || o.Kind == Bool:
		value = sample
	case o.list():
		value = "[" + value + "]"
	}
	parts := strings.Split(o.Key, ".")
	text := value
	for i := len(parts) - 1; i >= 0; i-- {
		text = fmt.Sprintf("{%s: %s}", parts[i], text)
	}
	// What goes with it, without which the option could not stand.
	if member, ok := strings.CutPrefix(o.Key, "engine.bundle."); ok {
		for _, other := range []string{"file", "key", "url"} {
			if other != member {
				text = strings.Replace(text, "{bundle: {", "{bundle: {"+other+": \"http://a.example\", ", 1)
			}
		}
		return text + "\n"
	}
	if needsRecordURL(o) {
		text = strings.Replace(text, "{record: {", "{record: {url: \"http://a.example\", ", 1)
	}
	text = strings.Replace(text, "{cert: ", "{key: k.pem, cert: ", 1)
	return strings.Replace(text, "{key: \"", "{cert: c.pem, key: \"", 1) + "\n"
}

func needsRecordURL(o *Option) bool {
	return strings.HasPrefix(o.Key, "record.") && o.Key != "record.url" && o.Key != "record.file"
}

// Flag beats variable beats file beats default, for every option that is there once.
func TestPrecedence(t *testing.T) {
	for _, o := range table {
		if o.perUpstream() {
			continue
		}
		t.Run(o.Key, func(t *testing.T) {
			values := samples(o)
			environ := []string{o.Env() + "=" + values[1]}
			flag := flags(t, "--"+o.Flag+"="+values[2])
			other := map[string]string{"tls-cert": "tls-key", "tls-key": "tls-cert"}[o.Flag]
			if other != "" { // one needs the other
				environ = append(environ, "SALLYPORT_"+strings.ToUpper(strings.ReplaceAll(other, "-", "_"))+"=other")
			}
			if strings.HasPrefix(o.Key, "engine.bundle.") {
				for _, name := range []string{"BUNDLE", "BUNDLE_KEY", "BUNDLE_URL"} {
					if variable := "SALLYPORT_" + name; variable != o.Env() {
						environ = append(environ, variable+"=http://a.example")
					}
				}
			}
			if needsRecordURL(o) {
				environ = append(environ, "SALLYPORT_RECORD_URL=http://a.example")
			}
			file := written(o, values[0])
			for _, test := range []struct {
				name   string
				text   string
				from   Sources
				sample string
				origin string
			}{
				{"default", "", Sources{}, o.Default, "default"},
				{"file", file, Sources{}, values[0], "conf/sallyport.yaml:1:"},
				{"variable", "", Sources{Environ: environ}, values[1], o.Env()},
				{"flag", "", Sources{Flags: flag, Environ: environ[1:]}, values[2], "--" + o.Flag},
				{"file and variable", file, Sources{Environ: environ}, values[1], o.Env()},
				{"file and flag", file, Sources{Flags: flag}, values[2], "--" + o.Flag},
				{"variable and flag", "", Sources{Environ: environ, Flags: flag}, values[2], "--" + o.Flag},
				{"all", file, Sources{Environ: environ, Flags: flag}, values[2], "--" + o.Flag},
				{"empty variable", file, Sources{Environ: []string{o.Env() + "="}}, values[0], "conf/sallyport.yaml:1:"},
			} {
				s, err := load(test.text, test.from)
				if err != nil {
					t.Fatalf("%s: %v", test.name, err)
				}
				got := reflect.ValueOf(o.field(&s.Config, nil)).Elem()
				want := expected(t, o, got.Type(), test.sample, strings.HasPrefix(test.origin, "conf"))
				if o.Key == "engine.mode" && test.sample == "" {
					want = reflect.ValueOf(engine.Strict)
				}
				if diff := cmp.Diff(want.Interface(), got.Interface()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.name, diff)
				}
				if at := s.origins[o.Key].String(); !strings.HasPrefix(at, test.origin) {
					t.Errorf("%s: comes from %s, want %s", test.name, at, test.origin)
				}
			}
		})
	}
}

// expected is the value of the field for a sample.
func expected(t *testing.T, o *Option, field reflect.Type, sample string, fromFile bool) reflect.Value {
	t.Helper()
	if sample == "" {
		return reflect.Zero(field)
	}
	if fromFile && (o.Kind == Path || o.Kind == Paths) {
		sample = filepath.Join("conf", sample)
	}
	var value any = sample
	switch {
	case o.Kind == Integer:
		var n int
		if err := json.Unmarshal([]byte(sample), &n); err != nil {
			t.Fatal(err)
		}
		value = n
	case o.Kind == Bool:
		value = sample == "true"
	case o.Kind == Duration:
		d, err := time.ParseDuration(sample)
		if err != nil {
			t.Fatal(err)
		}
		value = d
	case o.list():
		value = []string{sample}
	}
	return reflect.ValueOf(value).Convert(field)
}

func TestModeOfTheEnvironment(t *testing.T) {
	variable := engine.ModeVariable + "= Permissive "
	for name, test := range map[string]struct {
		text string
		from Sources
		want engine.Mode
		at   string
	}{
		"stands for the default":      {"", Sources{Environ: []string{variable}}, engine.Permissive, engine.ModeVariable},
		"is beaten by the file":       {"engine: {mode: strict}", Sources{Environ: []string{variable}}, engine.Strict, "conf/sallyport.yaml:1:16"},
		"is beaten by a variable":     {"", Sources{Environ: []string{variable, "SALLYPORT_MODE=strict"}}, engine.Strict, "SALLYPORT_MODE"},
		"is beaten in both ways":      {"engine: {mode: permissive}", Sources{Environ: []string{engine.ModeVariable + "=strict"}}, engine.Permissive, "conf/sallyport.yaml:1:16"},
		"any other value is strict":   {"", Sources{Environ: []string{engine.ModeVariable + "=off"}}, engine.Strict, "default"},
		"this process has no say":     {"", Sources{}, engine.Strict, "default"},
		"the last of two assignments": {"", Sources{Environ: []string{engine.ModeVariable + "=strict", variable}}, engine.Permissive, engine.ModeVariable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(engine.ModeVariable, "permissive") // only what is in Sources counts
			s, err := load(test.text, test.from)
			if err != nil {
				t.Fatal(err)
			}
			if s.Engine.Mode != test.want || s.origins["engine.mode"].String() != test.at {
				t.Errorf("is %s from %s, want %s from %s", s.Engine.Mode, s.origins["engine.mode"], test.want, test.at)
			}
		})
	}
}

func TestTokenOfTwoLayers(t *testing.T) {
	s, err := load("listen: {address: '[::1]:1', token: {file: t}}", Sources{Flags: flags(t, "--token-env", "T")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Reference{Env: "T"}.String(), s.Listen.Token.String()); diff != "" {
		t.Error(diff)
	}
}

const twoUpstreams = `listen: {address: '[::1]:1'}
upstreams:
- {name: notes, url: https://notes.example/mcp, lock: notes.lock}
- {name: files, command: bin/serve, args: [-v, -v], cwd: data}
`

func TestUpstreams(t *testing.T) {
	notes := Upstream{Name: "notes", Path: "/notes", URL: "https://notes.example/mcp", Lock: "conf/notes.lock"}
	files := Upstream{Name: "files", Path: "/files", Command: "bin/serve", Args: []string{"-v", "-v"}, Cwd: "conf/data"}
	with := func(u Upstream, change func(*Upstream)) Upstream {
		change(&u)
		return u
	}
	for name, test := range map[string]struct {
		text string
		from Sources
		want []Upstream
	}{
		"of the file": {twoUpstreams, Sources{}, []Upstream{notes, files}},
		"of a variable": {twoUpstreams, Sources{Environ: []string{"SALLYPORT_UPSTREAM=a=http://a/,b=http://b"}}, []Upstream{
			{Name: "a", Path: "/a", URL: "http://a/"}, {Name: "b", Path: "/b", URL: "http://b"},
		}},
		"of a flag": {twoUpstreams, Sources{Environ: []string{"SALLYPORT_UPSTREAM=a=http://a/"}, Flags: flags(t, "--upstream", "c=http://c/?k=v")}, []Upstream{
			{Name: "c", Path: "/c", URL: "http://c/?k=v"},
		}},
		"a command": {twoUpstreams, Sources{Flags: flags(t, "--", "npx", "-y", "a=b")}, []Upstream{
			{Name: "server", Path: "/", Command: "npx", Args: []string{"-y", "a=b"}},
		}},
		"lock of one by flag": {twoUpstreams, Sources{Flags: flags(t, "--lock", "files=f.lock")}, []Upstream{
			notes, with(files, func(u *Upstream) { u.Lock = "f.lock" }),
		}},
		"lock of the only one": {"", Sources{Flags: flags(t, "--lock", "a=b.lock", "--", "serve")}, []Upstream{
			{Name: "server", Path: "/", Command: "serve", Args: []string{}, Lock: "a=b.lock"},
		}},
		"flag beats variable": {twoUpstreams, Sources{Environ: []string{"SALLYPORT_UPSTREAM_PATH=notes=/v,files=/f"}, Flags: flags(t, "--upstream-path", "notes=/w")}, []Upstream{
			with(notes, func(u *Upstream) { u.Path = "/w" }), with(files, func(u *Upstream) { u.Path = "/f" }),
		}},
		"headers and environment": {twoUpstreams, Sources{Flags: flags(t, "--upstream-header", "notes=X-A=env:A", "--upstream-header", "notes=X-B=file:b/../c",
			"--upstream-env", "files=LEVEL=text:a=b", "--upstream-cwd", "files=/srv")}, []Upstream{
			with(notes, func(u *Upstream) { u.Headers = map[string]Reference{"X-A": {Env: "A"}, "X-B": {File: "c"}} }),
			with(files, func(u *Upstream) {
				u.Env, u.Cwd = map[string]Reference{"LEVEL": {text: "a=b", set: true}}, "/srv"
			}),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := load(test.text, test.from)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.Upstreams, cmp.AllowUnexported(Reference{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFaultsOutsideOfTheFile(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		from Sources
		want []string
	}{
		"all layers in one report": {"engine: {mode: x}", Sources{Environ: []string{"SALLYPORT_FORMATS=asert"}, Flags: flags(t, "--listen", "8080", "--max-violations", "x")}, []string{
			`1:16: engine.mode: must be one of strict, permissive`,
			`SALLYPORT_FORMATS: engine.formats: must be one of assert, annotate; did you mean "assert"?`,
			`--listen: listen.address: must be host and port, such as "127.0.0.1:8080"; to serve on all interfaces, name them: "0.0.0.0:8080"`,
			`--max-violations: engine.max_violations: must be a decimal number without fraction, exponent or leading zeros`,
		}},
		"certificate of a flag alone": {"", Sources{Flags: flags(t, "--listen", "localhost:1", "--tls-cert", "c")}, []string{`--tls-cert: listen.tls: needs key`}},
		"two tokens by flags":         {"", Sources{Flags: flags(t, "--listen", "a:1", "--token-file", "c", "--token-env", "T")}, []string{`--token-env: listen.token.env: cannot stand beside file; choose one`}},
		"two upstreams without name":  {"", Sources{Flags: flags(t, "--listen", "localhost:1", "--upstream", "https://a/?b=c", "--upstream", "https://b")}, []string{`--upstream: upstreams[1].name: is that of upstreams[0] too; give each its own`}},
		"open to all":                 {"", Sources{Flags: flags(t, "--listen", "a:1", "--", "b")}, []string{`--listen: listen.address: can be reached by others, and no token is asked for; set listen.token, or listen.open if that is meant`}},
		"two sources of schemas":      {"engine: {schemas: bundled}", Sources{Flags: flags(t, "--tools-list", "a")}, []string{`--tools-list: engine.tools_list: cannot stand beside engine.schemas; choose one`}},
		"loud truth":                  {"listen: {open: True}", Sources{Environ: []string{"SALLYPORT_OPEN=1"}}, []string{`1:16: listen.open: must be true or false`, `SALLYPORT_OPEN: listen.open: must be true or false`}},
		"folder for a URL": {twoUpstreams, Sources{Flags: flags(t, "--upstream-cwd", "notes=/srv")}, []string{
			`--upstream-cwd: upstreams[0].cwd: has no meaning without command`,
		}},
		"which upstream": {twoUpstreams, Sources{Flags: flags(t, "--lock", "f.lock", "--lock", "flies=f.lock")}, []string{
			`--lock: upstreams[].lock: must begin with the name of an upstream and =; the upstreams are notes, files`,
			`--lock: upstreams[].lock: must begin with the name of an upstream and =; the upstreams are notes, files`,
		}},
		"no upstream":                {"", Sources{Flags: flags(t, "--lock", "f.lock")}, []string{`--lock: upstreams[].lock: is for an upstream, and there is none`}},
		"command and upstream":       {"", Sources{Flags: flags(t, "--upstream", "a=http://a", "--", "b")}, []string{`--: upstreams: a command cannot stand beside --upstream; choose one`}},
		"variable of a child itself": {twoUpstreams, Sources{Flags: flags(t, "--upstream-env", "files=A=hunter2")}, []string{`--upstream-env: upstreams[1].env: must be VARIABLE=env:VARIABLE|file:FILE|text:TEXT`}},
		"header itself":              {twoUpstreams, Sources{Flags: flags(t, "--upstream-header", "notes=A=text:hunter2")}, []string{`--upstream-header: upstreams[0].headers: must be HEADER=env:VARIABLE|file:FILE`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(test.text, test.from)
			got := faults(t, err)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(strings.Join(got, ""), "hunter2") {
				t.Error("a secret is shown")
			}
		})
	}
}
