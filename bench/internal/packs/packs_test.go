package packs_test

import (
	"context"
	"testing"
	"time"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/packs"
)

func TestRun(t *testing.T) {
	cases, err := packs.Run(context.Background(), measure.Plan{Rounds: 1, Sample: time.Microsecond, Budget: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		size := []int{packs.Small, packs.Large}[i%2]
		if c.Bytes < size*3/4 || c.Bytes > size {
			t.Errorf("%s: %d bytes, want some %d", c.Name, c.Bytes, size)
		}
		for _, row := range c.Rows {
			if row.Times == nil || row.Times.Min <= 0 || row.Ratio <= 0 {
				t.Errorf("%s: %+v has no figures", c.Name, row)
			}
		}
	}
}
