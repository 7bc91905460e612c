package stages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/benchmark/parse"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
)

const output = `goos: linux
pkg: github.com/sallyport-mcp/sallyport/engine
BenchmarkStages/tiny_193B/decode-2         	      50	      1090 ns/op	     888 B/op	      15 allocs/op
BenchmarkStages/tiny_193B/rules_asked-2    	      50	    110942 ns/op	   31445 B/op	     679 allocs/op
PASS
`

func TestRowsFollowTheOrderOfACall(t *testing.T) {
	s := Stages{shape: "tiny_193B", samples: map[string][]parse.Benchmark{}}
	again := "BenchmarkStages/tiny_193B/decode-2 50 1000 ns/op 888 B/op 15 allocs/op\n"
	for _, text := range []string{output, again} {
		if err := s.read([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	want := []report.Row{
		{Candidate: "decode", Stage: true, Rounds: 2, Times: &measure.Summary{Min: 1000, Median: 1045}, Memory: &measure.Memory{Bytes: 888, Allocs: 15}},
		{Candidate: "rules_asked", Stage: true, Rounds: 1, Times: &measure.Summary{Min: 110942, Median: 110942}, Memory: &measure.Memory{Bytes: 31445, Allocs: 679}},
	}
	if diff := cmp.Diff(want, s.Rows()); diff != "" {
		t.Error(diff)
	}
}

func TestNoFiguresIsAnError(t *testing.T) {
	s := Stages{shape: "none", samples: map[string][]parse.Benchmark{}}
	if err := s.read([]byte("PASS\n")); err == nil {
		t.Error("a run that measured nothing is taken for a run")
	}
}
