package config

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/sallyport-mcp/sallyport/engine"
)

// write makes a file in a folder.
func write(t testing.TB, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func texts(problems []Problem) []string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return lines
}

func TestExampleOfTheReadme(t *testing.T) {
	s, err := load(example(t), Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) > 0 {
		t.Errorf("warnings: %q", texts(s.Warnings))
	}
	want := []Upstream{
		{Name: "notes", Path: "/notes", URL: "https://notes.example/mcp", Headers: map[string]Reference{"Authorization": {Env: "NOTES_AUTHORIZATION"}}, Lock: "conf/locks/notes.json"},
		{
			Name: "files", Path: "/shared/files", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/srv/files"},
			Env: map[string]Reference{"LOG_LEVEL": {text: "warn", set: true}, "API_KEY": {File: "conf/secrets/files"}}, Lock: "conf/locks/files.json",
		},
	}
	if diff := cmp.Diff(want, s.Upstreams, cmp.AllowUnexported(Reference{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	files := []string{
		"conf/locks/files.json", "conf/locks/notes.json", "conf/rules", "conf/sallyport.yaml", "conf/secrets/files", "conf/secrets/token", "conf/tls/server.key", "conf/tls/server.pem",
	}
	if diff := cmp.Diff(files, s.Files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestWarnings(t *testing.T) {
	const child = "upstreams: [{name: a, command: b}]\n"
	for name, test := range map[string]struct {
		text    string
		environ []string
		want    []string
	}{
		"none":        {child, nil, nil},
		"no upstream": {"", nil, []string{`conf/sallyport.yaml: upstreams: there is none, so a gateway has nothing to stand in front of`}},
		"open to all": {"listen: {address: '0.0.0.0:80', open: true}\n" + child, nil, []string{
			`conf/sallyport.yaml:1:19: listen.address: is open to other machines without TLS: calls and tokens can be read on the way; set listen.tls, or have something in front that does`,
			`conf/sallyport.yaml:1:19: listen.address: is open to other machines without a token: whoever reaches it may call tools`,
			`conf/sallyport.yaml:1:19: listen.address: is open to other machines under any name; set listen.allowed_hosts`,
		}},
		"loopback":          {"listen: {address: '[::1]:80'}\n" + child, nil, nil},
		"token for nothing": {"listen: {token: {env: T}}\n" + child, nil, []string{`conf/sallyport.yaml:1:23: listen.token.env: has no effect without listen.address`}},
		"header in the clear": {"listen: {address: 'localhost:1'}\nupstreams: [{name: a, url: http://a, headers: {X: {env: Y}}}]", nil, []string{
			`conf/sallyport.yaml:2:28: upstreams[0].url: is http, so the values of headers can be read on the way; use https`,
		}},
		"misspelt variable": {child, []string{"SALLYPORT_MOED=permissive", "SALLYPORT_PORT=tcp://10.0.0.1:80", "SALLYPORT_SERVICE_HOST=10.0.0.1", "SALLYPORT_CONFIG=x", "SALLYPORT_ANYTHING=y"}, []string{
			`SALLYPORT_MOED: there is no such variable, so it has no effect; did you mean SALLYPORT_MODE?`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := load(test.text, Sources{Environ: test.environ})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, texts(s.Warnings)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A secret is in no form in which settings come out, but the one that reads it.
func TestSecretsAreNotShown(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "token", "hunter2-file-0123\n")
	name := write(t, folder, "sallyport.yaml", `
listen: {address: 'localhost:1', token: {file: token}}
upstreams:
- {name: a, command: b, env: {KEY: hunter2-text, OTHER: {env: T}}}
- {name: c, url: "https://c/?key=hunter2-query"}
`)
	s, err := Load(Sources{File: name, Environ: []string{"T=hunter2-variable"}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	logger, err := Log{Format: FormatJSON, Level: "info"}.Logger(zapcore.AddSync(&b))
	if err != nil {
		t.Fatal(err)
	}
	refs := s.Upstreams[0].Env
	logger.Info("x", zap.Any("env", refs), zap.Any("token", s.Listen.Token), zap.Any("listen", s.Listen), zap.Reflect("values", s.Values()))
	encoded, err := json.Marshal(refs)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%v %+v %#v %s %s %q", refs, refs, refs, encoded, refs["KEY"], refs["KEY"])
	fmt.Fprintf(&b, "%+v", s.CheckFiles())
	if strings.Contains(b.String(), "hunter2") {
		t.Errorf("a secret is shown:\n%s", &b)
	}
	for want, r := range map[string]Reference{"hunter2-file-0123": s.Listen.Token, "hunter2-text": refs["KEY"], "hunter2-variable": refs["OTHER"]} {
		if got, err := s.Read(r); got != want || err != nil {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
}

func TestReadReference(t *testing.T) {
	folder := t.TempDir()
	environment := lookup([]string{"SET=value", "EMPTY=", "LINES=a\nb"})
	for name, test := range map[string]struct {
		ref  Reference
		want string
		err  string
	}{
		"file":             {Reference{File: write(t, folder, "a", "value")}, "value", ""},
		"with a line feed": {Reference{File: write(t, folder, "b", "value\r\n")}, "value", ""},
		"spaces belong":    {Reference{File: write(t, folder, "c", " value ")}, " value ", ""},
		"empty file":       {Reference{File: write(t, folder, "d", "\n")}, "", "file FOLDER/d is empty"},
		"two lines":        {Reference{File: write(t, folder, "e", "a\n\n")}, "", "file FOLDER/e must be a single line"},
		"too long":         {Reference{File: write(t, folder, "f", strings.Repeat("x", longestSecret+1))}, "", "file FOLDER/f has more than 65536 bytes"},
		"longest":          {Reference{File: write(t, folder, "g", strings.Repeat("x", longestSecret)+"\n")}, strings.Repeat("x", longestSecret), ""},
		"no file":          {Reference{File: filepath.Join(folder, "h")}, "", "open FOLDER/h: no such file or directory"},
		"folder":           {Reference{File: folder}, "", "read FOLDER: is a directory"},
		"variable":         {Reference{Env: "SET"}, "value", ""},
		"no variable":      {Reference{Env: "UNSET"}, "", "the environment variable UNSET is not set"},
		"empty variable":   {Reference{Env: "EMPTY"}, "", "environment EMPTY is empty"},
		"lines":            {Reference{Env: "LINES"}, "", "environment LINES must be a single line"},
		"empty text":       {Reference{set: true}, "", ""},
		"nothing":          {Reference{}, "", "refers to nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.ref.Read(environment)
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), folder, "FOLDER")
			}
			if got != test.want || text != test.err {
				t.Errorf("got %q, %q; want %q, %q", got, text, test.want, test.err)
			}
		})
	}
}

func TestCheckFiles(t *testing.T) {
	folder := t.TempDir()
	name := write(t, folder, "sallyport.yaml", `engine: {schemas: nowhere, policies: [file]}
listen: {address: 'localhost:1', tls: {cert: file, key: file}, token: {env: UNSET}}
upstreams:
- {name: a, command: b, cwd: nowhere, lock: not/yet, env: {A: {file: nowhere}}}
- {name: c, url: "https://c", lock: .}
`)
	write(t, folder, "file", "no certificate")
	check := func() []string {
		t.Helper()
		s, err := Load(Sources{File: name})
		if err != nil {
			t.Fatal(err)
		}
		found := texts(s.CheckFiles())
		for i := range found {
			found[i] = strings.ReplaceAll(found[i], folder, "FOLDER")
		}
		return found
	}
	want := []string{
		`FOLDER/sallyport.yaml:1:19: engine.schemas: stat FOLDER/nowhere: no such file or directory`,
		`FOLDER/sallyport.yaml:1:38: engine.policies: FOLDER/file is not a folder`,
		`FOLDER/sallyport.yaml:2:77: listen.token.env: the environment variable UNSET is not set`,
		`FOLDER/sallyport.yaml:4:30: upstreams[0].cwd: stat FOLDER/nowhere: no such file or directory`,
		`FOLDER/sallyport.yaml:4:59: upstreams[0].env: open FOLDER/nowhere: no such file or directory`,
		`FOLDER/sallyport.yaml:5:37: upstreams[1].lock: FOLDER is not a file`,
	}
	if diff := cmp.Diff(want, check()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	write(t, folder, "sallyport.yaml", "listen: {address: 'localhost:1', tls: {cert: file, key: file}}\n")
	want = []string{`FOLDER/sallyport.yaml:1:46: listen.tls.cert: tls: failed to find any PEM data in certificate input`}
	if diff := cmp.Diff(want, check()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMissingFile(t *testing.T) {
	_, err := Load(Sources{File: filepath.Join(t.TempDir(), "x.yaml")})
	if err == nil || !strings.HasPrefix(err.Error(), "read configuration: open ") {
		t.Errorf("got %v", err)
	}
}

// What is set reaches the engine.
func TestEngineOptions(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "schemas/t.json", `{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "e": {"format": "email", "type": "string"}}, "additionalProperties": false}`)
	write(t, folder, "rules/polite.rego", `# METADATA
# scope: package
# title: Polite
# description: No shouting.
# custom: {severity: low}
package sallyport.rules.polite

import rego.v2

deny contains {"path": "", "reason": "do not shout"} if input.payload.a == 7
`)
	name := write(t, folder, "sallyport.yaml", `engine:
  schemas: schemas
  policies: [rules]
  formats: annotate
  max_violations: 1
  allow_unsafe_args: [t]
  leniency: {drop_nulls: [t], unwrap_json_strings: [t]}
`)
	s, err := Load(Sources{File: name})
	if err != nil {
		t.Fatal(err)
	}
	options, err := s.Engine.Options()
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(context.Background(), append(options, engine.WithLogger(zap.NewNop()))...)
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"a": 1}`:                "",
		`{"a": null}`:             "",
		`{"e": "\u0001 no mail"}`: "",
		`{"a": 7}`:                `invalid arguments for "t": do not shout`,
		`{"a": "x", "b": "x"}`:    `invalid arguments for "t": /a is a string but must be an integer; and 1 more`,
	} {
		_, err := eng.Validate(context.Background(), "t", []byte(arguments))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}

func TestLogger(t *testing.T) {
	var b bytes.Buffer
	logger, err := Log{Format: FormatConsole, Level: "warn"}.Logger(zapcore.AddSync(&b))
	if err != nil {
		t.Fatal(err)
	}
	logger.Info("not this")
	logger.Warn("this")
	if got := b.String(); !strings.HasSuffix(got, "\twarn\tthis\n") {
		t.Errorf("logged %q", got)
	}
}

func TestToken(t *testing.T) {
	for value, want := range map[string]string{
		"0123456789abcdef": "", "0123456789abcde": "environment T has less than 16 characters",
		"0123456789 abcdef": "environment T has a character that no bearer token can have", "": "environment T is empty",
	} {
		s, err := load("listen: {address: 'localhost:1', token: {env: T}}", Sources{Environ: []string{"T=" + value}})
		if err != nil {
			t.Fatal(err)
		}
		token, err := s.Token()
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want || want == "" && token != value {
			t.Errorf("%q: %q, %q; want %q", value, token, got, want)
		}
	}
	s, err := load("", Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if token, err := s.Token(); token != "" || err != nil {
		t.Errorf("without a token: %q, %v", token, err)
	}
}

// Where the tools come from, as the engine sees it.
func TestSourcesOfSchemas(t *testing.T) {
	folder := t.TempDir()
	list := write(t, folder, "list.json", `{"tools": [{"name": "listed", "inputSchema": {"type": "object"}}]}`)
	page := write(t, folder, "page.json", `{"tools": [], "nextCursor": "2"}`)
	write(t, folder, "schemas/filed.json", `{"type": "object", "additionalProperties": false}`)
	for name, test := range map[string]struct {
		flags  []string
		tools  []string
		learns bool
		err    string
	}{
		"learned": {nil, nil, true, ""},
		"listed":  {[]string{"--tools-list", list}, []string{"listed"}, false, ""},
		"filed":   {[]string{"--schemas", filepath.Join(folder, "schemas")}, []string{"filed"}, false, ""},
		"a page":  {[]string{"--tools-list", page}, nil, false, "engine.tools_list: FOLDER/page.json is one page of a longer list: put all tools into it"},
		"no file": {[]string{"--tools-list", filepath.Join(folder, "x")}, nil, false, "engine.tools_list: open FOLDER/x: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := load("", Sources{Flags: flags(t, test.flags...)})
			if err != nil {
				t.Fatal(err)
			}
			options, err := s.Engine.Options()
			if test.err != "" {
				if err == nil || strings.ReplaceAll(err.Error(), folder, "FOLDER") != test.err {
					t.Errorf("the error is %v, want %s", err, test.err)
				}
				return
			}
			if err != nil || s.Engine.Learns() != test.learns {
				t.Fatalf("error %v; learns: %t, want %t", err, s.Engine.Learns(), test.learns)
			}
			eng, err := engine.New(context.Background(), append(options, engine.WithLogger(zap.NewNop()))...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.tools, eng.Tools()); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}
