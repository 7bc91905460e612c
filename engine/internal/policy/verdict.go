package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Input is what the rules see of one call.
type Input struct {
	Tool    string
	Mode    string
	Today   string         // the day in UTC, as 2026-12-31
	Payload map[string]any // nil where it was not decoded
	Facts   Facts
}

// Facts are the measurements of one payload; see policies/README.md for their
// meaning.
type Facts struct {
	Registered   bool
	Quarantine   string // why the tool is in quarantine; "" where it is not
	Type         string
	Bytes        int
	BytesCounted bool
	Values       int
	Complete     bool
	Stop         string
	Depth        int
	Deepest      string
	Strings      []StringFact
	StringsTotal int
	Fault        *Fault
	Selected     map[string]Selected // what rules have asked for, by rule; without those that get nothing
}

// StringFact is one string or key with control characters.
type StringFact struct {
	Path       string
	In         string
	CodePoints []int
	Count      int
}

// Selected are the strings that one rule has asked for.
type Selected struct {
	Strings []SelectedString
	Total   int
}

// SelectedString is one of them.
type SelectedString struct {
	Path string
	In   string
	Text string
}

// Fault is what the decoder could not read.
type Fault struct {
	Code   string
	Path   string
	Offset int
}

// Verdict is the answer of the rules.
type Verdict struct {
	Violations  []Violation
	Omitted     int // violations that exist but are not listed
	Halt        bool
	Code        int
	OnRejection string // Refuse or Bypass, if these rules reject the call
	// OnSchemaRejection is the same for the schema.
	OnSchemaRejection string
	Exempted          []Exempted // findings that do not count
}

// Exempted is a finding that does not count.
type Exempted struct {
	Rule string
	Path string // RFC 6901 pointer
	By   string // the entry that waives it
}

// What becomes of a rejected call.
const (
	Refuse = "refuse"
	Bypass = "bypass"
)

// Violation is one finding of one rule.
type Violation struct {
	Rule    string
	Path    string // RFC 6901 pointer
	Reason  string
	Keyword string // JSON Schema keyword that finds the same, if there is one
}

// Evaluate asks the rules about one call. Any error means that there is no
// verdict, and the call has to be refused.
func (p *Policy) Evaluate(ctx context.Context, in Input) (Verdict, error) {
	if p.memo == nil {
		return p.ask(ctx, in)
	}
	return p.evaluateRemembering(ctx, in)
}

// ask has the rules evaluated.
func (p *Policy) ask(ctx context.Context, in Input) (Verdict, error) {
	value, err := p.evaluate(ctx, p.verdict, in.term())
	if err != nil {
		return Verdict{}, fmt.Errorf("evaluate sallyport.main.verdict: %w", err)
	}
	verdict, err := p.readVerdict(value)
	if err != nil {
		return Verdict{}, fmt.Errorf("result of sallyport.main.verdict: %w", err)
	}
	return verdict, nil
}

// ReadBytes asks how many bytes of this payload are to be read.
func (p *Policy) ReadBytes(ctx context.Context, in Input) (int, error) {
	value, err := p.evaluate(ctx, p.readBytes, in.term())
	if err != nil {
		return 0, fmt.Errorf("evaluate sallyport.main.read_bytes: %w", err)
	}
	return asInt(value)
}

// term makes the input lazily: only what a rule touches is converted.
func (in Input) term() *ast.Term {
	members := map[string]any{
		"tool":  in.Tool,
		"mode":  in.Mode,
		"today": in.Today,
		"facts": in.Facts.members(),
	}
	if in.Payload != nil {
		members["payload"] = in.Payload
	}
	return ast.NewTerm(ast.LazyObject(members))
}

func (f *Facts) members() map[string]any {
	facts := map[string]any{
		"registered":    f.Registered,
		"type":          f.Type,
		"bytes":         f.Bytes,
		"bytes_counted": f.BytesCounted,
		"values":        f.Values,
		"complete":      f.Complete,
		"depth":         f.Depth,
		"deepest":       f.Deepest,
		"control_characters": map[string]any{
			"strings": stringFacts(f.Strings),
			"total":   f.StringsTotal,
		},
		"selected": selectedFacts(f.Selected),
	}
	if f.Quarantine != "" {
		facts["quarantine"] = f.Quarantine
	}
	if f.Stop != "" {
		facts["stop"] = f.Stop
	}
	if f.Fault != nil {
		facts["fault"] = map[string]any{"code": f.Fault.Code, "path": f.Fault.Path, "offset": f.Fault.Offset}
	}
	return facts
}

func selectedFacts(selected map[string]Selected) map[string]any {
	facts := make(map[string]any, len(selected))
	for rule, s := range selected {
		list := make([]any, len(s.Strings))
		for i, one := range s.Strings {
			list[i] = map[string]any{"path": one.Path, "in": one.In, "text": one.Text}
		}
		facts[rule] = map[string]any{"strings": list, "total": s.Total}
	}
	return facts
}

func stringFacts(strings []StringFact) []any {
	list := make([]any, len(strings))
	for i, s := range strings {
		codePoints := make([]any, len(s.CodePoints))
		for j, c := range s.CodePoints {
			codePoints[j] = c
		}
		list[i] = map[string]any{"path": s.Path, "in": s.In, "code_points": codePoints, "count": s.Count}
	}
	return list
}

func (p *Policy) readVerdict(value ast.Value) (Verdict, error) {
	object, ok := value.(ast.Object)
	if !ok {
		return Verdict{}, errors.New("not an object")
	}
	var v Verdict
	var err error
	if v.Halt, err = member(object, "halt", asBool); err != nil {
		return Verdict{}, err
	}
	if v.Code, err = member(object, "code", asInt); err != nil {
		return Verdict{}, err
	}
	if v.Omitted, err = member(object, "omitted", asInt); err != nil {
		return Verdict{}, err
	}
	for name, into := range map[string]*string{"on_rejection": &v.OnRejection, "on_schema_rejection": &v.OnSchemaRejection} {
		if *into, err = member(object, name, asString); err != nil {
			return Verdict{}, err
		}
		if *into != Refuse && *into != Bypass {
			return Verdict{}, fmt.Errorf("%s is neither %s nor %s", name, Refuse, Bypass)
		}
	}
	if v.Exempted, err = readExempted(object); err != nil {
		return Verdict{}, err
	}
	if v.Omitted < 0 {
		return Verdict{}, errors.New("omitted is negative")
	}
	found, err := member(object, "violations", asSet)
	if err != nil {
		return Verdict{}, err
	}
	for _, term := range found.Slice() {
		violation, err := p.readViolation(term.Value)
		if err != nil {
			return Verdict{}, fmt.Errorf("violation: %w", err)
		}
		v.Violations = append(v.Violations, violation)
	}
	return v, nil
}

func readExempted(verdict ast.Object) ([]Exempted, error) {
	found, err := member(verdict, "exempted", asSet)
	if err != nil || found.Len() == 0 {
		return nil, err
	}
	var list []Exempted
	for _, term := range found.Slice() {
		object, ok := term.Value.(ast.Object)
		if !ok {
			return nil, errors.New("exempted: not an object")
		}
		var x Exempted
		for name, into := range map[string]*string{"rule": &x.Rule, "path": &x.Path, "by": &x.By} {
			if *into, err = member(object, name, asString); err != nil {
				return nil, fmt.Errorf("exempted: %w", err)
			}
		}
		list = append(list, x)
	}
	return list, nil
}

func (p *Policy) readViolation(value ast.Value) (Violation, error) {
	object, ok := value.(ast.Object)
	if !ok {
		return Violation{}, errors.New("not an object")
	}
	var v Violation
	var err error
	if v.Rule, err = member(object, "rule", asString); err != nil {
		return Violation{}, err
	}
	if _, known := p.rules[v.Rule]; !known {
		return Violation{}, fmt.Errorf("there is no rule %q", v.Rule)
	}
	if v.Path, err = member(object, "path", asString); err != nil {
		return Violation{}, fmt.Errorf("rule %s: %w", v.Rule, err)
	}
	if v.Path != "" && !strings.HasPrefix(v.Path, "/") {
		return Violation{}, fmt.Errorf("rule %s: path %q is not an RFC 6901 pointer: it has to start with /", v.Rule, v.Path)
	}
	if v.Reason, err = member(object, "reason", asString); err != nil {
		return Violation{}, fmt.Errorf("rule %s: %w", v.Rule, err)
	}
	if object.Get(ast.InternedTerm("keyword")) != nil {
		if v.Keyword, err = member(object, "keyword", asString); err != nil {
			return Violation{}, fmt.Errorf("rule %s: %w", v.Rule, err)
		}
	}
	return v, nil
}

func member[T any](object ast.Object, name string, as func(ast.Value) (T, error)) (T, error) {
	term := object.Get(ast.InternedTerm(name))
	if term == nil {
		var none T
		return none, fmt.Errorf("%s is missing", name)
	}
	value, err := as(term.Value)
	if err != nil {
		return value, fmt.Errorf("%s %w", name, err)
	}
	return value, nil
}

func asBool(value ast.Value) (bool, error) {
	b, ok := value.(ast.Boolean)
	if !ok {
		return false, errors.New("is not a boolean")
	}
	return bool(b), nil
}

func asInt(value ast.Value) (int, error) {
	number, ok := value.(ast.Number)
	if !ok {
		return 0, errors.New("is not a number")
	}
	n, ok := number.Int()
	if !ok {
		return 0, errors.New("is not an integer")
	}
	return n, nil
}

func asString(value ast.Value) (string, error) {
	s, ok := value.(ast.String)
	if !ok {
		return "", errors.New("is not a string")
	}
	return string(s), nil
}

func asSet(value ast.Value) (ast.Set, error) {
	set, ok := value.(ast.Set)
	if !ok {
		return nil, errors.New("is not a set")
	}
	return set, nil
}
