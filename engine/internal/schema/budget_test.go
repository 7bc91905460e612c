package schema

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// A union that doubles the work at each level of the value.
const doubling = `{"type": "object", "anyOf": [{"properties": {"c": {"$ref": "#"}}}, {"properties": {"c": {"$ref": "#"}}}]}`

func levels(n int) any { return decode(strings.Repeat(`{"c":`, n) + `1` + strings.Repeat(`}`, n)) }

func TestBudgetEndsInARefusal(t *testing.T) {
	for name, c := range map[string]struct {
		document string
		value    any
	}{
		"at the root":    {doubling, levels(40)},
		"within not":     {`{"not": {"$ref": "#/definitions/d"}, "definitions": {"d": ` + strings.ReplaceAll(doubling, `"#"`, `"#/definitions/d"`) + `}}`, levels(40)},
		"within if":      {`{"if": {"$ref": "#/definitions/d"}, "then": false, "definitions": {"d": ` + strings.ReplaceAll(doubling, `"#"`, `"#/definitions/d"`) + `}}`, levels(40)},
		"within oneOf":   {`{"oneOf": [true, {"$ref": "#/definitions/d"}], "definitions": {"d": ` + strings.ReplaceAll(doubling, `"#"`, `"#/definitions/d"`) + `}}`, levels(40)},
		"a long pattern": {`{"pattern": "x{900}y$"}`, strings.Repeat("x", 100_000)},
		"a long value against an enum of long values": {
			`{"allOf": [` + strings.TrimSuffix(strings.Repeat(`{"not": {"enum": [[1]]}},`, 300), ",") + `]}`,
			decode(`[` + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", 10_000)+`",`, 20), ",") + `]`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustCompile(t, c.document)
			list, err := s.Validate(context.Background(), c.value)
			if !errors.Is(err, ErrBudget) || list != nil {
				t.Errorf("%d violations and the error %v, want ErrBudget alone", len(list), err)
			}
			// The copy works on.
			if _, err := s.Validate(context.Background(), decode(`{}`)); err != nil {
				t.Errorf("then: %v", err)
			}
			if n := len(s.pool.idle); n != 1 {
				t.Errorf("%d copies, want 1", n)
			}
		})
	}
}

// The share of the value's size lets large values pass that are no attack.
func TestBudgetGrowsWithTheValue(t *testing.T) {
	o := asDraft7
	o.Limits.Steps, o.Limits.StepsPerValue = 10, 3
	s, _, err := Compile("t", decode(`{"items": {"type": "integer"}}`), o)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Validate(context.Background(), decode("["+strings.Repeat("1,", 10_000)+"1]"))
	if err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	o.Limits.StepsPerValue = 1
	if s, _, err = Compile("t", decode(`{"items": {"type": "integer"}}`), o); err != nil {
		t.Fatal(err)
	}
	_, err = s.Validate(context.Background(), decode("["+strings.Repeat("1,", 10_000)+"1]"))
	if want := "the check against the schema costs too much: more than 10 steps and 1 for each value"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func TestDeadlineAndCancellationEndAValidation(t *testing.T) {
	o := asDraft7
	o.Limits.Steps, o.Limits.Validate = 1<<40, 20*time.Millisecond
	s, _, err := Compile("t", decode(doubling), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Validate(context.Background(), levels(60)); !errors.Is(err, ErrBudget) || !strings.HasSuffix(err.Error(), "more than 20ms") {
		t.Errorf("past the deadline: %v", err)
	}
	o.Limits.Validate = time.Hour
	if s, _, err = Compile("t", decode(doubling), o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Validate(ctx, levels(60)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past the deadline of the context: %v", err)
	}
	if _, err := s.Validate(ctx, decode(`{}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// Calls share copies of the schema; none sees the budget or the value of another.
func TestConcurrentValidations(t *testing.T) {
	s := mustCompile(t, `{"anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}, "c": {"$ref": "#"}}, "additionalProperties": false}, {"type": "null"}]}`)
	var wait sync.WaitGroup
	for worker := range 32 {
		wait.Go(func() {
			for range 50 {
				bad := fmt.Sprintf(`{"n": "x", "c": {"only%d": 1}}`, worker)
				list, err := s.Validate(context.Background(), decode(bad))
				if err != nil || len(list) != 2 || pointer(list[0].Tokens) != fmt.Sprintf("/c/only%d", worker) || pointer(list[1].Tokens) != "/n" {
					t.Errorf("%s: %v, %v", bad, list, err)
					return
				}
				if list, err := s.Validate(context.Background(), decode(`{"c": {"c": null, "n": 1}}`)); err != nil || list != nil {
					t.Errorf("good: %v, %v", list, err)
					return
				}
			}
		})
	}
	wait.Wait()
	if idle, room := len(s.pool.idle), len(s.pool.room); idle+room != runtime.GOMAXPROCS(0) {
		t.Errorf("%d copies and room for %d, want %d in all", idle, room, runtime.GOMAXPROCS(0))
	}
}

// A copy that takes long to make is not made for calls that end before.
func TestCallsShareADocumentThatIsSlowToCompile(t *testing.T) {
	s := mustCompile(t, `{"type": "object"}`)
	s.pool.takes = time.Hour
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			if list, err := s.Validate(context.Background(), decode(`{}`)); err != nil || list != nil {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
	wait.Wait()
	if len(s.pool.idle) != 1 {
		t.Errorf("%d copies", len(s.pool.idle))
	}
	lent, err := s.pool.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := s.Validate(ctx, decode(`{}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that it waited in vain", err)
	}
	s.pool.release(lent)
}

// A panic of the validator is a refusal, and its copy is not used again.
func TestPanicInTheValidatorIsARefusal(t *testing.T) {
	s := mustCompile(t, `{"minimum": 1}`)
	list, err := s.Validate(context.Background(), 3+2i) // not a JSON value
	if err == nil || list != nil {
		t.Errorf("%v, %v", list, err)
	}
	s.pool.first.root = nil // the next one dereferences it
	if list, err = s.Validate(context.Background(), decode(`1`)); !errors.Is(err, errPanic) || list != nil {
		t.Errorf("%v, %v", list, err)
	}
	if list, err = s.Validate(context.Background(), decode(`1`)); err != nil || list != nil {
		t.Errorf("then %v, %v", list, err)
	}
}

func TestLimitsOfDocuments(t *testing.T) {
	o := asFile
	o.Limits.Subschemas, o.Limits.EnumValues = 3, 2
	for document, want := range map[string]string{
		`{"properties": {"a": {}, "b": {}}}`:                                 "",
		`{"properties": {"a": {}, "b": {"not": {}}}}`:                        "has more than 3 subschemas; split the tool, or describe less",
		`{"properties": {"a": true, "b": true, "c": true}}`:                  "has more than 3 subschemas; split the tool, or describe less",
		`{"enum": [1, 2]}`:                                                   "",
		`{"items": {"enum": [1, 2, 3]}}`:                                     "at /items/enum: lists 3 values but at most 2 are allowed; use a pattern, or check the value in a rule",
		`{"x-a": {"not": {"not": {"not": {}}}}, "items": {"$ref": "#/x-a"}}`: "has more than 3 subschemas; split the tool, or describe less",
	} {
		_, _, err := Compile("t", decode(document), o)
		got := ""
		for _, fault := range faultsIn(t, err) {
			if !strings.HasPrefix(fault.Problem, `"x-a"`) {
				got = fault.Error()
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", document, got, want)
		}
	}
	o = asFile
	o.Limits.Compile = 1
	if _, _, err := Compile("t", decode(tool), o); err == nil || !strings.HasPrefix(err.Error(), "takes more than 1ns to compile") {
		t.Errorf("without time: %v", err)
	}
}
