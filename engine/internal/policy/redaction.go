package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Redaction says what records of calls may keep. It has the built-in rules that it needs,
// with the data of all sources, and nothing to do with verdicts. It is safe for concurrent
// use.
type Redaction struct {
	policy  *Policy
	kept    query
	reading RedactionReading
}

// RedactionReading is how arguments are read for a record.
type RedactionReading struct {
	MaxBytes  int       // of longer ones nothing is kept
	Selection Selection // the strings that are looked at for key material
}

// redactionFile is the module that says it; the others are those that it refers to.
const redactionFile = "redaction.rego"

var redactionModules = []string{redactionFile, "register.rego", "packs/secrets.rego"}

// NewRedaction compiles what records of calls may keep.
func NewRedaction(ctx context.Context, sources []Source, config Config) (*Redaction, error) {
	p, modules, err := open(ctx, sources, config)
	if err != nil {
		return nil, err
	}
	needed := map[string]*ast.Module{}
	for _, name := range redactionModules {
		if needed[name] = modules[name]; needed[name] == nil {
			return nil, fmt.Errorf("there is no %s", name)
		}
	}
	if err := p.compile(needed, config); err != nil {
		return nil, err
	}
	r := &Redaction{policy: p}
	if r.kept, err = p.compileQuery("data.sallyport.redaction.kept"); err != nil {
		return nil, err
	}
	return r, r.learnReading(ctx)
}

func (r *Redaction) learnReading(ctx context.Context) error {
	const document = "sallyport.redaction.reading"
	q, err := r.policy.compileQuery("data." + document)
	if err != nil {
		return err
	}
	value, err := r.policy.evaluate(ctx, q, ast.NewTerm(ast.NewObject()))
	if err != nil {
		return fmt.Errorf("evaluate %s: %w", document, err)
	}
	object, ok := value.(ast.Object)
	if !ok {
		return fmt.Errorf("%s is not an object", document)
	}
	if err := readNumbers(object, []number{{"max_bytes", &r.reading.MaxBytes, 2}}); err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	if r.reading.Selection, err = member(object, "selection", asSelection); err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	return nil
}

// SelectedAs is the name under which the facts have the strings of the selection.
const SelectedAs = "secrets"

// Reading says how arguments are to be read.
func (r *Redaction) Reading() RedactionReading { return r.reading }

// Kept is what a record may keep of the arguments of one call.
type Kept struct {
	// Masked are RFC 6901 pointers: what stands there and below must not be kept.
	Masked []string
	// LeftOut says why nothing is kept; "" where something is.
	LeftOut string
}

// Kept asks about one call. With an error nothing may be kept.
func (r *Redaction) Kept(ctx context.Context, in Input) (Kept, error) {
	value, err := r.policy.evaluate(ctx, r.kept, in.term())
	if err != nil {
		return Kept{}, fmt.Errorf("evaluate sallyport.redaction.kept: %w", err)
	}
	object, ok := value.(ast.Object)
	if !ok {
		return Kept{}, errors.New("sallyport.redaction.kept is not an object")
	}
	var kept Kept
	if kept.LeftOut, err = member(object, "left_out", asString); err != nil {
		return Kept{}, fmt.Errorf("sallyport.redaction.kept: %w", err)
	}
	masked, err := member(object, "masked", asSet)
	if err != nil {
		return Kept{}, fmt.Errorf("sallyport.redaction.kept: %w", err)
	}
	for _, term := range masked.Slice() {
		pointer, err := asString(term.Value)
		if err != nil || pointer != "" && !strings.HasPrefix(pointer, "/") {
			return Kept{}, errors.New("sallyport.redaction.kept: masked has what is no RFC 6901 pointer")
		}
		kept.Masked = append(kept.Masked, pointer)
	}
	return kept, nil
}
