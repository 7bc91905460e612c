package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What the gateway can be told by flag can stand in the file, under the same name and
// with the same words.
func TestGatewayFlagsAreOptions(t *testing.T) {
	options := &cobra.Command{}
	new(configFlags).register(options)
	gateway := newGateway(streams{})
	gateway.Flags().VisitAll(func(f *pflag.Flag) {
		option := options.Flags().Lookup(f.Name)
		if option == nil {
			t.Errorf("--%s of the gateway cannot be set in a file", f.Name)
			return
		}
		if c, ok := f.Value.(*choice); ok && c.Type() != option.Value.Type() {
			t.Errorf("--%s is %s for the gateway, and %s in a file", f.Name, c.Type(), option.Value.Type())
		}
	})
}
