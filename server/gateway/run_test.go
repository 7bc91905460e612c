package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/server"
	"github.com/sallyport-mcp/sallyport/server/config"
)

// What a configuration says where it says nothing is what the gateway does then.
func TestDefaultsOfTheConfiguration(t *testing.T) {
	s, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Limits{
		BodyBytes: server.MaxMessageBytes, HeaderBytes: DefaultMaxHeaderBytes, HeaderTimeout: DefaultHeaderTimeout,
		IdleTimeout: DefaultIdle, ShutdownGrace: DefaultGrace, MaxChildren: DefaultChildren, ChildIdle: DefaultChildIdle,
	}
	if diff := cmp.Diff(want, s.Listen.Limits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
