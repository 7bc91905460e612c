package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine"
)

func times(n int, item string) string {
	return strings.TrimSuffix(strings.Repeat(item+",", n), ",")
}

// recursive is a union that refers to itself from two branches: a value of depth n
// costs 2^n without a budget.
func recursive(union string) string {
	const branch = `{"type": "object", "properties": {"c": {"$ref": "#/definitions/n"}}, "required": ["%s"]}`
	return fmt.Sprintf(`{"type": "object", "additionalProperties": true, "properties": {"c": {"$ref": "#/definitions/n"}},
		"definitions": {"n": {%q: [`+branch+`, `+branch+`]}}}`, union, "x", "y")
}

// withinNot hides the same union where only yes or no is asked.
func withinNot(inner string) string {
	return `{"type": "object", "additionalProperties": true, "properties": {"c": {"not": {"$ref": "#/definitions/n"}}}, "definitions": {"n": ` + inner + `}}`
}

func itemsOf(schema string) string {
	return `{"type": "object", "additionalProperties": true, "properties": {"a": {"type": "array", "items": ` + schema + `}}}`
}

const uniqueItems = `{"type": "object", "additionalProperties": true, "properties": {"a": {"uniqueItems": true}}}`

func arrayOf(items string) string { return `{"a":[` + items + `]}` }

func deep(levels int) string { return nested(levels, `{"c":`, `}`, `1`) }

func properties(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d": {"type": "string"},`, i)
	}
	return `{"type": "object", "additionalProperties": false, "properties": {` + strings.TrimSuffix(b.String(), ",") + `}}`
}

func enumOf(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+",", i)
	}
	return itemsOf(`{"enum": [` + strings.TrimSuffix(b.String(), ",") + `]}`)
}

func doubled(levels int) string {
	doc := `{"type": "object", "additionalProperties": true, "properties": {"c": {"$ref": "#/definitions/d` + fmt.Sprint(levels) + `"}}, "definitions": {"d0": {"type": "string"}`
	for i := range levels {
		doc += fmt.Sprintf(`, "d%d": {"allOf": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]}`, i+1, i, i)
	}
	return doc + `}}`
}

// manyBranches is a union of n objects that each want another member.
func manyBranches(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type": "object", "required": ["k%d"]},`, i)
	}
	return `{"anyOf": [` + strings.TrimSuffix(b.String(), ",") + `]}`
}

// What an attack has to end with.
const (
	byLoad   = "quarantine" // the schema is not loaded
	byRule   = "rule"       // a rule refuses before the schema sees anything
	bySchema = "schema"     // the schema says what is wrong
	byBudget = "budget"     // the check is given up
	accepts  = "accepted"   // a large but honest call
)

// attacks are schemas and payloads that cost seconds, gigabytes or the process
// without limits, and payloads that are merely large.
func attacks() map[string]struct{ schema, payload, ends string } {
	const number = `{"minimum": 0, "maximum": 10, "multipleOf": 3}`
	const patterns = `{"type": "object", "patternProperties": {"c": {"$ref": "#/definitions/n"}, "^c": {"$ref": "#/definitions/n"}, "c$": {"$ref": "#/definitions/n"}}}`
	const union = `{"type": "object", "anyOf": [{"properties": {"c": {"$ref": "#/definitions/n"}}}, {"properties": {"c": {"$ref": "#/definitions/n"}}}]}`
	return map[string]struct{ schema, payload, ends string }{
		"exponent of six digits":              {itemsOf(number), arrayOf(`1e999999`), byRule},
		"a hundred of them":                   {itemsOf(number), arrayOf(times(100, `1e999999`)), byRule},
		"one against a numeric enum":          {enumOf(100, `%d`), arrayOf(`1e999999`), byRule},
		"ten against a longer one":            {enumOf(1000, `%d`), arrayOf(times(10, `1e999999`)), byRule},
		"exponent that overflows":             {itemsOf(number), arrayOf(`1e9999999`), byRule},
		"60,000 digits":                       {itemsOf(number), arrayOf(strings.Repeat("9", 60_000)), byRule},
		"10,000 numbers at the limit":         {itemsOf(number), arrayOf(times(10_000, `1e308`)), bySchema},
		"the same against a numeric enum":     {enumOf(1000, `%d.5e300`), arrayOf(times(10_000, `1e308`)), bySchema},
		"recursive anyOf, depth 10":           {recursive("anyOf"), deep(10), bySchema},
		"recursive anyOf, depth 12":           {recursive("anyOf"), deep(12), bySchema},
		"recursive anyOf, depth 16":           {recursive("anyOf"), deep(16), byBudget},
		"recursive anyOf, depth 18":           {recursive("anyOf"), deep(18), byBudget},
		"recursive anyOf, depth 64":           {recursive("anyOf"), deep(64), byBudget},
		"recursive oneOf, depth 18":           {recursive("oneOf"), deep(18), byBudget},
		"recursive anyOf within not":          {withinNot(union), deep(30), byBudget},
		"overlapping patterns within not":     {withinNot(patterns), deep(30), byBudget},
		"items and contains within not":       {withinNot(`{"items": {"$ref": "#/definitions/n"}, "contains": {"$ref": "#/definitions/n"}, "minItems": 2}`), `{"c":` + nested(40, `[`, `]`, `1`) + `}`, byBudget},
		"the same through if":                 {`{"type": "object", "additionalProperties": true, "properties": {"c": {"if": {"$ref": "#/definitions/n"}, "else": true, "then": false}}, "definitions": {"n": ` + patterns + `}}`, deep(30), byBudget},
		"allOf that doubles 22 times":         {doubled(22), `{"c": "x"}`, byLoad},
		"items nested 100 deep":               {itemsOf(nested(100, `{"items":`, `}`, `{}`)), `{}`, byLoad},
		"items nested 1,000 deep":             {itemsOf(nested(1000, `{"items":`, `}`, `{}`)), `{}`, byLoad},
		"items nested 3,000 deep":             {itemsOf(nested(3000, `{"items":`, `}`, `{}`)), `{}`, byLoad},
		"2,000 properties":                    {properties(2000), `{}`, byLoad},
		"5,000 properties":                    {properties(5000), `{}`, byLoad},
		"20,000 properties":                   {properties(20_000), `{}`, byLoad},
		"20,000 unique integers and a repeat": {uniqueItems, arrayOf(integers(20_000) + `,7.0`), bySchema},
		"20 unique items that hardly differ":  {uniqueItems, arrayOf(alike(20, 1000) + `,0,0`), bySchema},
		"20,000 items of the wrong type":      {itemsOf(`{"type": "string"}`), arrayOf(times(20_000, `12345`)), bySchema},
		"union of ten, 10,000 items":          {itemsOf(manyBranches(10)), arrayOf(times(10_000, `"x"`)), bySchema},
		"string enum of 10,000":               {enumOf(10_000, `"v%d"`), arrayOf(times(2000, `"x"`)), byLoad},
		"string enum of 1,000, 2,000 items":   {enumOf(1000, `"v%d"`), arrayOf(times(2000, `"x"`)), bySchema},
		"5,000 required names, 20,000 times":  {itemsOf(`{"required": [` + quotedNames(5000) + `]}`), arrayOf(times(20_000, `{}`)), byBudget},
		"recursive schema, depth 4,000":       {`{"type": "object", "additionalProperties": {"$ref": "#"}}`, deep(4000), byRule},
		"pattern that backtracks elsewhere":   {itemsOf(`{"type": "string", "pattern": "^(a+)+$"}`), arrayOf(`"` + strings.Repeat("a", 60_000) + `!"`), bySchema},
		"pattern of many states, long text":   {itemsOf(`{"type": "string", "pattern": "(.{1,500}x){1,2}$"}`), arrayOf(`"` + strings.Repeat("a", 60_000) + `"`), byBudget},
		"long name above 1,900 subschemas":    {`{"type": "object", "additionalProperties": true, "properties": {"` + strings.Repeat("x", 100_000) + `": ` + properties(1900) + `}}`, `{}`, byLoad},
		"long name, 20,000 violations":        {`{"type": "object", "additionalProperties": true, "properties": {"a": {"$ref": "#/definitions/` + strings.Repeat("x", 100_000) + `"}}, "definitions": {"` + strings.Repeat("x", 100_000) + `": {"items": {"type": "string"}}}}`, arrayOf(times(20_000, `1`)), bySchema},
		"1,900 patterns of all letters":       {letters(1900), `{}`, byLoad},
		"a hundred long constants":            {itemsOf(`{"anyOf": [` + constants(100, 1000) + `]}`), arrayOf(alike(30, 1000)), byBudget},
		"an enum of long values":              {itemsOf(`{"enum": [` + constantsOnly(100, 1000) + `]}`), arrayOf(alike(30, 1000)), bySchema},
		"900 recursive defaults":              {defaults(900), `{}`, accepts},
		"pattern of two million states":       {itemsOf(`{"pattern": "` + strings.Repeat("a{999}", 2300) + `"}`), `{}`, byLoad},
		"patterns of many states together":    {patterns16K(1800), `{}`, byLoad},
		"copies of a slow pattern":            {itemsOf(`{"pattern": "` + strings.Repeat("(?:a??){999}", 1600) + `"}`), arrayOf(`""`), byLoad},
		"classes in a class":                  {itemsOf(`{"pattern": "[` + strings.Repeat(`\\P{L}`, 36_000) + `]"}`), arrayOf(`"1"`), accepts},
		"15,000 unknown words":                {`{"type": "object", ` + unknownWords(15_000) + `}`, `{}`, byLoad},
		"30,000 required names, 80 times":     {itemsOf(`{"required": [` + quotedNames(30_000) + `]}`), arrayOf(times(80, `{}`)), byBudget},
		"30,000 needed names, 50 times":       {needed(30_000), `{"b": [` + times(12_000, `1`) + `], "a": [` + times(50, `{"k":1}`) + `]}`, byBudget},
		"unevaluated items, 900 alternatives": {unevaluated(900, `false`), arrayOf(integers(20_000)), byBudget},
		"and with 900 of another type":        {unevaluated(900, `{"type": "string"}`), arrayOf(integers(20_000)), byBudget},
		"300 formats of a long text":          {asserted(300, `{"format": "semver"}`), `{"a": "1.2.3-` + strings.Repeat("a.", 30_000) + `b"}`, byBudget},
		"one format of a long pattern":        {asserted(1, `{"format": "regex"}`), `{"a": "` + strings.Repeat(`[\\P{L}]`, 7000) + `"}`, bySchema},
		"empty texts, many states":            {itemsOf(`{"pattern": "` + strings.Repeat("(?:a?){999}", 4) + `$"}`), arrayOf(times(20_000, `""`)), byBudget},
		"900 numbers at the limit, in turn":   {itemsOf(`{"allOf": [` + times(10, `{"multipleOf": 1e-308, "maximum": 1.1e308}`) + `]}`), arrayOf(times(7000, `1.7e308`)), byBudget},
		"900 times whether it is an integer":  {itemsOf(`{"anyOf": [` + times(900, `{"type": "integer"}`) + `, {"type": "number"}]}`), arrayOf(times(7000, `1e-308`)), byBudget},
		"900 lengths of a long text":          {itemsOf(`{"anyOf": [` + times(900, `{"minLength": 70000}`) + `]}`), arrayOf(`"` + strings.Repeat("\u00e9", 32_000) + `"`), byBudget},
		"surplus items, five times":           {surplus(5), arrayOf(times(30_000, `1`)), byBudget},
		"anchor that another schema answers":  {recursiveAnchor, `{"a": {"child": {"evil": 1}}}`, byLoad},
		"wide classes in 80 patterns":         {numbered(80, `"p%d": {"pattern": "^[\\p{Lu}\\p{Nd}\\p{Po}\\p{Mn}\\p{Sc}\\p{Nl}]{990}%d$"}`), `{"p1": "x"}`, byLoad},
		"all letters, 19 times 999":           {numbered(5, `"p%d": {"pattern": "`+strings.Repeat(`\\p{L}{999}`, 19)+`%d"}`), `{"p1": "x"}`, bySchema},
		"1,900 names of all letters":          {strings.Replace(numbered(1900, `"^\\p{L}%d":{"title": "%d"}`), "properties", "patternProperties", 1), `{}`, byLoad},
		"200 long repeats of all letters":     {numbered(200, `"p%d": {"pattern": "^\\p{L}{480}%d$"}`), `{}`, byLoad},
		"1,900 patterns of ambiguous parts":   {numbered(1900, `"p%d": {"pattern": "(?:[ab]?[bc]?[cd]?[ac]?){9}x%d$"}`), `{}`, byLoad},
		"42,000 numbers at the limit":         {itemsOf(`{"enum": [` + strings.Repeat(`[`+times(2100, `1e308`)+`],`, 19) + `[1]]}`), `{}`, byLoad},
		"110,000 types":                       {itemsOf(`{"type": [` + times(110_000, `1`) + `]}`), `{}`, byLoad},
		"way of 500 references":               {`{"type": "object", "additionalProperties": true, "properties": {"a": {"items": {"$ref": "#/definitions/d0"}}}, "definitions": {` + way(500) + `"d500": {"anyOf": [` + times(450, `{"minimum": 5}`) + `, true]}}}`, `{"b": [` + times(31_000, `1`) + `], "a": [` + times(250, `1`) + `]}`, byBudget},
		"990 types that refuse, 300 times":    {itemsOf(`{"allOf": [` + times(990, `{"type": "string"}`) + `]}`), `{"b": [` + times(31_000, `1`) + `], "a": [` + times(300, `1`) + `]}`, byBudget},
		"28,000 names that are missing":       {itemsOf(`{"required": [` + quotedNames(28_000) + `]}`), `{"b": [` + times(30_000, `1`) + `], "a": [` + times(100, `{}`) + `]}`, byBudget},
		"3,000 nulls below a long name":       {`{"type": "object", "additionalProperties": {"additionalProperties": {"type": "string"}}}`, longName(3000), bySchema},
		"1,000 nulls below a long name":       {`{"type": "object", "additionalProperties": {"additionalProperties": {"type": "string"}}}`, longName(1000), accepts},
		"4 MiB of values":                     {`{"type": "object", "additionalProperties": true}`, arrayOf(times(2_000_000, `1`)), byRule},
		"4 MiB of text":                       {`{"type": "object", "additionalProperties": true}`, `{"a": "` + strings.Repeat("x", 4<<20-20) + `"}`, accepts},
		"name of 900 characters":              {itemsOf(`{"pattern": "^[a-zA-Z_][a-zA-Z0-9_]{0,999}$"}`), arrayOf(`"` + strings.Repeat("a", 900) + `"`), accepts},
		"900 characters between others":       {itemsOf(`{"pattern": "^\\S.{0,998}\\S$"}`), arrayOf(`"` + strings.Repeat("a", 900) + `"`), accepts},
		"words that are not wanted":           {itemsOf(`{"not": {"pattern": "\\b(rm|sudo|mkfs|dd|shutdown|reboot|halt|kill|chmod|chown|curl|wget|nc|bash|sh|eval|exec)\\b"}}`), arrayOf(prose), accepts},
		"tokens that are not wanted":          {itemsOf(`{"not": {"pattern": "(password|secret|token|api[_-]?key|BEGIN RSA|ssh-rsa|AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36})"}}`), arrayOf(prose), accepts},
		"ten alternatives by a tag":           {itemsOf(`{"oneOf": [` + tagged(10) + `]}`), arrayOf(times(2600, `{"k":"k9","v":"x"}`)), accepts},
		"any JSON, 9,400 leaves":              {itemsOf(`{"$ref": "#/definitions/j"}`) + anyJSON, arrayOf(times(9400, `12345`)), accepts},
		"any JSON, 30,000 leaves":             {itemsOf(`{"$ref": "#/definitions/j"}`) + anyJSON, arrayOf(times(30_000, `1`)), accepts},
	}
}

// anyJSON is cut off and put on by schemaOf: it has to follow the last member.
const anyJSON = `, "definitions": {"j": {"anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "null"}, {"type": "number"},
	{"type": "array", "items": {"$ref": "#/definitions/j"}}, {"type": "object", "additionalProperties": {"$ref": "#/definitions/j"}}]}}}`

func schemaOf(text string) string {
	if body, ok := strings.CutSuffix(text, anyJSON); ok {
		return strings.TrimSuffix(body, "}") + anyJSON
	}
	return text
}

func integers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// alike are n arrays that differ in their last item.
func alike(n, length int) string {
	var all []string
	for i := range n {
		all = append(all, "["+times(length, `1`)+fmt.Sprintf(",%d]", i+2))
	}
	return strings.Join(all, ",")
}

// letters are n patterns that each stand for all letters several times.
func letters(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d": {"type": "string", "pattern": "^\\p{L}\\P{L}\\p{L}%d$"},`, i, i)
	}
	return `{"type": "object", "additionalProperties": false, "properties": {` + strings.TrimSuffix(b.String(), ",") + `}}`
}

// constants are n alternatives that differ from each other, and from alike, at the end.
func constants(n, length int) string {
	var all []string
	for i := range n {
		all = append(all, `{"const": [`+times(length, `1`)+fmt.Sprintf(",-%d]}", i+2))
	}
	return strings.Join(all, ",")
}

func constantsOnly(n, length int) string {
	return strings.NewReplacer(`{"const": `, "", "}", "").Replace(constants(n, length))
}

// defaults are n recursive defaults that each cost what one call may.
func defaults(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d": {"$ref": "#/$defs/n", "default": %s},`, i, deep(20))
	}
	return `{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {` + strings.TrimSuffix(b.String(), ",") + `},
		"$defs": {"n": {"type": "object", "anyOf": [{"properties": {"c": {"$ref": "#/$defs/n"}}, "required": ["x"]}, {"properties": {"c": {"$ref": "#/$defs/n"}}, "required": ["y"]}]}}}`
}

// patterns16K are n patterns of 16,000 states each.
func patterns16K(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d": {"pattern": "%s%d"},`, i, strings.Repeat("a{999}b{999}", 8), i)
	}
	return `{"type": "object", "properties": {` + strings.TrimSuffix(b.String(), ",") + `}}`
}

func unknownWords(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"qzwjkv%d": 1,`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func needed(n int) string {
	return `{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"a": {"items": {"dependentRequired": {"k": [` + quotedNames(n) + `]}}}}}`
}

func unevaluated(n int, alternative string) string {
	return `{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"a": {"unevaluatedItems": true, "anyOf": [` + times(n, alternative) + `, true]}}}`
}

// asserted are n schemas for one text, in a draft whose formats a file asserts.
func asserted(n int, schema string) string {
	return `{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": true, "properties": {"a": {"anyOf": [` + times(n, `{"allOf": [{"minLength": 70000}, `+schema+`]}`) + `]}}}`
}

func surplus(n int) string {
	return `{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": true, "properties": {"a": {"allOf": [` + times(n, `{"items": [{}], "additionalItems": false}`) + `]}}}`
}

// recursiveAnchor is entered below the root of a resource, where the validator takes
// another schema for the one that $recursiveRef means.
const recursiveAnchor = `{"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object", "properties": {"a": {"$ref": "tree#/$defs/node"}},
	"$defs": {"tree": {"$id": "tree", "$recursiveAnchor": true, "type": "string", "$defs": {"node": {"type": "object", "properties": {"child": {"$recursiveRef": "#"}}}}}}}`

// numbered are n properties.
func numbered(n int, property string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(property, "%d", strconv.Itoa(i)) + ",")
	}
	return `{"type": "object", "additionalProperties": true, "properties": {` + strings.TrimSuffix(b.String(), ",") + `}}`
}

// way are definitions that each refer to the next one.
func way(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"d%d": {"$ref": "#/definitions/d%d"},`, i, i+1)
	}
	return b.String()
}

// longName are nulls below a name of 30,000 characters.
func longName(nulls int) string {
	var b strings.Builder
	for i := range nulls {
		fmt.Fprintf(&b, `"%x":null,`, i)
	}
	return `{"` + strings.Repeat("k", 30_000) + `":{` + strings.TrimSuffix(b.String(), ",") + `}}`
}

// prose is a text of 60,000 characters.
var prose = `"` + strings.Repeat("the quick brown fox jumps over the lazy dog, once more. ", 1080) + `"`

// tagged are n alternatives that a constant tells apart.
func tagged(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"type": "object", "properties": {"k": {"const": "k%d"}, "v": {"type": "string"}}, "required": ["k", "v"], "additionalProperties": false}`, i))
	}
	return strings.Join(all, ",")
}

func quotedNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"n%d",`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// tooLong is processor time, several times what each attack takes (BenchmarkAttacks).
// Without limits they take seconds, gigabytes, or have no end.
const tooLong = 500 * time.Millisecond

// Each attack ends at once, the process survives, and the next call works. The tool
// is exempt from the rules on size and depth, so that nothing but the limits of the
// schema door stands in the way.
func TestAttacksEndAtOnce(t *testing.T) {
	for name, a := range attacks() {
		t.Run(name, func(t *testing.T) {
			best := time.Hour
			var got string
			rounds := 3 // the fastest counts, since this is about work and not about the machine
			if raceDetector {
				rounds = 1
			}
			for range rounds {
				start := work()
				e, err := engineFor(schemaOf(a.schema))
				load := work() - start - startTime()
				if err != nil {
					t.Fatal(err)
				}
				start = work()
				got = outcome(t, e, a.payload)
				best = min(best, max(load, work()-start))
				mustAccept(t, e, "next", `{"a": "x"}`)
			}
			if got != a.ends {
				t.Errorf("ends with %s, want %s", got, a.ends)
			}
			t.Logf("%s after %s", got, best)
			if best > tooLong && !raceDetector {
				t.Errorf("takes %s, want at most %s", best, tooLong)
			}
		})
	}
}

func engineFor(schema string) (*engine.Engine, error) {
	silent := engine.WithLogger(zap.NewNop())
	return engine.New(context.Background(), silent, engine.WithMode(engine.Strict), engine.WithAllowUnsafeArgs("t"), engine.WithFormats(engine.AssertFormats), engine.WithTimeout(time.Minute),
		engine.WithDropNulls("t"), engine.WithUnwrapJSONStrings("t"), listed("t", schema, "next", object))
}

// startTime is what an engine takes to start with next to no schemas.
var startTime = sync.OnceValue(func() time.Duration {
	best := time.Hour
	for range 3 {
		start := work()
		if _, err := engineFor(object); err != nil {
			panic(err)
		}
		best = min(best, work()-start)
	}
	return best
})

func outcome(t *testing.T, e *engine.Engine, payload string) string {
	t.Helper()
	_, err := e.Validate(context.Background(), "t", []byte(payload))
	var refusal *engine.ValidationError
	switch {
	case err == nil:
		return accepts
	case !errors.As(err, &refusal):
		t.Fatal(err)
	case errors.Is(err, engine.ErrFault):
		if !strings.Contains(refusal.Violations[0].Reason, "costs too much") {
			t.Fatalf("%v: %v", err, errors.Unwrap(err))
		}
		return byBudget
	case refusal.Violations[0].Rule == "quarantined_tool":
		return byLoad
	case refusal.Violations[0].Stage == engine.StagePolicy:
		return byRule
	}
	return bySchema
}

func BenchmarkAttacks(b *testing.B) {
	for name, a := range attacks() {
		e, err := engineFor(schemaOf(a.schema))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = e.Validate(context.Background(), "t", []byte(a.payload))
			}
		})
	}
}

// What patterns take stays taken as long as the engine lives, and a list of tools may be
// full of them.
func TestPatternsTakeLittleMemory(t *testing.T) {
	schema := numbered(80, `"p%d": {"pattern": "^\\p{Lu}{990}%d$"}`)
	var tools []string
	for i := range 20 {
		tools = append(tools, fmt.Sprintf("t%d", i), schema)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	e := newEngine(t, listed(tools...))
	runtime.GC()
	runtime.ReadMemStats(&after)
	const most = 200 << 20 // bytes; without limits it would be 20 GiB
	if took := after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc); took > most {
		t.Errorf("takes %d MiB", took>>20)
	}
	withheld := 0
	for _, f := range e.SchemaFindings() {
		if f.Fault {
			withheld++
			if !strings.Contains(f.Problem, "schemas.max_pattern_states_in_all") {
				t.Error(f)
			}
		}
	}
	if withheld != 8 {
		t.Errorf("%d tools are withheld, want 8", withheld)
	}
}
