package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/keys"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
)

// maxBundleBytes bounds what a bundle takes when it is unpacked, each file for itself.
const maxBundleBytes = 64 << 20

// BundleKey is what a bundle's signature is verified with.
type BundleKey struct {
	Key       string // a public key or certificate in PEM; with an HS algorithm the shared secret
	Algorithm string // of JWS (RFC 7518), such as RS256, ES256 or HS256; "" is RS256
}

// Bundle is an OPA bundle of rules and data, read and verified. See
// https://www.openpolicyagent.org/docs/management-bundles.
type Bundle struct {
	Revision string // as its manifest has it
	Signed   bool   // the signature has been verified
	source   policy.Source
}

// ReadBundle reads a bundle as opa build and sallyport policy bundle make it: a gzipped
// tar archive. Where a key is given the bundle has to be signed with it, as opa sign does;
// a bundle that is signed cannot be read without. Tests are left out. A bundle of changes
// (delta), compiled rules (Wasm, plans) and rules of another version of Rego are errors.
func ReadBundle(r io.Reader, key *BundleKey) (*Bundle, error) {
	archive, err := io.ReadAll(io.LimitReader(r, maxBundleBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	if len(archive) > maxBundleBytes {
		return nil, fmt.Errorf("read bundle: it has more than %d bytes", maxBundleBytes)
	}
	reader := bundle.NewCustomReader(bundle.NewTarballLoaderWithBaseURL(bytes.NewReader(archive), "")).
		WithSizeLimitBytes(maxBundleBytes).IncludeManifestInData(false).WithRegoVersion(ast.RegoV1)
	if key != nil {
		verification, err := key.verification()
		if err != nil {
			return nil, fmt.Errorf("read bundle: %w", err)
		}
		reader = reader.WithBundleVerificationConfig(verification)
	}
	unpacked, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	b, err := newBundle(&unpacked)
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	b.Signed = key != nil
	return b, nil
}

// keyID is a name for the one key; the one in the signature does not matter.
const keyID = "sallyport"

func (k BundleKey) verification() (*bundle.VerificationConfig, error) {
	algorithm := cmp.Or(k.Algorithm, "RS256")
	switch {
	case k.Key == "":
		return nil, errors.New("the verification key is empty")
	case !keys.IsSupportedAlgorithm(algorithm):
		return nil, fmt.Errorf("the algorithm %q of the verification key is unknown", algorithm)
	}
	key := &bundle.KeyConfig{Key: k.Key, Algorithm: algorithm}
	return bundle.NewVerificationConfig(map[string]*bundle.KeyConfig{keyID: key}, keyID, "", nil), nil
}

func newBundle(unpacked *bundle.Bundle) (*Bundle, error) {
	switch {
	case unpacked.Type() != bundle.SnapshotBundleType:
		return nil, errors.New("it has changes only (patch.json); make a whole one")
	case len(unpacked.WasmModules) > 0 || len(unpacked.PlanModules) > 0:
		return nil, errors.New("it has compiled rules, which nobody can check; make it with --target rego")
	case len(unpacked.Modules) == 0 && len(unpacked.Data) == 0:
		return nil, errors.New("it holds neither rules nor data")
	}
	b := &Bundle{Revision: unpacked.Manifest.Revision, source: policy.Source{Modules: map[string]string{}}}
	for i := range unpacked.Modules {
		module := &unpacked.Modules[i]
		if name := strings.TrimPrefix(module.Path, "/"); !strings.HasSuffix(name, "_test.rego") {
			b.source.Modules[name] = string(module.Raw)
		}
	}
	if len(unpacked.Data) > 0 {
		b.source.Data = unpacked.Data
	}
	return b, nil
}

// WithBundle adds the rules and data of a bundle, as WithPolicies adds those of a folder.
func WithBundle(b *Bundle) Option {
	return func(s *settings) {
		if b == nil {
			s.policies = append(s.policies, nil) // New refuses it
			return
		}
		s.policies = append(s.policies, func() (policy.Source, error) { return b.source, nil })
		s.revisions = append(s.revisions, b.Revision)
	}
}
