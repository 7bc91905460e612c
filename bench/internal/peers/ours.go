package peers

import (
	"context"

	"github.com/sallyport-mcp/sallyport/bench/internal/hand"
	"github.com/sallyport-mcp/sallyport/engine"
)

// Names of the candidates that reports refer to.
const (
	HandName      = "hand-written Go (lower bound)"
	OursName      = "sallyport"
	ForgetfulName = "sallyport, rules asked each time"
	TokensName    = "hand-written on jsontext"
)

// ours is the whole verdict, from raw bytes to the list of violations. An engine
// remembers inputs on which no rule has findings; with the same payload again and
// again it always remembers, so one that does not is measured too.
func ours(e *engine.Engine) func(Case) (Contestant, error) {
	ctx := context.Background()
	return func(c Case) (Contestant, error) {
		return judge(func() bool {
			_, err := e.Validate(ctx, c.Tool, c.Payload)
			return err == nil
		}), nil
	}
}

// handWritten compiles what is in force, with the validator alone.
func (w *World) handWritten() error {
	documents := map[string][]byte{}
	for _, tool := range w.Engine.Tools() {
		documents[tool], _ = w.Engine.AdvertisedSchema(tool)
	}
	w.byHand = map[string]*hand.Judge{}
	for name, decode := range map[string]hand.Decoder{HandName: hand.Decode, TokensName: hand.DecodeTokens} {
		j, err := hand.New(decode, documents)
		if err != nil {
			return err
		}
		w.byHand[name] = j
	}
	return nil
}

func (w *World) hand(name string) func(Case) (Contestant, error) {
	return func(c Case) (Contestant, error) {
		j := w.byHand[name]
		return judge(func() bool {
			_, found := j.Judge(c.Tool, c.Payload)
			return len(found) == 0
		}), nil
	}
}
