package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"math/bits"
	"strings"

	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/sallyport-mcp/sallyport/bench/internal/hand"
	"github.com/sallyport-mcp/sallyport/policies"
)

// prepareRego is how a program usually asks OPA: a prepared query on the shipped
// policies, the input as a Go map, every option at its default. It is fed by the
// decoder of the lower bound and followed by its schema check.
func (w *World) prepareRego(c Case) (Contestant, error) {
	ctx := context.Background()
	options, err := shippedPolicies()
	if err != nil {
		return nil, err
	}
	query, err := rego.New(append(options, rego.Query("data.sallyport.main.verdict"))...).PrepareForEval(ctx)
	if err != nil {
		return nil, err
	}
	schema, err := hand.Compile(c.Tool, c.Document)
	if err != nil {
		return nil, err
	}
	return judge(func() bool {
		object, facts, fault := hand.Object(hand.Decode, c.Payload, hand.MaxBytes)
		results, err := query.Eval(ctx, rego.EvalInput(regoInput(c, object, facts, fault)))
		if err != nil || len(results) != 1 {
			return false
		}
		verdict, _ := results[0].Expressions[0].Value.(map[string]any)
		found, isList := verdict["violations"].([]any)
		if !isList || len(found) > 0 {
			return false
		}
		return len(hand.Schema(schema, object, nil)) == 0
	}), nil
}

func shippedPolicies() ([]func(*rego.Rego), error) {
	text, err := fs.ReadFile(policies.FS, "data.json")
	if err != nil {
		return nil, err
	}
	var data map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&data); err != nil {
		return nil, err
	}
	options := []func(*rego.Rego){rego.Store(inmem.NewFromObject(data))}
	err = fs.WalkDir(policies.FS, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".rego") || strings.HasSuffix(path, "_test.rego") {
			return err
		}
		module, err := fs.ReadFile(policies.FS, path)
		options = append(options, rego.Module(path, string(module)))
		return err
	})
	return options, err
}

// regoInput has the form that policies/input.schema.json gives.
func regoInput(c Case, object map[string]any, f hand.Facts, fault *hand.Violation) map[string]any {
	facts := map[string]any{
		"registered": true, "type": "object", "bytes": f.Bytes, "bytes_counted": true, "values": f.Values, "complete": fault == nil,
		"depth": f.Depth, "deepest": "",
		"control_characters": map[string]any{"strings": controlStrings(f.Controls), "total": f.Total},
		"selected":           map[string]any{},
	}
	input := map[string]any{"tool": c.Tool, "mode": "strict", "today": "2026-12-31", "facts": facts}
	switch {
	case fault == nil:
		input["payload"] = object
	case f.Bytes == 0: // beyond the limit on size
		facts["stop"], facts["bytes"] = "size", len(c.Payload)
	default:
		facts["stop"], facts["fault"] = "fault", map[string]any{"code": "syntax", "path": fault.Path, "offset": 0}
	}
	return input
}

func controlStrings(found []hand.Control) []any {
	list := []any{}
	for _, f := range found {
		in := "value"
		if f.Key {
			in = "key"
		}
		codePoints := []any{}
		for i, set := range f.CodePoints {
			for ; set != 0; set &= set - 1 {
				codePoints = append(codePoints, i<<6+bits.TrailingZeros64(set))
			}
		}
		list = append(list, map[string]any{"path": f.Path, "in": in, "code_points": codePoints, "count": f.Count})
	}
	return list
}
