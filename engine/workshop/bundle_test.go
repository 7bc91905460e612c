package workshop_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/engine/workshop"
)

const polite = `# METADATA
# scope: package
# title: Impolite goal
# description: A goal that is written in capitals only.
# custom: {severity: low}
package sallyport.rules.polite

import rego.v2

deny contains {"path": "/goal", "reason": "do not shout"} if {
	input.tool == "bernstein_run"
	input.payload.goal == upper(input.payload.goal)
}
`

func politeRules() fstest.MapFS {
	return fstest.MapFS{
		"own/polite.rego":      {Data: []byte(polite)},
		"own/polite_test.rego": {Data: []byte("package sallyport.rules.polite_test\n\nimport rego.v2\n\ntest_x if 1 == 2\n")},
		"data.json":            {Data: []byte(`{"sallyport": {"limits": {"max_depth": 3}}, "big": 12345678901234567890}`)},
		"README.md":            {Data: []byte("not for the bundle")},
	}
}

// keyPair returns a private key and its public one.
func keyPair(t *testing.T) (private, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	open, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return text("EC PRIVATE KEY", secret), text("PUBLIC KEY", open)
}

func mustBundle(t *testing.T, signing *workshop.Signing) []byte {
	t.Helper()
	archive, err := workshop.Bundle(context.Background(), politeRules(), "2026-12-07T10:00:00Z", signing)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func TestBundleIsInForce(t *testing.T) {
	private, public := keyPair(t)
	for name, c := range map[string]struct {
		signing *workshop.Signing
		key     *engine.BundleKey
	}{
		"unsigned": {},
		"ES256":    {&workshop.Signing{Key: private, Algorithm: "ES256", KeyID: "release"}, &engine.BundleKey{Key: public, Algorithm: "ES256"}},
		"HS256":    {&workshop.Signing{Key: "a shared secret", Algorithm: "HS256"}, &engine.BundleKey{Key: "a shared secret", Algorithm: "HS256"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := engine.ReadBundle(bytes.NewReader(mustBundle(t, c.signing)), c.key)
			if err != nil {
				t.Fatal(err)
			}
			if b.Revision != "2026-12-07T10:00:00Z" || b.Signed != (c.key != nil) {
				t.Errorf("revision %q, signed %t", b.Revision, b.Signed)
			}
			e, err := engine.New(context.Background(), engine.WithBundle(b))
			if err != nil {
				t.Fatal(err)
			}
			var refusal *engine.ValidationError
			_, err = e.Validate(context.Background(), "bernstein_run", []byte(`{"goal": "WRITE"}`))
			if !errors.As(err, &refusal) || refusal.Violations[0].Rule != "polite" {
				t.Errorf("the rule of the bundle is not in force: %v", err)
			}
			_, err = e.Validate(context.Background(), "bernstein_run", []byte(`{"goal": "x", "more": [[[["x"]]]]}`))
			if !errors.As(err, &refusal) || refusal.Violations[0].Rule != "payload_depth" {
				t.Errorf("the data of the bundle is not in force: %v", err)
			}
		})
	}
}

func TestBundlesThatAreRefused(t *testing.T) {
	private, public := keyPair(t)
	_, other := keyPair(t)
	signed := mustBundle(t, &workshop.Signing{Key: private, Algorithm: "ES256"})
	unsigned := mustBundle(t, nil)
	for name, c := range map[string]struct {
		archive []byte
		key     *engine.BundleKey
		want    string
	}{
		"unsigned":          {unsigned, &engine.BundleKey{Key: public, Algorithm: "ES256"}, "bundle missing .signatures.json file"},
		"signed, no key":    {signed, nil, "verification key not provided"},
		"another key":       {signed, &engine.BundleKey{Key: other, Algorithm: "ES256"}, "failed to verify JWT signature"},
		"another algorithm": {signed, &engine.BundleKey{Key: public, Algorithm: "HS256"}, "failed to verify JWT signature"},
		"unknown algorithm": {signed, &engine.BundleKey{Key: public, Algorithm: "none"}, `the algorithm "none" of the verification key is unknown`},
		"empty key":         {signed, &engine.BundleKey{}, "the verification key is empty"},
		"tampered":          {tampered(t, signed), &engine.BundleKey{Key: public, Algorithm: "ES256"}, "digest mismatch"},
		"cut":               {signed[:len(signed)/2], &engine.BundleKey{Key: public, Algorithm: "ES256"}, "unexpected EOF"},
		"no archive":        {[]byte("package x"), nil, "archive read failed"},
		"empty":             {archive(t, nil), nil, "it holds neither rules nor data"},
		"delta, with a key": {archive(t, map[string]string{"patch.json": `{"data": [{"op": "upsert", "path": "/a", "value": 1}]}`}), &engine.BundleKey{Key: public, Algorithm: "ES256"}, "do not support signature verification"},
		"delta":             {archive(t, map[string]string{"patch.json": `{"data": [{"op": "upsert", "path": "/a", "value": 1}]}`}), nil, "it has changes only"},
		"plan":              {archive(t, map[string]string{"plan.json": `{}`, "data.json": `{"a": 1}`}), nil, "compiled rules"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := engine.ReadBundle(bytes.NewReader(c.archive), c.key); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestBundleOfBrokenRules(t *testing.T) {
	broken := fstest.MapFS{"x.rego": {Data: []byte("package sallyport.rules.x\n")}}
	if _, err := workshop.Bundle(context.Background(), broken, "1", nil); err == nil || !strings.Contains(err.Error(), "x.rego") {
		t.Errorf("%v", err)
	}
	if _, err := workshop.Bundle(context.Background(), politeRules(), "1", &workshop.Signing{Algorithm: "HS256"}); err == nil {
		t.Error("an empty key signs")
	}
}

// archive makes a gzipped tar archive of these files.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	compressed := gzip.NewWriter(&buffer)
	w := tar.NewWriter(compressed)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: "/" + name, Mode: 0o600, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// tampered weakens the rule in a bundle.
func tampered(t *testing.T, bundle []byte) []byte {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(bundle))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(compressed); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(header.Name, "/")] = strings.ReplaceAll(string(text), "upper(", "lower(")
	}
	return archive(t, files)
}
