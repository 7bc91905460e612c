package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Reading is what the policy says, once, about how payloads are read and answers
// are written, so that none of it is decided in Go.
type Reading struct {
	MaxBytes          int // above this a payload is not read whole, unless ReadBytes says more
	MaxDepth          int
	CeilingBytes      int
	CeilingDepth      int
	CeilingValues     int
	MaxNumberLength   int // characters
	MaxExponent       int
	MaxListedStrings  int
	WatchedCodePoints []int
	MaxViolations     int
	MaxReasonBytes    int
	MaxPathBytes      int
	MaxToolNameBytes  int
	Schemas           Schemas
	Leniency          Leniency
	EnumBindings      map[string]map[string][]string // tool -> member -> values
	DisabledRules     []string
	AlwaysInForce     []string // rules that cannot be disabled
}

// Schemas is what the policy says about what schema documents, and checks against
// them, may cost.
type Schemas struct {
	MaxBytes                  int // of one document
	MaxDepth                  int
	MaxSubschemas             int
	MaxSubschemasInAll        int // of the documents of all tools
	MaxPatternStatesInAll     int
	MaxEnumValues             int
	MaxCompileMilliseconds    int
	MaxSteps                  int
	MaxStepsPerValue          int
	MaxValidationMilliseconds int
	BacktrackingPatterns      map[string]bool // by tool
}

// Leniency names the tools whose payloads may be repaired, by kind of repair.
type Leniency struct {
	MaxRepairs        int // of one payload
	DropNulls         map[string]bool
	UnwrapJSONStrings map[string]bool
}

func (p *Policy) learnReading(ctx context.Context) error {
	q, err := p.compileQuery("data.sallyport.main.reading")
	if err != nil {
		return err
	}
	value, err := p.evaluate(ctx, q, ast.NewTerm(ast.NewObject()))
	if err != nil {
		return fmt.Errorf("evaluate sallyport.main.reading: %w (is a limit missing in data.json?)", err)
	}
	object, ok := value.(ast.Object)
	if !ok {
		return errors.New("sallyport.main.reading is not an object")
	}
	if p.reading, err = readReading(object); err != nil {
		return fmt.Errorf("sallyport.main.reading: %w", err)
	}
	for _, name := range p.reading.DisabledRules {
		at := "data: /sallyport/disabled_rules/" + name
		if _, known := p.rules[name]; !known {
			return fmt.Errorf("%s: there is no rule of this name; known are %s", at, strings.Join(sortedKeys(p.rules), ", "))
		}
		if slices.Contains(p.reading.AlwaysInForce, name) {
			return fmt.Errorf("%s: this rule cannot be switched off", at)
		}
	}
	return nil
}

func readReading(object ast.Object) (Reading, error) {
	var r Reading
	err := readNumbers(object, []number{
		{"max_bytes", &r.MaxBytes, 2}, // the empty object
		{"max_depth", &r.MaxDepth, 0},
		{"ceiling_bytes", &r.CeilingBytes, 2},
		{"ceiling_depth", &r.CeilingDepth, 1},
		{"ceiling_values", &r.CeilingValues, 1},
		{"max_number_length", &r.MaxNumberLength, 1},
		{"max_exponent", &r.MaxExponent, 0},
		{"max_listed_strings", &r.MaxListedStrings, 1},
		{"max_violations", &r.MaxViolations, 1},
		{"max_reason_bytes", &r.MaxReasonBytes, 16},
		{"max_path_bytes", &r.MaxPathBytes, 16},
		{"max_tool_name_bytes", &r.MaxToolNameBytes, 16},
	})
	if err != nil {
		return Reading{}, err
	}
	if r.Schemas, err = member(object, "schemas", asSchemas); err != nil {
		return Reading{}, err
	}
	if r.Leniency, err = member(object, "leniency", asLeniency); err != nil {
		return Reading{}, err
	}
	if r.WatchedCodePoints, err = member(object, "watched_code_points", asList(asInt)); err != nil {
		return Reading{}, err
	}
	reasons, err := member(object, "disabled_rules", asMap(asString))
	if err != nil {
		return Reading{}, fmt.Errorf("%w (say why the rule is off)", err)
	}
	r.DisabledRules = sortedKeys(reasons)
	if r.AlwaysInForce, err = member(object, "always_in_force", asList(asString)); err != nil {
		return Reading{}, err
	}
	bindings, err := member(object, "enum_bindings", asMap(asMap(asList(asString))))
	if err != nil {
		return Reading{}, err
	}
	r.EnumBindings = bindings
	return r, nil
}

// number is a member that holds a whole number of at least so much.
type number struct {
	name  string
	into  *int
	least int
}

func readNumbers(object ast.Object, numbers []number) error {
	for _, number := range numbers {
		n, err := member(object, number.name, asInt)
		if err != nil {
			return err
		}
		if n < number.least {
			return fmt.Errorf("%s is %d but must be at least %d", number.name, n, number.least)
		}
		*number.into = n
	}
	return nil
}

func asSchemas(value ast.Value) (s Schemas, err error) {
	object, ok := value.(ast.Object)
	if !ok {
		return s, errors.New("is not an object")
	}
	err = readNumbers(object, []number{
		{"max_bytes", &s.MaxBytes, 2},
		{"max_depth", &s.MaxDepth, 1},
		{"max_subschemas", &s.MaxSubschemas, 1},
		{"max_subschemas_in_all", &s.MaxSubschemasInAll, 1},
		{"max_pattern_states_in_all", &s.MaxPatternStatesInAll, 1},
		{"max_enum_values", &s.MaxEnumValues, 1},
		{"max_compile_milliseconds", &s.MaxCompileMilliseconds, 1},
		{"max_steps", &s.MaxSteps, 1},
		{"max_steps_per_value", &s.MaxStepsPerValue, 0},
		{"max_validation_milliseconds", &s.MaxValidationMilliseconds, 1},
	})
	if err != nil {
		return s, fmt.Errorf("has a wrong member: %w", err)
	}
	if s.BacktrackingPatterns, err = member(object, "backtracking_patterns", asMap(asTrue)); err != nil {
		return s, fmt.Errorf("has a wrong member: %w", err)
	}
	return s, nil
}

func asLeniency(value ast.Value) (l Leniency, err error) {
	object, ok := value.(ast.Object)
	if !ok {
		return l, errors.New("is not an object")
	}
	if err = readNumbers(object, []number{{"max_repairs", &l.MaxRepairs, 1}}); err != nil {
		return l, fmt.Errorf("has a wrong member: %w", err)
	}
	if l.DropNulls, err = member(object, "drop_nulls", asMap(asTrue)); err != nil {
		return l, fmt.Errorf("has a wrong member: %w", err)
	}
	if l.UnwrapJSONStrings, err = member(object, "unwrap_json_strings", asMap(asTrue)); err != nil {
		return l, fmt.Errorf("has a wrong member: %w", err)
	}
	return l, nil
}

// asTrue takes nothing but true, so that "false" or 0 is not taken for it.
func asTrue(value ast.Value) (bool, error) {
	if b, ok := value.(ast.Boolean); !ok || !bool(b) {
		return false, errors.New("is not true (leave the tool out instead)")
	}
	return true, nil
}

// asList reads an array or a set.
func asList[T any](as func(ast.Value) (T, error)) func(ast.Value) ([]T, error) {
	return func(value ast.Value) ([]T, error) {
		var terms []*ast.Term
		switch v := value.(type) {
		case ast.Set:
			terms = v.Slice()
		case *ast.Array:
			v.Foreach(func(t *ast.Term) { terms = append(terms, t) })
		default:
			return nil, errors.New("is not a list")
		}
		list := make([]T, 0, len(terms))
		for _, term := range terms {
			item, err := as(term.Value)
			if err != nil {
				return nil, fmt.Errorf("has an element that %w", err)
			}
			list = append(list, item)
		}
		return list, nil
	}
}

func asMap[T any](as func(ast.Value) (T, error)) func(ast.Value) (map[string]T, error) {
	return func(value ast.Value) (map[string]T, error) {
		object, ok := value.(ast.Object)
		if !ok {
			return nil, errors.New("is not an object")
		}
		m := make(map[string]T, object.Len())
		err := object.Iter(func(k, v *ast.Term) error {
			key, err := asString(k.Value)
			if err != nil {
				return fmt.Errorf("has a key that %w", err)
			}
			item, err := as(v.Value)
			if err != nil {
				return fmt.Errorf("has at %s a value that %w", key, err)
			}
			m[key] = item
			return nil
		})
		return m, err
	}
}
