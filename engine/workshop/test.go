package workshop

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/sallyport-mcp/sallyport/policies"
)

// Folder is a folder of rules with their tests.
type Folder struct {
	Name string // as its files are shown: Name/file.rego
	FS   fs.FS
}

// Status says how a test ended.
type Status string

// The ways to end. A test that could not be evaluated is in error.
const (
	Pass    Status = "pass"
	Fail    Status = "fail"
	Error   Status = "error"
	Skipped Status = "skipped" // its name starts with todo_
)

// TestResult is how one test ended, or one case of a test that has several.
type TestResult struct {
	Package  string        `json:"package"`
	Name     string        `json:"name"`
	Case     string        `json:"case,omitempty"` // joined by "/" where there are levels
	File     string        `json:"file"`
	Line     int           `json:"line"`
	Status   Status        `json:"status"`
	Message  string        `json:"message,omitempty"`
	Duration time.Duration `json:"duration"` // in nanoseconds, of the whole test
}

// Lines are lines of a file that no test has come to.
type Lines struct {
	File string `json:"file"`
	From int    `json:"from"` // from 1
	To   int    `json:"to"`   // included
}

// TestReport is what came of all tests.
type TestReport struct {
	Tests      []TestResult `json:"tests"`
	Coverage   float64      `json:"coverage"` // in per cent, of the expressions of all modules given
	NotCovered []Lines      `json:"not_covered"`
}

// Count returns how many tests ended so. A test of several cases counts once, and passes if
// all of them do.
func (r *TestReport) Count(status Status) int {
	ended := map[string]Status{}
	for _, t := range r.Tests {
		name := t.Package + " " + t.Name
		if before, known := ended[name]; !known || before == Pass {
			ended[name] = t.Status
		}
	}
	n := 0
	for _, s := range ended {
		if s == status {
			n++
		}
	}
	return n
}

// Test runs the tests in the folders, as `opa test` does: with OPA's own test runner, the
// checks of `opa check --strict` against the input schema and capabilities that rules are
// loaded with. The built-in rules and their data are there for them, unless the folders hold
// a whole set of rules (package sallyport.main) themselves; their tests and lines do not
// count. The error is about modules that cannot be loaded.
func Test(ctx context.Context, folders []Folder) (*TestReport, error) {
	s, err := newSuite(folders)
	if err != nil {
		return nil, err
	}
	store := inmem.NewFromObject(s.data)
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Abort(ctx, txn)
	compiler, err := strictCompiler()
	if err != nil {
		return nil, err
	}
	coverage := cover.New()
	runner := tester.NewRunner().SetCompiler(compiler).SetStore(store).SetModules(s.modules).SetCoverageQueryTracer(coverage)
	results, err := runner.RunTests(ctx, txn)
	if err != nil {
		return nil, s.located(err)
	}
	report := &TestReport{Tests: []TestResult{}, NotCovered: []Lines{}}
	for r := range results {
		if s.own[r.Location.File] {
			report.Tests = append(report.Tests, testResults(r)...)
		}
	}
	slices.SortStableFunc(report.Tests, func(a, b TestResult) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	report.cover(coverage.Report(s.modules), s)
	return report, ctx.Err()
}

// suite is what the tests run with.
type suite struct {
	modules map[string]*ast.Module
	data    map[string]any
	own     map[string]bool // files of the folders
}

const wholeSet = "data.sallyport.main"

func newSuite(folders []Folder) (*suite, error) {
	s := &suite{modules: map[string]*ast.Module{}, data: map[string]any{}, own: map[string]bool{}}
	var faults []error
	whole := false
	for _, f := range folders {
		faults = append(faults, s.add(f, true)...)
	}
	for _, m := range s.modules {
		whole = whole || m.Package.Path.String() == wholeSet
	}
	own := s.data
	if !whole {
		s.data = map[string]any{}
		faults = append(faults, s.add(Folder{Name: "built-in", FS: policies.FS}, false)...)
		s.data = laidOver(s.data, own)
	}
	return s, errors.Join(faults...)
}

// add takes the modules and data of a folder.
func (s *suite) add(f Folder, own bool) (faults []error) {
	err := fs.WalkDir(f.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		isTest := strings.HasSuffix(name, "_test.rego") && name != "fixtures_test.rego"
		switch {
		case path.Ext(name) == ".rego" && (own || !isTest):
			err = s.addModule(path.Join(f.Name, name), f.FS, name, own)
		case path.Base(name) == "data.json":
			err = s.addData(f.FS, name)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", path.Join(f.Name, name), err))
		}
		return nil
	})
	if err != nil {
		faults = append(faults, fmt.Errorf("%s: %w", f.Name, err))
	}
	return faults
}

func (s *suite) addModule(shown string, fsys fs.FS, name string, own bool) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	module, err := ast.ParseModuleWithOpts(shown, string(text), ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
	if err != nil {
		return err
	}
	if module == nil {
		return errors.New("the module is empty")
	}
	s.modules[shown] = module
	s.own[shown] = own
	return nil
}

// addData lays a data.json over what there is, below the path of its folder, as OPA does.
func (s *suite) addData(fsys fs.FS, name string) error {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	var data map[string]any
	if err := util.UnmarshalJSON(text, &data); err != nil {
		return err
	}
	if dir := path.Dir(name); dir != "." {
		steps := strings.Split(dir, "/")
		slices.Reverse(steps)
		for _, step := range steps {
			data = map[string]any{step: data}
		}
	}
	s.data = laidOver(s.data, data)
	return nil
}

// laidOver merges objects, and replaces anything else.
func laidOver(base, top map[string]any) map[string]any {
	merged := map[string]any{}
	for key, value := range base {
		merged[key] = value
	}
	for key, value := range top {
		below, isObject := merged[key].(map[string]any)
		above, isToo := value.(map[string]any)
		if isObject && isToo {
			value = laidOver(below, above)
		}
		merged[key] = value
	}
	return merged
}

func strictCompiler() (*ast.Compiler, error) {
	text, err := fs.ReadFile(policies.FS, "capabilities.json")
	if err != nil {
		return nil, err
	}
	capabilities, err := ast.LoadCapabilitiesJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	text, err = fs.ReadFile(policies.FS, "input.schema.json")
	if err != nil {
		return nil, err
	}
	var input any
	if err := util.UnmarshalJSON(text, &input); err != nil {
		return nil, err
	}
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, input)
	return ast.NewCompiler().WithStrict(true).WithDefaultRegoVersion(ast.RegoV1).
		WithCapabilities(capabilities).WithSchemas(schemas).WithUseTypeCheckAnnotations(true), nil
}

// located joins the errors of a compiler, each with its file and line.
func (s *suite) located(err error) error {
	var several ast.Errors
	if !errors.As(err, &several) {
		return err
	}
	var all []error
	for _, e := range several {
		all = append(all, e)
	}
	return errors.Join(all...)
}

func testResults(r *tester.Result) []TestResult {
	one := TestResult{Package: strings.TrimPrefix(r.Package, "data."), Name: r.Name, File: r.Location.File, Line: r.Location.Row, Duration: r.Duration}
	one.Status = Pass
	switch {
	case r.Skip:
		one.Status = Skipped
	case r.Error != nil:
		one.Status, one.Message = Error, r.Error.Error()
	case r.Fail:
		one.Status = Fail
	}
	if len(r.SubResults) == 0 || one.Status == Error || one.Status == Skipped {
		return []TestResult{one}
	}
	var all []TestResult
	for names, sub := range r.SubResults.Iter {
		if len(sub.SubResults) > 0 {
			continue
		}
		c := one
		c.Case, c.Status = strings.Join(names, "/"), Pass
		if sub.Fail {
			c.Status = Fail
		}
		all = append(all, c)
	}
	return all
}

// cover takes over what tests have come to in files of the folders.
func (r *TestReport) cover(report cover.Report, s *suite) {
	covered, all := 0, 0
	for file, f := range report.Files {
		if !s.own[file] {
			continue
		}
		covered += f.CoveredLines
		all += f.CoveredLines + f.NotCoveredLines
		for _, gap := range f.NotCovered {
			r.NotCovered = append(r.NotCovered, Lines{File: file, From: gap.Start.Row, To: gap.End.Row})
		}
	}
	if all > 0 {
		r.Coverage = 100 * float64(covered) / float64(all)
	}
	slices.SortFunc(r.NotCovered, func(a, b Lines) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.From, b.From)) })
	joined := r.NotCovered[:0]
	for _, gap := range r.NotCovered {
		if last := len(joined) - 1; last >= 0 && joined[last].File == gap.File && gap.From <= joined[last].To+1 {
			joined[last].To = max(joined[last].To, gap.To)
			continue
		}
		joined = append(joined, gap)
	}
	r.NotCovered = joined
}
