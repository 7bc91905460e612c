package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/engine"
)

func newRedactor(t testing.TB, options ...engine.Option) *engine.Redactor {
	t.Helper()
	r, err := newEngine(t, options...).NewRedactor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// token has a right checksum; in pieces, so that scanners of repositories stay silent.
var token = strings.Join([]string{"gh", "p_", "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"}, "")

func TestRedact(t *testing.T) {
	for name, c := range map[string]struct {
		arguments, kept string
		masked          []string
	}{
		"JSON in a string":      {`{"a":"{\"token\":\"t\"}","b":"{\"c\":1}"}`, `{"a":"(redacted)","b":"{\"c\":1}"}`, []string{"/a"}},
		"nothing to hide":       {`{ "goal" : "x", "n": 1.500e0 }`, `{ "goal" : "x", "n": 1.500e0 }`, nil},
		"types are kept":        {`{"token":[1],"a":{"token":{"b":1}},"password":"p","otp":123,"secret":true,"cookie":null}`, `{"token":[],"a":{"token":{}},"password":"(redacted)","otp":0,"secret":false,"cookie":null}`, []string{"/a/token", "/cookie", "/otp", "/password", "/secret", "/token"}},
		"the rest of the bytes": {`{"n":12345678901234567890.10,"api_key":"k","e":"\u00e9"}`, `{"n":12345678901234567890.10,"api_key":"(redacted)","e":"\u00e9"}`, []string{"/api_key"}},
		"key material":          {`{"goal":["use ` + token + ` for it","b"]}`, `{"goal":["(redacted)","b"]}`, []string{"/goal/0"}},
		"written with escapes":  {`{"goal":"\u0067hp_` + token[4:] + `"}`, `{"goal":"(redacted)"}`, []string{"/goal"}},
		"key material in a key": {`{"a":{"b":{"` + token + `":1}}}`, `{"a":{"b":{}}}`, []string{"/a/b"}},
		"and in a path":         {`{"a":{"` + token + `":{"password":"p"}}}`, `{"a":{}}`, []string{"/a"}},
		"below a masked one":    {`{"token":{"password":"p"}}`, `{"token":{}}`, []string{"/token"}},
		"pointers are escaped":  {`{"a/b":{"~token":"t"}}`, `{"a/b":{"~token":"(redacted)"}}`, []string{"/a~1b/~0token"}},
		"invisible characters":  {`{"\u202etoken":"t"}`, `{"\u202etoken":"(redacted)"}`, []string{`/\u{202e}token`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newRedactor(t).Redact(t.Context(), "bernstein_run", []byte(c.arguments))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(engine.Redacted{Arguments: json.RawMessage(c.kept), Masked: c.masked}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingIsKept(t *testing.T) {
	r := newRedactor(t)
	for arguments, want := range map[string]string{
		`[]`:                 "the arguments are not one JSON object",
		`{"a":1,"a":2}`:      "the arguments are not one JSON object",
		`{"a":`:              "the arguments are not one JSON object",
		payloadOf(1 << 16):   "",
		payloadOf(1<<16 + 1): "the arguments have more than 65536 bytes",
	} {
		got, err := r.Redact(t.Context(), "bernstein_run", []byte(arguments))
		if err != nil || got.LeftOut != want || (got.Arguments == nil) != (want != "") {
			t.Errorf("%.20s: %q, %v", arguments, got.LeftOut, err)
		}
	}
}

func TestAbsentArgumentsAreKept(t *testing.T) {
	got, err := newRedactor(t).Redact(t.Context(), "bernstein_run", nil)
	if err != nil || string(got.Arguments) != "{}" {
		t.Errorf("%s, %v", got.Arguments, err)
	}
}

// The data of one's own says more places, and longer payloads; and that the pack secrets
// looks elsewhere, or not for some formats, changes nothing.
func TestRedactWithDataOfOnesOwn(t *testing.T) {
	r := newRedactor(t, ownData(`{"sallyport": {
		"record": {"max_bytes": 100, "secret_members": ["pin"], "masked": {"*": ["/**/card"], "bernstein_run": ["/notes/*"]}},
		"packs": {"secrets": {"on": true, "off": ["github-token"], "attach": {"*": ["/nowhere"]}}}
	}}`))
	const arguments = `{"notes":[{"a":1},"b"],"x":{"card":4},"pin":"1","token":"t"}`
	for tool, want := range map[string]string{
		"bernstein_run":    `{"notes":[{},"(redacted)"],"x":{"card":0},"pin":"(redacted)","token":"t"}`,
		"bernstein_status": `{"notes":[{"a":1},"b"],"x":{"card":0},"pin":"(redacted)","token":"t"}`,
	} {
		got, err := r.Redact(t.Context(), tool, []byte(arguments))
		if err != nil || string(got.Arguments) != want {
			t.Errorf("%s: %s, %v", tool, got.Arguments, err)
		}
	}
	got, err := r.Redact(t.Context(), "bernstein_run", []byte(`{"a":"`+token+`"}`))
	if err != nil || string(got.Arguments) != `{"a":"(redacted)"}` {
		t.Errorf("%s, %v", got.Arguments, err)
	}
	if got, err := r.Redact(t.Context(), "bernstein_run", []byte(payloadOf(101))); err != nil || got.LeftOut != "the arguments have more than 100 bytes" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What cannot be said is no record: more strings than are looked at, formats that are
// missing, and time that is spent.
func TestRedactFailsClosed(t *testing.T) {
	many := newRedactor(t, ownData(`{"sallyport": {"reading": {"max_selected_strings": 1}}}`))
	got, err := many.Redact(t.Context(), "bernstein_run", []byte(`{"goal":"ghp_ a","b":{"c":"ghp_ b"},"d":1}`))
	if err != nil || string(got.Arguments) != "{}" {
		t.Errorf("more strings than are looked at: %s, %v", got.Arguments, err)
	}
	unsound := newRedactor(t, ownData(`{"sallyport": {"packs": {"secrets": {"formats": []}}}}`))
	if got, err = unsound.Redact(t.Context(), "bernstein_run", []byte(`{"goal":"a"}`)); err != nil || string(got.Arguments) != "{}" {
		t.Errorf("formats that are missing: %s, %v", got.Arguments, err)
	}
	hasty := newRedactor(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := hasty.Redact(ctx, "bernstein_run", []byte(`{"goal":"a"}`)); err == nil || got.Arguments != nil {
		t.Errorf("a context that is over: %s, %v", got.Arguments, err)
	}
}

func TestConcurrentRedaction(t *testing.T) {
	r := newRedactor(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				got, err := r.Redact(t.Context(), "bernstein_run", []byte(`{"goal":"`+token+`","token":"a"}`))
				if err != nil || string(got.Arguments) != `{"goal":"(redacted)","token":"(redacted)"}` {
					t.Errorf("%s, %v", got.Arguments, err)
				}
			}
		})
	}
	group.Wait()
}

func TestFaultsInTheDataOfRecords(t *testing.T) {
	_, err := engine.New(t.Context(), ownData(`{"sallyport": {"record": {"max_bytes": 0, "secret_members": ["api_key"], "masked": {"t": ["x"]}}}}`))
	if err == nil {
		t.Fatal("an engine")
	}
	for _, want := range []string{
		"data: /sallyport/record/max_bytes: is not a whole number above 0",
		"data: /sallyport/record/secret_members: is not a list of texts of small letters and digits only",
		`data: /sallyport/record/masked: is not an object that gives each tool, or "*", a list of pointer patterns`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func BenchmarkRedact(b *testing.B) {
	r := newRedactor(b)
	for name, arguments := range map[string]string{
		"typical": `{"goal":"write the release notes","priority":2,"metadata":{"token":"x"}}`,
		"64 KiB":  payloadOf(1 << 16),
		"values":  `{"a":[` + strings.Repeat(`{"b":1},`, 5000) + `1]}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Redact(b.Context(), "bernstein_run", []byte(arguments)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
