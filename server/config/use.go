package config

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/server"
)

// Learns says that the schemas are those that each upstream lists.
func (e Engine) Learns() bool { return e.Schemas == Learned && e.ToolsList == "" }

// Options returns the options for engine.New, but for the logger. Where schemas are
// learned that makes an engine without tools, for Engine.ForTools. The error is about
// the file of ToolsList.
func (e Engine) Options() ([]engine.Option, error) {
	options := []engine.Option{
		engine.WithMode(e.Mode),
		engine.WithAllowUnsafeArgs(e.AllowUnsafeArgs...),
		engine.WithDropNulls(e.Leniency.DropNulls...),
		engine.WithUnwrapJSONStrings(e.Leniency.UnwrapJSONStrings...),
		engine.WithDialect(e.Dialect),
		engine.WithFormats(e.Formats),
		engine.WithBacktrackingPatterns(e.BacktrackingPatterns...),
		engine.WithLoadPolicy(e.LoadPolicy),
		engine.WithMaxViolations(e.MaxViolations),
		engine.WithTimeout(e.RulesTimeout),
		engine.WithVerdictMemo(e.VerdictMemo),
	}
	for _, folder := range e.Policies {
		options = append(options, engine.WithPolicies(os.DirFS(folder)))
	}
	if e.Bundle.File != "" {
		bundle, err := e.Bundle.Read()
		if err != nil {
			return nil, fmt.Errorf("engine.bundle.file: %w", err)
		}
		options = append(options, engine.WithBundle(bundle))
	}
	switch {
	case e.Learns():
		options = append(options, engine.WithServerTools(nil))
	case e.ToolsList != "":
		list, err := readToolsList(e.ToolsList)
		if err != nil {
			return nil, fmt.Errorf("engine.tools_list: %w", err)
		}
		options = append(options, engine.WithServerTools(list.Tools))
	case e.Schemas != Bundled:
		options = append(options, engine.WithSchemas(os.DirFS(e.Schemas)))
	}
	return options, nil
}

// Read reads and verifies the bundle in the file.
func (b Bundle) Read() (*engine.Bundle, error) {
	key, err := b.ReadKey()
	if err != nil {
		return nil, err
	}
	file, err := os.Open(b.File)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	read, err := engine.ReadBundle(file, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.File, err)
	}
	return read, nil
}

// ReadKey reads the key, nil where there is none.
func (b Bundle) ReadKey() (*engine.BundleKey, error) {
	if b.Key == "" {
		return nil, nil //nolint:nilnil // no key is a setting
	}
	text, err := os.ReadFile(b.Key)
	if err != nil {
		return nil, fmt.Errorf("verification key: %w", err)
	}
	return &engine.BundleKey{Key: string(text), Algorithm: b.Algorithm}, nil
}

func readToolsList(name string) (server.ToolsList, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return server.ToolsList{}, err
	}
	list, err := server.ReadToolsList(text)
	switch {
	case err != nil:
		return list, fmt.Errorf("%s: %w", printable(name), err)
	case list.NextCursor != "":
		return list, fmt.Errorf("%s is one page of a longer list: put all tools into it", printable(name))
	}
	return list, nil
}

// RecordToken reads the bearer token for the service that takes records, "" where none
// is named.
func (s *Settings) RecordToken() (string, error) {
	if s.Record.Token.IsZero() {
		return "", nil
	}
	return s.Read(s.Record.Token)
}

// JudgeOptions returns the options for server.NewJudge, but for the logger.
func (e Engine) JudgeOptions() []server.Option {
	return []server.Option{server.WithRejections(e.Rejections)}
}

// HTTPOptions returns the options for Judge.HTTP.
func (l Listen) HTTPOptions() []server.HTTPOption {
	return []server.HTTPOption{
		server.WithAllowedHosts(l.AllowedHosts...), server.WithAllowedOrigins(l.AllowedOrigins...), server.WithMaxBody(l.Limits.BodyBytes),
	}
}

// Logger returns a logger that writes to w.
func (l Log) Logger(w zapcore.WriteSyncer) (*zap.Logger, error) {
	level, err := zapcore.ParseLevel(l.Level)
	if err != nil {
		return nil, err
	}
	settings := zap.NewProductionEncoderConfig()
	settings.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewJSONEncoder(settings)
	if l.Format == FormatConsole {
		encoder = zapcore.NewConsoleEncoder(settings)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(w), level)), nil
}

// Read reads a secret that these settings refer to, with the environment they came from.
func (s *Settings) Read(r Reference) (string, error) { return r.Read(s.lookup) }

// shortestToken is what a bearer token has to have at least, in bytes, so that it cannot
// be guessed.
const shortestToken = 16

// Token reads the bearer token that clients have to send, "" where none is asked for. One
// that is too short, or that no client could send (RFC 6750, section 2.1), is an error.
func (s *Settings) Token() (string, error) {
	if s.Listen.Token.IsZero() {
		return "", nil
	}
	token, err := s.Read(s.Listen.Token)
	switch {
	case err != nil:
		return "", err
	case !matches(patternToken, token):
		return "", fmt.Errorf("%s has a character that no bearer token can have", s.Listen.Token)
	case len(token) < shortestToken:
		return "", fmt.Errorf("%s has less than %d characters", s.Listen.Token, shortestToken)
	}
	return token, nil
}

// named is one file, folder or variable that the settings name.
type named struct {
	key    string // of its option, with an index
	path   string // "" for a variable
	folder bool
	secret *Reference
}

// names returns everything outside of the configuration that it depends on.
func (s *Settings) names() []named {
	var list []named
	add := func(key, path string, folder bool) {
		if path != "" {
			list = append(list, named{key: key, path: path, folder: folder})
		}
	}
	secret := func(key string, r Reference) {
		if r.File != "" || r.Env != "" {
			list = append(list, named{key: key, path: r.File, secret: &r})
		}
	}
	if s.Engine.Schemas != Learned && s.Engine.Schemas != Bundled {
		add("engine.schemas", s.Engine.Schemas, true)
	}
	for _, folder := range s.Engine.Policies {
		add("engine.policies", folder, true)
	}
	add("engine.bundle.file", s.Engine.Bundle.File, false)
	add("engine.bundle.key", s.Engine.Bundle.Key, false)
	add("engine.tools_list", s.Engine.ToolsList, false)
	add("listen.tls.cert", s.Listen.TLS.Cert, false)
	add("listen.tls.key", s.Listen.TLS.Key, false)
	tokenKey := "listen.token.file"
	if s.Listen.Token.Env != "" {
		tokenKey = "listen.token.env"
	}
	secret(tokenKey, s.Listen.Token)
	add("record.file", s.Record.File, false)
	recordKey := "record.token.file"
	if s.Record.Token.Env != "" {
		recordKey = "record.token.env"
	}
	secret(recordKey, s.Record.Token)
	for i, u := range s.Upstreams {
		for _, name := range sortedKeys(u.Headers) {
			secret(fmt.Sprintf("upstreams[%d].headers", i), u.Headers[name])
		}
		for _, name := range sortedKeys(u.Env) {
			secret(fmt.Sprintf("upstreams[%d].env", i), u.Env[name])
		}
		add(fmt.Sprintf("upstreams[%d].cwd", i), u.Cwd, true)
		add(fmt.Sprintf("upstreams[%d].lock", i), u.Lock, false)
	}
	return list
}

// Files returns the names of the files and folders whose contents the settings stand
// for, for Watch: the configuration file itself, schemas, rules, certificates, secrets
// and pins, sorted.
func (s *Settings) Files() []string {
	var files []string
	if s.file != "" {
		files = append(files, s.file)
	}
	for _, n := range s.names() {
		if n.path != "" && !strings.HasSuffix(n.key, ".cwd") && n.key != "record.file" { // what programs write is their own affair
			files = append(files, n.path)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// CheckFiles looks whether what the settings name is there and can be used, and returns
// a fault for each that is not. A lock file may be missing, and a bundle that
// comes from a URL: the first run writes them.
func (s *Settings) CheckFiles() []Problem {
	var found []Problem
	report := func(key string, err error) {
		found = append(found, Problem{Origin: s.origins[key], Key: key, Problem: printable(err.Error())})
	}
	for _, n := range s.names() {
		if err := s.checkNamed(n); err != nil {
			report(n.key, err)
		}
	}
	if len(found) == 0 && s.Listen.TLS.Cert != "" {
		if _, err := tls.LoadX509KeyPair(s.Listen.TLS.Cert, s.Listen.TLS.Key); err != nil {
			report("listen.tls.cert", err)
		}
	}
	sortProblems(found)
	return found
}

func (s *Settings) checkNamed(n named) error {
	if n.secret != nil {
		_, err := s.Read(*n.secret)
		if err == nil && strings.HasPrefix(n.key, "listen.token.") {
			_, err = s.Token()
		}
		return err
	}
	info, err := os.Stat(n.path)
	switch {
	case errors.Is(err, os.ErrNotExist) && n.key == "record.file":
		_, err := os.Stat(filepath.Dir(n.path))
		return err
	case errors.Is(err, os.ErrNotExist) && (optionOfIndexed(n.key).member() == "lock" || n.key == "engine.bundle.file" && s.Engine.Bundle.URL != ""):
		return nil
	case err != nil:
		return err
	case n.folder && !info.IsDir():
		return fmt.Errorf("%s is not a folder", printable(n.path))
	case n.folder:
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", printable(n.path))
	}
	file, err := os.Open(n.path)
	if err != nil {
		return err
	}
	return file.Close()
}
