package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/engine"
)

const lenientSchema = `{"type": "object", "additionalProperties": false, "required": ["must"], "properties": {
	"must": {"type": ["string", "integer"]},
	"may": {"type": "string"},
	"either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
	"null": {"type": ["string", "null"]},
	"one": {"enum": ["a", "b"]},
	"object": {"type": "object", "additionalProperties": false, "properties": {"n": {"type": "integer"}, "o": {"type": "object"}}},
	"list": {"type": "array", "items": {"type": "integer"}},
	"some": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
	"text": {"anyOf": [{"type": "array"}, {"type": "string", "maxLength": 3}]},
	"items": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {"a/b": {"type": "string"}}}}}}`

type repaired struct {
	Raw     string
	Repairs []engine.Repair
	Reasons []said
}

// said is what the wire carries of a violation.
type said struct{ Path, Reason string }

func saidOf(refusal *engine.ValidationError) (list []said) {
	for _, v := range refusal.Violations {
		list = append(list, said{v.Path, v.Reason})
	}
	return list
}

func repairedBy(t *testing.T, e *engine.Engine, payload string) repaired {
	t.Helper()
	accepted, err := e.Validate(context.Background(), "t", []byte(payload))
	var refusal *engine.ValidationError
	switch {
	case err == nil:
		return repaired{Raw: string(accepted.Raw), Repairs: accepted.Repairs}
	case errors.As(err, &refusal) && !errors.Is(err, engine.ErrFault):
		return repaired{Repairs: refusal.Repairs, Reasons: saidOf(refusal)}
	}
	t.Fatalf("%s: %v", payload, err)
	return repaired{}
}

const (
	drop   = engine.DropNull
	unwrap = engine.UnwrapJSONString
)

func TestLeniency(t *testing.T) {
	e := newEngine(t, schemas(map[string]string{"t": lenientSchema}), engine.WithDropNulls("t"), engine.WithUnwrapJSONStrings("t"))
	for payload, want := range map[string]repaired{
		`{"must": "x"}`:                             {Raw: `{"must": "x"}`},
		`{"must": 1.50e1, "may": null}`:             {Raw: `{"must":1.50e1}`, Repairs: []engine.Repair{{"/may", drop}}},
		`{"may":null, "must":"\u0041", "one":null}`: {Raw: `{"must":"\u0041"}`, Repairs: []engine.Repair{{"/may", drop}, {"/one", drop}}},
		`{"must": "x", "either": null}`:             {Raw: `{"must":"x"}`, Repairs: []engine.Repair{{"/either", drop}}},
		`{"must": "x", "null": null}`:               {Raw: `{"must": "x", "null": null}`},
		`{"must": null}`:                            {Reasons: []said{{"/must", "is null but must be an integer or a string"}}},
		`{"must": null, "may": null}`: {Repairs: []engine.Repair{{"/may", drop}},
			Reasons: []said{{"/must", "is null but must be an integer or a string"}}},
		`{"must": "x", "other": null}`:                          {Reasons: []said{{"/other", "unexpected property; the schema allows no others"}}},
		`{"must": "x", "list": [1, null]}`:                      {Reasons: []said{{"/list/1", "is null but must be an integer"}}},
		`{"must": "x", "object": " {\"n\": 1.0e2 }\n"}`:         {Raw: `{"must":"x","object":{"n": 1.0e2 }}`, Repairs: []engine.Repair{{"/object", unwrap}}},
		`{"must": "x", "list": "[1, 2]"}`:                       {Raw: `{"must":"x","list":[1, 2]}`, Repairs: []engine.Repair{{"/list", unwrap}}},
		`{"must": "x", "some": "[1]"}`:                          {Raw: `{"must":"x","some":[1]}`, Repairs: []engine.Repair{{"/some", unwrap}}},
		`{"must": "x", "items": [{"a/b": "1"}, {"a/b": null}]}`: {Raw: `{"must":"x","items":[{"a/b": "1"},{}]}`, Repairs: []engine.Repair{{"/items/1/a~1b", drop}}},
		`{"must": "x", "object": "{\"o\": \"{}\", \"n\": null}"}`: {Raw: `{"must":"x","object":{"o":{}}}`,
			Repairs: []engine.Repair{{"/object", unwrap}, {"/object/n", drop}, {"/object/o", unwrap}}},
		`{"must": "x", "list": "[1, \"a\"]"}`:          {Repairs: []engine.Repair{{"/list", unwrap}}, Reasons: []said{{"/list/1", "is a string but must be an integer"}}},
		`{"must": "x", "list": "{}"}`:                  {Reasons: []said{{"/list", "is a string but must be an array"}}},
		`{"must": "x", "list": "[1"}`:                  {Reasons: []said{{"/list", "is a string but must be an array"}}},
		`{"must": "x", "text": "[1]"}`:                 {Raw: `{"must": "x", "text": "[1]"}`},
		`{"must": "x", "object": "{\"n\":1,\"n\":2}"}`: {Repairs: []engine.Repair{{"/object", unwrap}}, Reasons: []said{{"/object/n", "malformed JSON at byte 28: this key appears twice in its object"}}},
		// What a rule refuses is not repaired.
		"{\"must\": \"x\x7f\", \"may\": null}": {Reasons: []said{{"/may", "is null but must be a string"}, {"/must", "the string has 1 forbidden control character: U+007F"}}},
		// What comes out of a string is put to the rules, too.
		`{"must": "x", "object": "{\"o\": {\"\\u001b\": 1}}"}`: {Repairs: []engine.Repair{{"/object", unwrap}},
			Reasons: []said{{`/object/o/\u{1b}`, "the key has 1 forbidden control character: U+001B"}}},
		`{"must": "x", "object": "{\"o\": {\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}}"}`: {Repairs: []engine.Repair{{"/object", unwrap}},
			Reasons: []said{{"/object/o/a/a/a/a/a/a/a/a/a", "values are nested 11 levels deep but at most 10 are allowed"}}},
	} {
		if diff := cmp.Diff(want, repairedBy(t, e, payload)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", payload, diff)
		}
	}
}

// Without leniency the reason says what is wrong with the payload.
func TestLeniencyIsOffByDefault(t *testing.T) {
	documents := schemas(map[string]string{"t": lenientSchema, "u": lenientSchema})
	strict := []said{
		{"/list", "is a string that holds JSON; send the array itself"},
		{"/may", "is null but must be a string"},
		{"/object", "is a string that holds JSON; send the object itself"},
		{"/some", "is a string that holds JSON; send the array itself"},
	}
	const payload = `{"must": "x", "may": null, "object": "{}", "list": "[]", "some": "[1]"}`
	onlyNulls := []said{strict[0], strict[2], strict[3]}
	for name, c := range map[string]struct {
		options []engine.Option
		want    repaired
	}{
		"none":            {nil, repaired{Reasons: strict}},
		"another tool":    {[]engine.Option{engine.WithDropNulls("u"), engine.WithUnwrapJSONStrings("u")}, repaired{Reasons: strict}},
		"nulls alone":     {[]engine.Option{engine.WithDropNulls("t")}, repaired{Repairs: []engine.Repair{{"/may", drop}}, Reasons: onlyNulls}},
		"by data":         {[]engine.Option{ownData(`{"sallyport": {"leniency": {"drop_nulls": {"t": true}}}}`)}, repaired{Repairs: []engine.Repair{{"/may", drop}}, Reasons: onlyNulls}},
		"strings alone":   {[]engine.Option{engine.WithUnwrapJSONStrings("t")}, repaired{Repairs: []engine.Repair{{"/list", unwrap}, {"/object", unwrap}, {"/some", unwrap}}, Reasons: strict[1:2]}},
		"permissive mode": {[]engine.Option{engine.WithUnwrapJSONStrings("t"), engine.WithMode(engine.Permissive)}, repaired{Raw: payload}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, append(c.options, documents)...)
			if diff := cmp.Diff(c.want, repairedBy(t, e, payload)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepairsAreLogged(t *testing.T) {
	logger, logs := observed()
	e := newEngine(t, schemas(map[string]string{"t": lenientSchema}), engine.WithDropNulls("t", "nobody"), logger)
	mustAccept(t, e, "t", `{"must": "x", "may": null}`)
	mustAccept(t, e, "t", `{"must": "x"}`)
	repairs := logs.FilterMessage("arguments were repaired before they were judged").All()
	if len(repairs) != 1 {
		t.Fatalf("%d repairs are logged, want 1", len(repairs))
	}
	if diff := cmp.Diff(map[string]any{"tool": "t", "repairs": []engine.Repair{{"/may", drop}}}, repairs[0].ContextMap()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := logs.FilterMessage("nulls are dropped for a tool but it is not registered: is the name right?").Len(); n != 1 {
		t.Errorf("a leniency for nobody is logged %d times, want once", n)
	}
}

// A payload that needs more repairs than are allowed stays as it is.
func TestRepairsAreBounded(t *testing.T) {
	const schema = `{"type": "object", "additionalProperties": {"type": "string"}}`
	e := newEngine(t, listed("t", schema), engine.WithDropNulls("t"))
	nulls := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"n%d":null,`, i)
		}
		return "{" + b.String() + `"a":"b"}`
	}
	accepted, err := e.Validate(context.Background(), "t", []byte(nulls(1000)))
	if err != nil || len(accepted.Repairs) != 1000 || string(accepted.Raw) != `{"a":"b"}` {
		t.Fatalf("1000 nulls: %v", err)
	}
	got := repairedBy(t, e, nulls(1001))
	if len(got.Repairs) != 0 || len(got.Reasons) != 100 || got.Reasons[0] != (said{"/n0", "is null but must be a string"}) {
		t.Fatalf("1001 nulls: %d repairs, %v", len(got.Repairs), got.Reasons[:1])
	}
}
