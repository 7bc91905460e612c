package peers

import (
	"fmt"

	"github.com/google/cel-go/cel"

	"github.com/sallyport-mcp/sallyport/bench/internal/hand"
)

// celRules says of the facts what the deny rules say, as one boolean.
const celRules = `facts.registered && facts.type == "object" && facts.bytes <= 65536 && facts.depth <= 10 && facts.controls == 0 &&
	(tool != "bernstein_create_subtask" || !has(payload.role) || payload.role in roles)`

// prepareCEL decodes by hand, as CEL has no way to walk a value recursively, and
// evaluates the rules on the facts. There is no schema and no list of violations.
func prepareCEL(c Case) (Contestant, error) {
	env, err := cel.NewEnv(
		cel.Variable("tool", cel.StringType),
		cel.Variable("facts", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("payload", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("roles", cel.ListType(cel.StringType)),
	)
	if err != nil {
		return nil, err
	}
	compiled, issues := env.Compile(celRules)
	if issues.Err() != nil {
		return nil, fmt.Errorf("cel: %w", issues.Err())
	}
	program, err := env.Program(compiled)
	if err != nil {
		return nil, err
	}
	return judge(func() bool {
		object, facts, fault := hand.Object(hand.Decode, c.Payload, hand.MaxBytes)
		if fault != nil {
			return false
		}
		result, _, err := program.Eval(map[string]any{
			"tool":    c.Tool,
			"payload": object,
			"roles":   hand.Roles,
			"facts": map[string]any{
				"registered": true, "type": "object", "bytes": facts.Bytes, "depth": facts.Depth, "controls": facts.Total,
			},
		})
		return err == nil && result.Value() == true
	}), nil
}
