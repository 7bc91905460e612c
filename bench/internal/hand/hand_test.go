package hand_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/bench/internal/hand"
	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
)

func world(t *testing.T) *peers.World {
	t.Helper()
	w, err := peers.NewWorld(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func judges(t *testing.T, w *peers.World) map[string]*hand.Judge {
	t.Helper()
	documents := map[string][]byte{}
	for _, tool := range w.Engine.Tools() {
		documents[tool], _ = w.Engine.AdvertisedSchema(tool)
	}
	all := map[string]*hand.Judge{}
	for name, decode := range map[string]hand.Decoder{"scanner": hand.Decode, "jsontext": hand.DecodeTokens} {
		j, err := hand.New(decode, documents)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = j
	}
	return all
}

// agree says where a hand-written judge and the engine differ: in the verdict, or in
// the value that they decoded.
func agree(w *peers.World, j *hand.Judge, tool, payload string) string {
	want, err := w.Engine.Validate(context.Background(), tool, []byte(payload))
	object, found := j.Judge(tool, []byte(payload))
	switch {
	case err == nil && len(found) > 0:
		return fmt.Sprintf("the engine accepts, by hand: %v", found)
	case err != nil && len(found) == 0:
		return fmt.Sprintf("accepted by hand, the engine: %v", err)
	case err == nil:
		return cmp.Diff(want.Payload, object)
	}
	return ""
}

func TestAgreesWithEngine(t *testing.T) {
	w := world(t)
	run := func(text string) [2]string { return [2]string{"bernstein_run", text} }
	goal := func(text string) [2]string { return run(`{"goal": "` + text + `"}`) }
	free := func(text string) [2]string { return [2]string{"brackets_100k", `{"a": ` + text + `}`} }
	subtask := func(role string) [2]string {
		return [2]string{"bernstein_create_subtask", `{"parent_task_id": "t-1", "goal": "g", "role": ` + role + `}`}
	}
	for name, c := range map[string][2]string{
		"good":                       goal("g"),
		"white space around":         run("\n {\"goal\" : \"g\"\t}\r\n"),
		"tab and line feed":          goal(`a\tb\nc\r`),
		"control character":          goal(`\u001b`),
		"two in one string":          goal(`\u001b\u0000`),
		"DEL raw":                    goal("\x7f"),
		"C1 raw":                     goal("\u0085"),
		"C1 escaped":                 goal(`\u0085`),
		"behind C1":                  goal("\u00a0"),
		"control character in key":   run(`{"goal": "g", "\u0007": 1}`),
		"raw control character":      goal("a\x01"),
		"surrogate pair":             goal(`\ud83d\ude00`),
		"lone high surrogate":        goal(`\ud83d`),
		"lone low surrogate":         goal(`\ude00`),
		"high, then letter":          goal(`\ud83d\u0041`),
		"upper-case hexadecimal":     goal(`\u00FF`),
		"bad hexadecimal":            goal(`\u00g0`),
		"unknown escape":             goal(`\x41`),
		"escaped quote":              goal(`a\"b\\`),
		"slash":                      goal(`\/`),
		"invalid UTF-8":              goal("\xff"),
		"overlong UTF-8":             goal("\xc0\xaf"),
		"surrogate in UTF-8":         goal("\xed\xa0\x80"),
		"replacement character":      goal("\ufffd"),
		"duplicate key":              run(`{"goal": "g", "goal": "g"}`),
		"duplicate, escaped":         run(`{"goal": "g", "\u0067oal": "g"}`),
		"not closed":                 run(`{"goal": "g"`),
		"string not closed":          run(`{"goal": "g`),
		"trailing comma":             run(`{"goal": "g",}`),
		"trailing data":              run(`{"goal": "g"} 1`),
		"second value":               run(`{"goal": "g"} {}`),
		"byte order mark":            run("\ufeff{\"goal\": \"g\"}"),
		"empty":                      run(``),
		"array":                      run(`[]`),
		"null":                       run(`null`),
		"string":                     run(`"goal"`),
		"misspelt literal":           free(`[tru]`),
		"literals":                   free(`[true, false, null]`),
		"leading zero":               free(`[01]`),
		"zero":                       free(`[0, -0, 0.5, -0.5e-3]`),
		"minus alone":                free(`[-]`),
		"plus":                       free(`[+1]`),
		"point without digits":       free(`[1.]`),
		"exponent without digits":    free(`[1e]`),
		"greatest exponent":          free(`[1e308, 1E-308, 1e+308]`),
		"exponent too great":         free(`[1e309]`),
		"negative exponent too far":  free(`[1e-309]`),
		"exponent with zeros":        free(`[1e0000000308]`),
		"longest number":             free(`[` + strings.Repeat("9", 64) + `]`),
		"number too long":            free(`[` + strings.Repeat("9", 65) + `]`),
		"depth 10":                   free(strings.Repeat("[", 9) + "0" + strings.Repeat("]", 9)),
		"depth 11":                   free(strings.Repeat("[", 10) + "0" + strings.Repeat("]", 10)),
		"depth 10, an empty array":   free(strings.Repeat("[", 10) + strings.Repeat("]", 10)),
		"objects and arrays":         free(`[{"b": [{"c": {}}]}, [[]]]`),
		"missing comma":              free(`[1 2]`),
		"key without quotes":         run(`{goal: "g"}`),
		"missing colon":              run(`{"goal" "g"}`),
		"unknown tool":               {"nobody", `{}`},
		"missing property":           run(`{}`),
		"unexpected property":        run(`{"goal": "g", "extra": 1}`),
		"wrong type":                 run(`{"goal": 1}`),
		"known role":                 subtask(`"qa"`),
		"unknown role":               subtask(`"emperor"`),
		"role of another type":       subtask(`1`),
		"64 KiB":                     run(`{"goal": "g"` + strings.Repeat(" ", 65536-13) + `}`),
		"64 KiB and one":             run(`{"goal": "g"` + strings.Repeat(" ", 65536-12) + `}`),
		"white space does not count": run(strings.Repeat(" ", 70000) + `{"goal": "g"}`),
	} {
		for decoder, j := range judges(t, w) {
			t.Run(name+"/"+decoder, func(t *testing.T) {
				if diff := agree(w, j, c[0], c[1]); diff != "" {
					t.Errorf("%s %.200q: %s", c[0], c[1], diff)
				}
			})
		}
	}
}

func TestAgreesOnTheShapes(t *testing.T) {
	w := world(t)
	for decoder, j := range judges(t, w) {
		for _, c := range w.Cases {
			if diff := agree(w, j, c.Tool, string(c.Payload)); diff != "" {
				t.Errorf("%s/%s: %s", decoder, c.Name, diff)
			}
			if _, found := j.Judge(c.Tool, c.Payload); (len(found) == 0) != c.Accepted {
				t.Errorf("%s/%s: %d violations, want accepted: %t", decoder, c.Name, len(found), c.Accepted)
			}
		}
	}
}

// A payload with some bytes changed is judged alike, whatever it has become.
func TestAgreesOnDamagedPayloads(t *testing.T) {
	w := world(t)
	random := rand.New(rand.NewPCG(1, 2))
	seeds := [][2]string{
		{"bernstein_run", string(w.Cases[0].Payload)},
		{"bernstein_run", `{"goal": "a\n\u0041\ud83d\ude00\\\"\/é", "priority": 1, "parent_task_id": null}`},
		{"brackets_100k", `{"a": [1.5e3, -0, {"b": [true, false, null, "\u0009", {}]}, [[]], ""]}`},
		{"objects_1.5k", `{"rows":[{"id":1,"name":"row 1","done":true},{"id":2,"name":"row 2","done":false}]}`},
	}
	const pieces = "\"\\{}[],:0123456789eE+-.u\x00\x1b\x7f\x80\xc3\xff truefalsn"
	accepted := 0
	all := judges(t, w)
	for range 20_000 {
		seed := seeds[random.IntN(len(seeds))]
		text := []byte(seed[1])
		for range 1 + random.IntN(3) {
			at, piece := random.IntN(len(text)), pieces[random.IntN(len(pieces))]
			switch random.IntN(3) {
			case 0:
				text[at] = piece
			case 1:
				text = append(text[:at], text[at+1:]...)
			default:
				text = append(text[:at], append([]byte{piece}, text[at:]...)...)
			}
		}
		for decoder, j := range all {
			if diff := agree(w, j, seed[0], string(text)); diff != "" {
				t.Fatalf("%s, %s %q: %s", decoder, seed[0], text, diff)
			}
		}
		if _, found := all["scanner"].Judge(seed[0], text); len(found) == 0 {
			accepted++
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d of the damaged payloads were accepted: the test says little of those", accepted)
	}
}

func TestViolationsNameTheirPlace(t *testing.T) {
	w := world(t)
	j := judges(t, w)["scanner"]
	for name, c := range map[string]struct {
		tool, payload string
		want          []hand.Violation
	}{
		"schema and rule": {"bernstein_run", `{"goal": "\u001b", "smuggle": 1}`, []hand.Violation{
			{Path: "/goal", Reason: "the string has forbidden control characters: U+001B"},
			{Path: "/smuggle", Reason: "unexpected property"},
		}},
		"missing": {"bernstein_run", `{}`, []hand.Violation{{Path: "/goal", Reason: "required property is missing"}}},
		"key with a slash": {"brackets_100k", `{"a": [0, {"b/c~": "\u0000"}]}`, []hand.Violation{
			{Path: "/a/1/b~1c~0", Reason: "the string has forbidden control characters: U+0000"},
		}},
		"malformed": {"brackets_100k", `{"a": [0, tru]}`, []hand.Violation{{Path: "/a/1", Reason: "unexpected character"}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, found := j.Judge(c.tool, []byte(c.payload))
			if diff := cmp.Diff(c.want, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}
