package schemagen

// sample holds strings that a pattern matches and strings that it does not.
type sample struct{ fit, miss []string }

// patterns are the only patterns that can be generated for.
var patterns = map[string]sample{
	`^[A-Za-z0-9_.-]+$`:                  {wordy, []string{"a b", "a/b", "é", "a:"}},
	`^[A-Za-z0-9_./-]+$`:                 {append(wordy, "src/main.go"), []string{"a b", "a:b", "é"}},
	`^[A-Za-z0-9_.:-]+$`:                 {append(wordy, "12:30"), []string{"a b", "a/b", "é"}},
	`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`: {[]string{"a", "Zed", "0-9_.", "gpt-4.1"}, []string{"-a", "a b", "é", "_"}},
	`^[a-z]+$`:                           {[]string{"a", "abc", "lower"}, []string{"A", "a1", "abC"}},
	`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`:       {[]string{"2024-02-29"}, []string{"2024-2-29", "29.02.2024"}},
	`^[^@\s]+@[^@\s]+$`:                  {[]string{"ada@example.org"}, []string{"ada", "ada@", "ada lovelace@example.org"}},
	`^#[0-9A-Fa-f]{6}$`:                  {[]string{"#00ff7F"}, []string{"#00ff7", "00ff7f0", "#00ff7g"}},
	`^[0-9]+$`:                           {[]string{"0", "007", "1234567890"}, []string{"-1", "1.5", "x"}},
	`^https?://`:                         {[]string{"http://example.org", "https://example.org/a?b=c"}, []string{"ftp://example.org", "example.org"}},
	`^[A-Z]{2,3}$`:                       {[]string{"DE", "EUR"}, []string{"De", "12"}},
	`^[a-z0-9]+(-[a-z0-9]+)*$`:           {[]string{"a", "a-b", "x1-y2-z3"}, []string{"-a", "a--b", "A-b"}},
}

var wordy = []string{"a", "Z9", "snake_case", "v1.2-rc", "..."}

// formats are examples; a string of another form is never used as a damage, because
// formats are annotations. The formats of numbers have none.
var formats = map[string][]string{
	"uuid":          {"123e4567-e89b-42d3-a456-426614174000", "00000000-0000-0000-0000-000000000000"},
	"uri":           {"https://example.org/a?b=c#d", "urn:isbn:0451450523"},
	"uri-reference": {"/a/b", "https://example.org"},
	"date":          {"2024-02-29", "1999-12-31"},
	"date-time":     {"2024-02-29T12:00:00Z", "1999-12-31T23:59:59.5+01:00"},
	"time":          {"12:00:00Z", "23:59:59+01:00"},
	"duration":      {"P1D", "PT1H30M"},
	"email":         {"ada@example.org", "a.b+c@example.com"},
	"hostname":      {"example.org", "a-1.example"},
	"ipv4":          {"127.0.0.1", "203.0.113.7"},
	"ipv6":          {"::1", "2001:db8::7"},
	"regex":         {"^a+$", ".*"},
	"json-pointer":  {"", "/a/0/b~1c"},
	"json":          {`{"emoji":"x"}`, "[]", "null"},
	"int32":         {},
	"int64":         {},
	"float":         {},
	"double":        {},
}

// texts are strings that a careless reader takes for something else, or counts wrongly.
var texts = []string{"", " ", "text", "null", "true", "1.5", "{}", "[]", "é", "日本語", "😀😀", "a\"b\\c", "two\nlines", "__proto__", "$ref"}

// alphabet fills strings of a given length, in code points.
var alphabet = []rune("abcxyz 019-_é字😀")
