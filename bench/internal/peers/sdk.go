package peers

import (
	"bytes"
	stdjson "encoding/json"
	"errors"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/segmentio/encoding/json"
)

// sdkMaxDepth is the greatest nesting that the SDK decodes.
const sdkMaxDepth = 1000

// prepareSDK is what the official Go SDK does with the arguments of a tool that was
// added with mcp.AddTool[map[string]any, any]: count brackets, decode with segmentio's
// JSON, apply defaults, validate, encode again, and decode for the handler. The first
// violation ends the check.
func prepareSDK(c Case) (Contestant, error) {
	var schema jsonschema.Schema
	if err := stdjson.Unmarshal(c.Document, &schema); err != nil {
		return nil, err
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, err
	}
	return judge(func() bool {
		var value any = map[string]any{}
		members := value.(map[string]any)
		if sdkUnmarshal(c.Payload, &members) != nil || resolved.ApplyDefaults(&value) != nil || resolved.Validate(&value) != nil {
			return false
		}
		encoded, err := stdjson.Marshal(value)
		if err != nil {
			return false
		}
		var arguments map[string]any
		return sdkUnmarshal(encoded, &arguments) == nil
	}), nil
}

var errTooDeep = errors.New("nested too deep")

func sdkUnmarshal(data []byte, into any) error {
	if nesting(data) > sdkMaxDepth {
		return errTooDeep
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DontMatchCaseInsensitiveStructFields()
	return d.Decode(into)
}

// nesting returns how many brackets outside strings are open at once.
func nesting(data []byte) int {
	open, most := 0, 0
	inString, escaped := false, false
	for _, c := range data {
		switch {
		case escaped:
			escaped = false
		case c == '"':
			inString = !inString
		case inString:
			escaped = c == '\\'
		case c == '{' || c == '[':
			open++
			most = max(most, open)
		case c == '}' || c == ']':
			open--
		}
	}
	return most
}
