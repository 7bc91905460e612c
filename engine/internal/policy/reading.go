package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

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
	WhyDisabled       map[string]string // by rule
	AlwaysInForce     []string          // rules that cannot be disabled

	MaxSelectedStrings int
	Selections         map[string]Selection // by rule
	Waivers            []Waiver             // sorted by kind and name
}

// Selection says which strings of a payload a rule wants to see.
type Selection struct {
	Attach     map[string][]string // patterns of places, by tool; "*" for all tools
	Keys       bool
	CodePoints [][2]int // ranges; with them, only strings that have one
	Contains   []string // with them, only strings that have one
}

// Waiver is an entry of one of the registers.
type Waiver struct {
	Kind    string   `json:"-"` // the register, such as exemptions/register
	Name    string   `json:"-"`
	Tools   []string `json:"tools"`
	Rules   []string `json:"rules"`
	Paths   []string `json:"paths"`
	Owner   string   `json:"owner"`
	Reason  string   `json:"reason"`
	Expires string   `json:"expires"` // the first day, in UTC, on which it no longer holds
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
	if err := p.checkNamed(object); err != nil {
		return err
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

// checkNamed returns what the rules find wrong with the data, and entries that name rules
// which do not exist.
func (p *Policy) checkNamed(reading ast.Object) error {
	var faults []error
	found, err := member(reading, "faults", asList(asString))
	if err != nil {
		return fmt.Errorf("sallyport.main.reading: %w", err)
	}
	for _, fault := range found {
		faults = append(faults, fmt.Errorf("data: /sallyport/%s", fault))
	}
	named, err := member(reading, "named_rules", asList(asMap(asString)))
	if err != nil {
		return fmt.Errorf("sallyport.main.reading: %w", err)
	}
	for _, n := range named {
		if _, known := p.rules[n["rule"]]; !known {
			faults = append(faults, fmt.Errorf("data: /sallyport/%s: there is no rule %q; known are %s", n["where"], n["rule"], strings.Join(sortedKeys(p.rules), ", ")))
		}
	}
	return errors.Join(faults...)
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
		{"max_selected_strings", &r.MaxSelectedStrings, 1},
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
	r.DisabledRules, r.WhyDisabled = sortedKeys(reasons), reasons
	if r.AlwaysInForce, err = member(object, "always_in_force", asList(asString)); err != nil {
		return Reading{}, err
	}
	bindings, err := member(object, "enum_bindings", asMap(asMap(asList(asString))))
	if err != nil {
		return Reading{}, err
	}
	r.EnumBindings = bindings
	if r.Selections, err = member(object, "selections", asMap(asSelection)); err != nil {
		return Reading{}, err
	}
	if r.Waivers, err = readWaivers(object); err != nil {
		return Reading{}, err
	}
	return r, nil
}

func readWaivers(object ast.Object) ([]Waiver, error) {
	registers, err := member(object, "waivers", asMap(asMap(asWaiver)))
	if err != nil {
		return nil, err
	}
	var all []Waiver
	for _, kind := range sortedKeys(registers) {
		for _, name := range sortedKeys(registers[kind]) {
			w := registers[kind][name]
			w.Kind, w.Name = kind, name
			all = append(all, w)
		}
	}
	return all, nil
}

// asWaiver reads what the rules have found to be an entry, and skips what they have not.
func asWaiver(value ast.Value) (w Waiver, err error) {
	decoded, err := ast.JSON(value)
	if err != nil {
		return w, err
	}
	text, err := json.Marshal(decoded)
	if err == nil {
		_ = json.Unmarshal(text, &w)
	}
	return w, err
}

func asSelection(value ast.Value) (s Selection, err error) {
	object, ok := value.(ast.Object)
	if !ok {
		return s, errors.New("is not an object")
	}
	known := map[string]func() error{
		"attach":      func() (err error) { s.Attach, err = member(object, "attach", asMap(asList(asString))); return err },
		"keys":        func() (err error) { s.Keys, err = member(object, "keys", asBool); return err },
		"contains":    func() (err error) { s.Contains, err = member(object, "contains", asList(asString)); return err },
		"code_points": func() (err error) { s.CodePoints, err = member(object, "code_points", asList(asRange)); return err },
	}
	if object.Get(ast.InternedTerm("attach")) == nil {
		return s, errors.New("has no attach: say at which places of which tools")
	}
	for _, key := range object.Keys() {
		name, _ := asString(key.Value)
		read, ok := known[name]
		if !ok {
			return s, fmt.Errorf("has a member %q, but known are %s", name, strings.Join(sortedKeys(known), ", "))
		}
		if err := read(); err != nil {
			return s, fmt.Errorf("has a wrong member: %w", err)
		}
	}
	for tool, places := range s.Attach {
		for _, place := range places {
			if !isPointer(place) {
				return s, fmt.Errorf("has at attach of %q the place %q, which is no RFC 6901 pointer: it has to start with /, and ~ is written ~0", tool, place)
			}
		}
	}
	return s, nil
}

var notPointer = regexp.MustCompile(`^[^/]|~[^01]|~$`)

func isPointer(text string) bool { return !notPointer.MatchString(text) }

// asRange reads the two ends of a range of code points.
func asRange(value ast.Value) ([2]int, error) {
	ends, err := asList(asInt)(value)
	switch {
	case err != nil:
		return [2]int{}, err
	case len(ends) != 2 || ends[0] < 0 || ends[0] > ends[1] || ends[1] > unicode.MaxRune:
		return [2]int{}, errors.New("is no range [from, to] of code points")
	}
	return [2]int{ends[0], ends[1]}, nil
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
