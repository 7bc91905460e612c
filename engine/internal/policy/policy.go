package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Config is what New needs besides the sources.
type Config struct {
	Capabilities []byte        // OPA capabilities file: the builtins that rules may call
	InputSchema  any           // decoded JSON Schema of the input: a misspelt fact does not compile
	Timeout      time.Duration // for one evaluation; past it the evaluation is an error
	Memo         int           // how many clean verdicts are remembered, at most; 0 for none
}

// Policy is a compiled set of rules. It is safe for concurrent use.
type Policy struct {
	rules     map[string]Rule
	reading   Reading
	timeout   time.Duration
	compiler  *ast.Compiler
	store     storage.Store
	txn       storage.Transaction
	base      *baseDocument
	verdict   query
	readBytes query
	memo      *memo // nil: every verdict is found anew
	noMemo    string
}

type query struct {
	compiler ast.QueryCompiler
	body     ast.Body
}

// New parses, checks and compiles the sources, later data laid over earlier.
// The error holds every fault found, with file and line.
func New(ctx context.Context, sources []Source, config Config) (*Policy, error) {
	p, modules, err := open(ctx, sources, config)
	if err != nil {
		return nil, err
	}
	delete(modules, redactionFile)
	p.leaveOutPacks(modules)
	if err := p.compile(modules, config); err != nil {
		return nil, err
	}
	if err := p.checkData(); err != nil {
		return nil, err
	}
	if p.verdict, err = p.compileQuery("data.sallyport.main.verdict"); err != nil {
		return nil, err
	}
	if p.readBytes, err = p.compileQuery("data.sallyport.main.read_bytes"); err != nil {
		return nil, err
	}
	if err := p.learnReading(ctx); err != nil {
		return nil, err
	}
	if err := p.openMemo(config.Memo); err != nil {
		return nil, err
	}
	return p, nil
}

// open parses the modules, and lays the data of the sources over each other.
func open(ctx context.Context, sources []Source, config Config) (*Policy, map[string]*ast.Module, error) {
	modules, rules, err := parse(sources)
	if err != nil {
		return nil, nil, err
	}
	p := &Policy{rules: rules, timeout: config.Timeout}
	return p, modules, p.openData(ctx, sources)
}

func (p *Policy) compile(modules map[string]*ast.Module, config Config) error {
	capabilities, err := ast.LoadCapabilitiesJSON(bytes.NewReader(config.Capabilities))
	if err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, config.InputSchema)
	p.compiler = ast.NewCompiler().
		WithStrict(true).
		WithDefaultRegoVersion(ast.RegoV1).
		WithCapabilities(capabilities).
		WithSchemas(schemas).
		WithUseTypeCheckAnnotations(true)
	if p.compiler.Compile(modules); p.compiler.Failed() {
		return p.compiler.Errors
	}
	return nil
}

func (p *Policy) openMemo(entries int) error {
	if entries <= 0 {
		p.noMemo = "it is switched off"
		return nil
	}
	reads, err := analyse(p.compiler, p.base, p.rules)
	if err != nil {
		p.noMemo = err.Error()
		return nil
	}
	var findings []string
	for _, name := range reads.readers {
		findings = append(findings, denyOf(name).String())
	}
	readers, err := p.compileQuery("[" + strings.Join(findings, ", ") + "]")
	if err != nil {
		return err
	}
	p.memo, p.noMemo = newMemo(reads, readers, entries), reads.unbounded
	return nil
}

// MemoStats tells how clean verdicts were found.
type MemoStats struct {
	Looked uint64 // inputs that were looked up
	Known  uint64 // of them, those that were known as a whole
	Partly uint64 // of them, those for which only the rules that read the payload were asked
	// Limit says why verdicts are not remembered, or not as a whole; "" where they are.
	Limit string
	// Readers are the rules that read the payload.
	Readers []string
}

// MemoStats returns what has been counted since New.
func (p *Policy) MemoStats() MemoStats {
	if p.memo == nil {
		return MemoStats{Limit: p.noMemo}
	}
	m := p.memo
	return MemoStats{Looked: m.looked.Load(), Known: m.known.Load(), Partly: m.partly.Load(), Limit: p.noMemo, Readers: m.reads.readers}
}

func (p *Policy) openData(ctx context.Context, sources []Source) error {
	data, builtIn := map[string]any{}, map[string]any{}
	for _, source := range sources {
		if source.BuiltIn {
			builtIn = source.Data
		} else if err := checkMembers(builtIn, source.Data); err != nil {
			return err
		}
		merged, err := overlay(data, source.Data, "")
		if err != nil {
			return err
		}
		data = merged
	}
	root, err := ast.InterfaceToValue(data)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	object, ok := root.(ast.Object)
	if !ok {
		return errors.New("data: not an object")
	}
	p.base = &baseDocument{root: object}
	p.store = inmem.NewFromObjectWithOpts(data, inmem.OptRoundTripOnWrite(false), inmem.OptReturnASTValuesOnRead(true))
	if p.txn, err = p.store.NewTransaction(ctx); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	return nil
}

// leaveOutPacks drops the modules of packs that are off: a start takes half as long
// without them. A pack that is off asks for no strings and finds nothing, so nothing else
// changes; what is neither on nor off is a fault of the data.
func (p *Policy) leaveOutPacks(modules map[string]*ast.Module) {
	for name, rule := range p.rules {
		on, err := p.base.root.Find(ast.Ref{ast.StringTerm("sallyport"), ast.StringTerm("packs"), ast.StringTerm(name), ast.StringTerm("on")})
		if err == nil && rule.BuiltIn && ast.Compare(on, ast.Boolean(true)) != 0 {
			delete(modules, rule.File)
		}
	}
}

// LeftOut says whether a rule is in a pack that is off.
func (p *Policy) LeftOut(name string) bool { return len(p.compiler.GetRules(denyOf(name))) == 0 }

func (p *Policy) compileQuery(ref string) (query, error) {
	compiler := p.compiler.QueryCompiler()
	body, err := compiler.Compile(ast.MustParseBody("x = " + ref))
	if err != nil {
		return query{}, fmt.Errorf("%s: %w", ref, err)
	}
	return query{compiler: compiler, body: body}, nil
}

// Rules returns the rules by name.
func (p *Policy) Rules() map[string]Rule { return p.rules }

// Reading returns what the policy told about reading payloads when it was loaded.
func (p *Policy) Reading() Reading { return p.reading }

var noMetrics = metrics.NoOp()

// errUndefined is an answer too: a document without a value decides nothing.
var errUndefined = errors.New("the result is undefined")

// evaluate returns the one value of q for this input. No result, several
// results, a builtin error, a cancelled context, a spent timeout and a panic are
// errors.
func (p *Policy) evaluate(ctx context.Context, q query, input *ast.Term, more ...func(*topdown.Query)) (value ast.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, err = nil, fmt.Errorf("panic in the policy engine: %v", r)
		}
	}()
	evaluation := topdown.NewQuery(q.body).
		WithCompiler(p.compiler).
		WithQueryCompiler(q.compiler).
		WithStore(p.store).
		WithTransaction(p.txn).
		WithBaseCache(p.base).
		WithInput(input).
		WithMetrics(noMetrics).
		WithStrictBuiltinErrors(true).
		WithCancel(newDeadline(ctx, p.timeout))
	for _, set := range more {
		set(evaluation)
	}
	results := 0
	err = evaluation.Iter(ctx, func(result topdown.QueryResult) error {
		results++
		if term := result["x"]; term != nil {
			value = term.Value
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case results != 1 || value == nil:
		return nil, errUndefined
	}
	return value, nil
}

// baseDocument serves data from one immutable value, which saves the store's
// read and path bookkeeping in each evaluation.
type baseDocument struct{ root ast.Object }

// Get returns the value at ref (data.a.b), or nil where there is none.
func (d *baseDocument) Get(ref ast.Ref) ast.Value {
	var value ast.Value = d.root
	for _, key := range ref[1:] {
		object, ok := value.(ast.Object)
		if !ok {
			return nil
		}
		term := object.Get(key)
		if term == nil {
			return nil
		}
		value = term.Value
	}
	return value
}

// Put does nothing: the document is complete.
func (*baseDocument) Put(ast.Ref, ast.Value) {}

// checkMembers refuses data below sallyport that no rule of the built-in ones
// reads: a limit under a misspelt name would silently not be in force. An object
// that is empty there, such as the exemptions, takes any member.
func checkMembers(builtIn, own map[string]any) error {
	known, _ := builtIn[namespace].(map[string]any)
	given, _ := own[namespace].(map[string]any)
	return checkBelow(known, given, "/"+namespace)
}

const namespace = "sallyport"

func checkBelow(known, given map[string]any, path string) error {
	if len(known) == 0 || isAttach(path) {
		return nil
	}
	var faults []error
	for _, key := range sortedKeys(given) {
		value, exists := known[key]
		if !exists {
			faults = append(faults, fmt.Errorf("data: %s/%s: there is no such member; known are %s (data of your own belongs outside %s)",
				path, key, strings.Join(sortedKeys(known), ", "), namespace))
			continue
		}
		inner, _ := value.(map[string]any)
		own, _ := given[key].(map[string]any)
		if err := checkBelow(inner, own, path+"/"+key); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// isAttach says whether path is /sallyport/packs/NAME/attach, whose members are tools.
func isAttach(path string) bool {
	parts := strings.Split(path, "/")
	return len(parts) == 5 && parts[2] == "packs" && parts[4] == "attach"
}

// overlay returns base with top laid over it: objects are merged, anything else
// is replaced. A value may not change between object and non-object, since a
// limit that turns into an object would silence the rule that compares it.
func overlay(base, top map[string]any, path string) (map[string]any, error) {
	merged := make(map[string]any, len(base)+len(top))
	for key, value := range base {
		merged[key] = value
	}
	for _, key := range sortedKeys(top) {
		value := top[key]
		old, exists := merged[key]
		if !exists {
			merged[key] = value
			continue
		}
		oldObject, oldIs := old.(map[string]any)
		newObject, newIs := value.(map[string]any)
		switch {
		case oldIs && newIs:
			inner, err := overlay(oldObject, newObject, path+"/"+key)
			if err != nil {
				return nil, err
			}
			merged[key] = inner
		case oldIs != newIs:
			return nil, fmt.Errorf("data: %s/%s: an object and another type cannot be merged", path, key)
		default:
			merged[key] = value
		}
	}
	return merged, nil
}
