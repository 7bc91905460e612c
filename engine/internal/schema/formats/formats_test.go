package formats

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// suiteCases returns what the official suite says of texts and one format.
func suiteCases(t *testing.T, format string) map[string]bool {
	t.Helper()
	root := os.Getenv("SALLYPORT_SUITES")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "..", "shared", "suites")
	}
	text, err := os.ReadFile(filepath.Join(root, "json-schema-test-suite", "tests", "draft7", "optional", "format", format+".json"))
	if err != nil {
		t.Skipf("SKIPPED, NOT PASSED: %v; set SALLYPORT_SUITES to the folder that holds json-schema-test-suite", err)
	}
	var groups []struct {
		Tests []struct {
			Description string
			Data        any
			Valid       bool
		}
	}
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatal(err)
	}
	cases := map[string]bool{}
	for _, group := range groups {
		for _, test := range group.Tests {
			if data, ok := test.Data.(string); ok {
				cases[data] = test.Valid
			}
		}
	}
	return cases
}

func TestOfficialSuite(t *testing.T) {
	for format, check := range All {
		t.Run(format, func(t *testing.T) {
			cases := suiteCases(t, format)
			for text, valid := range cases {
				if err := check(text); (err == nil) != valid {
					t.Errorf("%q: %v, valid is %v", text, err, valid)
				}
			}
			t.Logf("%d cases", len(cases))
		})
	}
}

// What the suite does not ask, from the standards and from what attackers write.
func TestFormats(t *testing.T) {
	label := strings.Repeat("a", 63)
	for format, c := range map[string]struct{ good, bad []string }{
		"ipv4": {
			[]string{"0.0.0.0", "255.255.255.255", "1.2.3.4"},
			[]string{"", "+1.2.3.4", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "0x1.2.3.4", "1.2.3.4 ", "::ffff:1.2.3.4", "1.2.3.-4", "1.2.3.4\n", "2130706433"},
		},
		"email": {
			[]string{"a@b", "a.b+c@d.example", `"a b"@c.d`, `""@c`, `"a\"b\\"@c.d`, "a@[1.2.3.4]", "a@[IPv6:::1]", "a@[ipv6:1::1.2.3.4]", "a@r3---sn.b", strings.Repeat("a", 64) + "@b.c", "o'hara!#$%&*=?^_`{|}~-/@x.y"},
			[]string{"", "@", "a@", "@b", "a", "a b@c", ".a@b", "a.@b", "a..b@c", "A <a@b.c>", "a@b@c", "a@b..c", "a@-b", `"a"b@c`, `"@c`, "a@[1.2.3]", "a@[1.2.3.4", "a@[IPv6:1.2.3.4]", "a@[IPv6:fe80::1%1]", strings.Repeat("a", 65) + "@b.c", "a@[IPv6:]", "aaaa@" + strings.Repeat("a.", 124) + "ab", "\u00e4@b.c", "a@\u00e4.c", "a@b.c\n", "(c)a@b"},
		},
		"hostname": {
			[]string{"a", "a.b", "1.2", "A-b.C", "xn--mnchen-3ya.de", label + "." + label, "r3---sn-a.b", "ab--c", "XN--MNCHEN-3YA.De", "1a.xn--mnchen-3ya"},
			[]string{"", ".", "a.", ".a", "a..b", "-a", "a-", "a_b", "a b", "\u00e4.b", label + "a", "xn--", "0a.xn--4db", "xn--mnchen-3ya-", "xn--a\u00e4", strings.Repeat(label+".", 4) + "a", "a:80", "a/b"},
		},
		"idn-hostname": {
			[]string{"a", "m\u00fcnchen.de", "\u4f8b\u3048\u3002\u30c6\u30b9\u30c8", "xn--mnchen-3ya.de", "M-a.DE", "r3---sn.de", "XN--MNCHEN-3YA.\u00e4", "l\u00b7l\u00b7l", "\u00fc--a"},
			[]string{"", "\u00fc..de", "-\u00fc", "a\u200db", "\u00fc_", "\u202ea", "\u2603.de", "u\u0308.de", "\u00c4.de", "M\u00fcnchen.de", "\uff41.de", "\u1100", "a\u20d0", "a\u034f", "a\ufe0f", "ab--\u00fc", "\u00fc\u00fc--\u00fc", "a\xff", "0a.\u05d0"},
		},
		"uri": {
			[]string{"urn:isbn:1", "mailto:a@b.c", "file:///x", "http://[::1]:80/", "data:,x", "http://a.b/%C3%A4?q=a/b?c#d/?e", "javascript:alert(1)", "http://", "a:", "a+b-c.d:e", "http://u:p@h:80/", "http://h:/", "http://999.999.999.999/", "http://ex%61mple.com/", "http://a%20b/", "http://[v1.a:b]:80/", "a:b:c//d?#"},
			[]string{"", "a", "//a/b", "/a", "?a", "#a", "1a:b", "http://a b", "http://a\\b", "http://a<b>", "http://a{b}", "http://a^b", "http://a\"b", "http://a`b", "http://a|b", "http://\u00e4", "http://a/%", "http://a/%1", "http://a/%gg", "http://[::1", "http://[1.2.3.4]/", "http://[fe80::1%25a]/", "http://a[b]/", "http://a/[b]", "http://a/?[b]", "http://a/#b#c", "http://a:b/", "http://a:80b/", "http://a@b@c/", "http://[a@b]/", "http://[::1]a/", "http://[v.a]/", "http://[v1.]/", "http://[vg.a]/", "http://[v1.%41]/", "http://[v1a]/", "postgres://a:1,c:2/d", "http://a\n", ":a", "%61:b", "a/b:c"},
		},
		"uri-reference": {
			[]string{"", "a", "/a", "//a/b", "../a", "?a", "#a", "./a:b", "a/b:c", "a?b:c", "http://a/b", "//%41", "a%3Ab"},
			[]string{"a b", "\u00e4", "\\\\a\\b", "1:a", "//a:b/", "#a#b", "[a]", "//a[", "%", ":", "a,b:c", "%41:b"},
		},
	} {
		for _, text := range c.good {
			if err := All[format](text); err != nil {
				t.Errorf("%s: %q: %v", format, text, err)
			}
		}
		for _, text := range c.bad {
			err := All[format](text)
			if err == nil {
				t.Errorf("%s takes %q", format, text)
			} else if len(text) > 3 && strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q repeats %q", format, err, text)
			}
		}
	}
}

// Long texts take no more than linear time, also where all characters differ.
func TestLongTexts(t *testing.T) {
	start := time.Now()
	var distinct strings.Builder
	for distinct.Len() < 1<<20 {
		for r := rune(0x20000); r <= 0x2ffff; r++ {
			distinct.WriteRune(r)
		}
	}
	for _, check := range All {
		_ = check(distinct.String())
	}
	for _, piece := range []string{"a", "a.", "a@", "%41", "[", "1.", "xn--", "\u00fc", "\u00fc.", "a:", "/", "\"\\"} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		for _, check := range All {
			_ = check(text)
		}
	}
	if took := time.Since(start); took > 10*time.Second { // 0.1 s here
		t.Errorf("takes %s", took)
	}
}

// FuzzFormats holds that no text makes a check panic, and that no error shows what is
// not fit to be shown.
func FuzzFormats(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		for format, check := range All {
			err := check(text)
			if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%s: %q: %q", format, text, err)
			}
		}
	})
}
