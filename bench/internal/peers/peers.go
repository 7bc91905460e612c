// Package peers holds the candidates that are measured: the product, what a programmer
// would write by hand, and what users of MCP servers would pick instead. Each file is
// one candidate and says what it leaves out.
//
// It may import the product's public packages; a candidate other than the product
// itself uses nothing of them but the policies and the schema documents.
package peers

import (
	"context"
	"fmt"
	"io/fs"
	"testing/fstest"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/bench/internal/hand"
	"github.com/sallyport-mcp/sallyport/engine"
	"github.com/sallyport-mcp/sallyport/tests/shapes"
	toolschemas "github.com/sallyport-mcp/sallyport/tool_schemas"
)

// Case is one payload with the tool that it is sent to, and the right verdict.
type Case struct {
	Name     string
	Tool     string
	Document []byte // the schema that is in force for the tool
	Payload  []byte
	Accepted bool
}

// Contestant is a candidate that is ready to judge one case.
type Contestant interface {
	Accepts() (bool, error)
	Run(n int) (time.Duration, error) // as measure.Subject
	Close() error
}

// Candidate is something that judges calls.
type Candidate struct {
	Name   string
	Leaves string // what it leaves out, "" for nothing
	// Prepare does once what need not be done in each call, such as compiling the
	// schema. ErrAbsent means that the candidate cannot run on this machine.
	Prepare func(Case) (Contestant, error)
}

// AbsentError says why a candidate cannot run here.
type AbsentError struct{ Why string }

func (e *AbsentError) Error() string { return e.Why }

// World is what all cases share.
type World struct {
	Engine    *engine.Engine
	Cases     []Case
	forgetful *engine.Engine         // remembers no verdicts
	byHand    map[string]*hand.Judge // by name of the candidate
}

// NewWorld builds an engine that knows the bundled tools and one tool for each shape,
// and the cases.
func NewWorld(ctx context.Context) (*World, error) {
	accepted, refused := shapes.All(), shapes.Refused()
	files, err := Schemas(append(accepted, refused...))
	if err != nil {
		return nil, err
	}
	w := &World{}
	options := []engine.Option{engine.WithSchemas(files), engine.WithMode(engine.Strict), engine.WithLogger(zap.NewNop())}
	if w.Engine, err = engine.New(ctx, options...); err != nil {
		return nil, err
	}
	if w.forgetful, err = engine.New(ctx, append(options, engine.WithVerdictMemo(0))...); err != nil {
		return nil, err
	}
	for i, s := range append(accepted, refused...) {
		c := Case{Name: s.Name, Tool: s.Tool, Payload: s.Payload, Accepted: i < len(accepted)}
		if c.Tool == "" {
			c.Tool = s.Name
		}
		document, ok := w.Engine.AdvertisedSchema(c.Tool)
		if !ok {
			return nil, fmt.Errorf("shape %s: there is no tool %s", s.Name, c.Tool)
		}
		c.Document = document
		w.Cases = append(w.Cases, c)
	}
	return w, w.handWritten()
}

// Schemas returns the bundled schemas and those of the shapes, each under the name of
// its shape.
func Schemas(list []shapes.Shape) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	names, err := fs.Glob(toolschemas.FS, "*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(toolschemas.FS, name)
		if err != nil {
			return nil, err
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	for _, s := range list {
		if s.Schema != "" {
			files[s.Name+".json"] = &fstest.MapFile{Data: []byte(s.Schema)}
		}
	}
	return files, nil
}

// Candidates returns all of them, the lower bound first and the product next.
func (w *World) Candidates() []Candidate {
	return []Candidate{
		{Name: HandName, Leaves: "rules that can be read, tested or replaced", Prepare: w.hand(HandName)},
		{Name: OursName, Prepare: ours(w.Engine)},
		{Name: ForgetfulName, Prepare: ours(w.forgetful)},
		{Name: TokensName, Leaves: "rules that can be read, tested or replaced", Prepare: w.hand(TokensName)},
		{Name: "encoding/json + jsonschema/v6", Leaves: "size, depth, control characters, duplicate keys, surrogates", Prepare: prepareValidator},
		{Name: "go-sdk (jsonschema-go)", Leaves: "the same, and all violations but the first", Prepare: prepareSDK},
		{Name: "cel-go on facts", Leaves: "the schema, and any list of violations", Prepare: prepareCEL},
		{Name: "rego.Eval, defaults", Leaves: "capabilities, time-out, deepest pointer", Prepare: w.prepareRego},
		{Name: "python-jsonschema", Leaves: "as encoding/json", Prepare: preparePython},
	}
}

// judge is a contestant within this process.
type judge func() bool

func (j judge) Accepts() (bool, error) { return j(), nil }

func (j judge) Run(n int) (time.Duration, error) {
	start := time.Now()
	for range n {
		j()
	}
	return time.Since(start), nil
}

func (judge) Close() error { return nil }

// Local implements measure.Local.
func (judge) Local() {}
