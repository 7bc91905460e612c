package peers

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sallyport-mcp/sallyport/bench/internal/hand"
)

// prepareValidator is what mark3labs/mcp-go does when its input validation is on:
// jsonschema.UnmarshalJSON, which is encoding/json with json.Number, then the same
// validator as ours, then one line of text. mcp-go also hashes the schema in each call
// to find the compiled one, which is left out here.
func prepareValidator(c Case) (Contestant, error) {
	schema, err := hand.Compile(c.Tool, c.Document)
	if err != nil {
		return nil, err
	}
	return judge(func() bool {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.Payload))
		if err != nil {
			return false
		}
		err = schema.Validate(value)
		var broken *jsonschema.ValidationError
		if errors.As(err, &broken) {
			err = errors.New(strings.Join(lines(broken, nil), "; "))
		}
		return err == nil
	}), nil
}

func lines(e *jsonschema.ValidationError, list []string) []string {
	if len(e.Causes) == 0 {
		return append(list, fmt.Sprintf("/%s: %+v", strings.Join(e.InstanceLocation, "/"), e.ErrorKind))
	}
	for _, cause := range e.Causes {
		list = lines(cause, list)
	}
	return list
}
