package workshop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/sallyport-mcp/sallyport/engine"
)

// Signing says how a bundle is signed.
type Signing struct {
	Key       string // a private key in PEM; with an HS algorithm the shared secret
	Algorithm string // of JWS (RFC 7518), such as RS256, ES256 or HS256
	KeyID     string // for verifiers that have several keys; may be ""
}

// Bundle makes an OPA bundle of the rules in a folder and its data.json, as opa build does:
// a gzipped tar archive, without the tests. It is signed, as opa sign does, unless signing
// is nil. Rules that no engine can be built from, with these options, are an error.
func Bundle(ctx context.Context, fsys fs.FS, revision string, signing *Signing, options ...engine.Option) ([]byte, error) {
	if _, err := engine.New(ctx, append(options[:len(options):len(options)], engine.WithPolicies(fsys))...); err != nil {
		return nil, err
	}
	b := bundle.Bundle{Manifest: bundle.Manifest{Revision: revision}, Data: map[string]any{}}
	b.SetRegoVersion(ast.RegoV1)
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		isRule := strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, "_test.rego")
		if !isRule && name != "data.json" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if !isRule {
			return util.UnmarshalJSON(text, &b.Data)
		}
		module, err := ast.ParseModuleWithOpts(name, string(text), ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
		b.Modules = append(b.Modules, bundle.ModuleFile{URL: "/" + name, Path: "/" + name, RelativePath: "/" + name, Raw: text, Parsed: module})
		return err
	})
	if err != nil {
		return nil, err
	}
	b.Manifest.Init()
	if signing != nil {
		if signing.Key == "" {
			return nil, errors.New("sign the bundle: the key is empty")
		}
		if err := b.GenerateSignature(bundle.NewSigningConfig(signing.Key, signing.Algorithm, ""), signing.KeyID, false); err != nil {
			return nil, fmt.Errorf("sign the bundle: %w", err)
		}
	}
	var archive bytes.Buffer
	if err := bundle.NewWriter(&archive).DisableFormat(true).Write(b); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}
