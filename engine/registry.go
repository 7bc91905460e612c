package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-mcp/sallyport/engine/internal/payload"
	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
	"github.com/sallyport-mcp/sallyport/engine/internal/schema"
)

// tool is one entry of the registry. Its document is the one truth: these bytes
// are advertised, and these bytes were compiled.
type tool struct {
	document []byte
	schema   *schema.Schema
	timeout  time.Duration // 0: none declared
}

// Policy data may hold long lists.
var dataFileLimits = payload.Limits{
	MaxBytes:        16 << 20,
	MaxDepth:        64,
	MaxValues:       4 << 20,
	MaxNumberLength: 64,
	MaxExponent:     308,
	ListedStrings:   1,
}

// registry holds the tools of one engine.
type registry struct {
	tools       map[string]*tool
	quarantined map[string]string // tool -> why
	findings    []SchemaFinding
}

// SchemaFinding is what is wrong, or doubtful, about the schema document of a tool.
type SchemaFinding struct {
	Tool     string
	Location string // RFC 6901 pointer into the document, "" for the whole of it
	Problem  string
	Remedy   string
	// Fault says that the schema cannot be enforced. Otherwise the finding is a
	// warning: something in the document has no effect, or lets more pass than its
	// author may think.
	Fault bool
}

// String reads "at /properties/a: problem; remedy".
func (f SchemaFinding) String() string {
	return (&schema.CompileError{Location: f.Location, Problem: f.Problem, Remedy: f.Remedy}).Error()
}

// document is the text of one tool's schema, not yet looked at.
type document struct {
	tool string
	file string // "" where it comes from a server
	text []byte
	err  error // why there is no text
}

// fileDocuments reads every .json file at the root of fsys.
func fileDocuments(fsys fs.FS) ([]document, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, entry := range entries {
		name, isSchema := strings.CutSuffix(entry.Name(), ".json")
		if entry.IsDir() || !isSchema {
			continue
		}
		d := document{tool: name, file: entry.Name()}
		if d.text, d.err = fs.ReadFile(fsys, entry.Name()); name == "" {
			d.err = errors.New("the file name has no stem to name the tool")
		}
		documents = append(documents, d)
	}
	if len(documents) == 0 {
		return nil, errors.New("there is no .json file: put one file per tool into the folder, named <tool>.json")
	}
	return documents, nil
}

// serverDocuments takes the schemas of tools as a server lists them. Which of two
// tools of one name is called cannot be known, so neither can be judged.
func serverDocuments(tools []ServerTool) []document {
	times := map[string]int{}
	for _, t := range tools {
		times[t.Name]++
	}
	var documents []document
	for _, t := range tools {
		d := document{tool: t.Name, text: t.InputSchema}
		switch n := times[t.Name]; {
		case n == 0: // has been seen
			continue
		case n > 1 && t.Name != "":
			d.err = fmt.Errorf("the server lists %d tools of this name", n)
			times[t.Name] = 0
		case t.Fault != nil:
			d.err = t.Fault
		case t.Name == "":
			d.err = errors.New("the server lists a tool without a name")
		case t.InputSchema == nil:
			d.err = errors.New("the server lists the tool without an inputSchema")
		}
		documents = append(documents, d)
	}
	return documents
}

// loadRegistry compiles the documents. Where all have to be good the error holds
// the faults of all of them; else a faulty one puts its tool in quarantine.
func (s *settings) loadRegistry(reading *policy.Reading) (*registry, error) {
	documents := serverDocuments(s.serverTools)
	if s.schemas != nil {
		var err error
		if documents, err = fileDocuments(s.schemas); err != nil {
			return nil, fmt.Errorf("load schemas: %w", err)
		}
	}
	r := &registry{tools: map[string]*tool{}, quarantined: map[string]string{}}
	var faults []error
	var all schema.Size
	for _, d := range documents {
		t, warnings, err := s.newTool(d, reading)
		if err == nil {
			err = addSize(&all, t.schema.Size(), &reading.Schemas)
		}
		if err != nil {
			label := d.file
			if label == "" {
				label = printable(d.tool)
			}
			faults = append(faults, prefixed("load schemas: "+label+": ", err)...)
			r.quarantine(d.tool, err)
			continue
		}
		r.tools[d.tool] = t
		for _, w := range warnings {
			r.findings = append(r.findings, SchemaFinding{Tool: d.tool, Location: w.Location, Problem: w.Problem, Remedy: w.Remedy})
		}
	}
	if s.loadPolicy == AllOrNothing && len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	slices.SortStableFunc(r.findings, func(a, b SchemaFinding) int { return strings.Compare(a.Tool, b.Tool) })
	return r, nil
}

// addSize adds what one tool takes to what those before it take. An error means that it is
// too much; a small tool may still have room after a large one.
func addSize(all *schema.Size, one schema.Size, limits *policy.Schemas) error {
	sum := schema.Size{Subschemas: all.Subschemas + one.Subschemas, PatternStates: all.PatternStates + one.PatternStates}
	switch {
	case sum.Subschemas > limits.MaxSubschemasInAll:
		return fmt.Errorf("it has %d subschemas, and with those of the tools before it more than %d; offer fewer tools, or raise schemas.max_subschemas_in_all", one.Subschemas, limits.MaxSubschemasInAll)
	case sum.PatternStates > limits.MaxPatternStatesInAll:
		return fmt.Errorf("its patterns have %d states, and with those of the tools before it more than %d; use shorter ones, or raise schemas.max_pattern_states_in_all", one.PatternStates, limits.MaxPatternStatesInAll)
	}
	*all = sum
	return nil
}

// longestQuarantine bounds what a call of a tool in quarantine is told, in bytes.
const longestQuarantine = 219

// WithheldError is the Fault of a ServerTool that is withheld although its schema may be
// sound, such as one that is not what has been approved.
type WithheldError struct {
	Reason string // continues "the tool is in quarantine, since"
}

// Error returns the reason.
func (e *WithheldError) Error() string { return e.Reason }

// quarantine records why a tool cannot be judged.
func (r *registry) quarantine(name string, err error) {
	faults := separate(err)
	for _, fault := range faults {
		found := SchemaFinding{Tool: name, Problem: printable(fault.Error()), Fault: true}
		var c *schema.CompileError
		if errors.As(fault, &c) {
			found.Location, found.Problem, found.Remedy = c.Location, c.Problem, c.Remedy
		}
		r.findings = append(r.findings, found)
	}
	const prefix = "its schema cannot be enforced: "
	var withheld *WithheldError
	why := ""
	if errors.As(err, &withheld) {
		why = cut(printable(withheld.Reason), longestQuarantine)
	} else {
		why = prefix + cut(printable(faults[0].Error()), longestQuarantine-len(prefix))
		if len(faults) > 1 {
			why += fmt.Sprintf(" (and %d more)", len(faults)-1)
		}
	}
	if name != "" { // else there is no such tool to call
		r.quarantined[name] = why
	}
}

// separate takes joined errors apart.
func separate(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, inner := range joined.Unwrap() {
		all = append(all, separate(inner)...)
	}
	return all
}

// prefixed gives each of joined errors the prefix, so that each line of the whole
// report reads on its own.
func prefixed(prefix string, err error) []error {
	all := separate(err)
	for i := range all {
		all[i] = fmt.Errorf("%s%w", prefix, all[i])
	}
	return all
}

func (s *settings) newTool(d document, reading *policy.Reading) (*tool, []schema.Warning, error) {
	if d.err != nil {
		return nil, nil, d.err
	}
	limits := documentLimits(reading)
	decoded, err := decodeDocument(d.text, limits)
	if err != nil {
		return nil, nil, err
	}
	text := d.text
	if binding := reading.EnumBindings[d.tool]; len(binding) > 0 {
		if text, err = bindEnums(text, binding); err != nil {
			return nil, nil, err
		}
		if decoded, err = decodeDocument(text, limits); err != nil {
			return nil, nil, err
		}
	}
	options := s.schemaOptions(d.tool, reading)
	warnings, err := schema.CheckRoot(d.tool, decoded, options)
	if err != nil {
		return nil, nil, err
	}
	timeout, err := declaredTimeout(decoded)
	if err != nil {
		return nil, nil, err
	}
	compiled, more, err := schema.Compile(d.tool, decoded, options)
	if err != nil {
		return nil, nil, err
	}
	return &tool{document: append([]byte(nil), text...), schema: compiled, timeout: timeout}, append(warnings, more...), nil
}

func documentLimits(reading *policy.Reading) payload.Limits {
	return payload.Limits{
		MaxBytes:        reading.Schemas.MaxBytes,
		MaxDepth:        reading.Schemas.MaxDepth,
		MaxValues:       reading.Schemas.MaxBytes,
		MaxNumberLength: reading.MaxNumberLength,
		MaxExponent:     reading.MaxExponent,
		ListedStrings:   1,
	}
}

func (s *settings) schemaOptions(tool string, reading *policy.Reading) schema.Options {
	o := schema.Options{
		Default:      schema.Draft7,
		Backtracking: reading.Schemas.BacktrackingPatterns[tool],
		Limits: schema.Limits{
			Subschemas:    reading.Schemas.MaxSubschemas,
			EnumValues:    reading.Schemas.MaxEnumValues,
			Compile:       time.Duration(reading.Schemas.MaxCompileMilliseconds) * time.Millisecond,
			Steps:         reading.Schemas.MaxSteps,
			StepsPerValue: reading.Schemas.MaxStepsPerValue,
			Validate:      time.Duration(reading.Schemas.MaxValidationMilliseconds) * time.Millisecond,
		},
	}
	if s.schemas == nil {
		o.Default, o.OpenRoot, o.CapTexts = schema.Draft2020, true, true
	}
	switch s.dialect {
	case Draft7:
		o.Declared = schema.Draft7
	case Draft202012:
		o.Declared = schema.Draft2020
	}
	if s.formats == AnnotateFormats {
		o.Formats = schema.AnnotateFormats
	}
	return o
}

// decodeDocument reads a JSON document of the operator's as strictly as a payload.
func decodeDocument(document []byte, limits payload.Limits) (any, error) {
	result := payload.Decode(document, limits)
	facts := result.Facts
	switch {
	case facts.Complete:
		return result.Value, nil
	case facts.Fault != nil:
		line, column := position(document, facts.Fault.Offset)
		at := ""
		if facts.Fault.Path != "" {
			at = " at " + printable(facts.Fault.Path)
		}
		return nil, fmt.Errorf("line %d, column %d%s: not valid JSON: %s", line, column, at, strings.ReplaceAll(facts.Fault.Code, "_", " "))
	case facts.Stop == payload.StopValues:
		return nil, fmt.Errorf("has more than %d values", limits.MaxValues)
	case facts.Stop == payload.StopDepth:
		return nil, fmt.Errorf("at %s: nested deeper than %d levels", printable(facts.Deepest), limits.MaxDepth)
	}
	return nil, fmt.Errorf("larger than %d bytes", limits.MaxBytes)
}

func position(text []byte, offset int) (line, column int) {
	before := string(text[:min(offset, len(text))])
	line = 1 + strings.Count(before, "\n")
	return line, len(before) - strings.LastIndexByte(before, '\n')
}

// declaredTimeout reads timeoutSeconds, the time that one call of the tool may
// take: a number above 0, in seconds.
func declaredTimeout(decoded any) (time.Duration, error) {
	root, _ := decoded.(map[string]any)
	value, declared := root["timeoutSeconds"]
	if !declared {
		return 0, nil
	}
	number, ok := value.(json.Number)
	if !ok {
		return 0, errors.New("at /timeoutSeconds: must be a number of seconds")
	}
	seconds, err := number.Float64()
	if err != nil || seconds*float64(time.Second) < 1 || seconds > math.MaxInt64/float64(time.Second)/2 {
		return 0, fmt.Errorf("at /timeoutSeconds: %s is not a number of seconds above 0 that a clock can count", number)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
