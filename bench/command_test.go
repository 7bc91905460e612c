package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sallyport-mcp/sallyport/bench/internal/peers"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
)

func bench(t *testing.T, arguments ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, progress bytes.Buffer
	c := newCommand()
	c.SetArgs(arguments)
	c.SetOut(&out)
	c.SetErr(&progress)
	err = c.ExecuteContext(context.Background())
	return out.String(), progress.String(), err
}

func TestWrongUse(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		want      string
	}{
		"no such shape":      {[]string{"--shapes", "nothing"}, `no shape matches "nothing"`},
		"no expression":      {[]string{"--shapes", "("}, "--shapes: error parsing regexp"},
		"unknown flag":       {[]string{"--fast"}, "unknown flag: --fast"},
		"unexpected operand": {[]string{"tiny"}, `unknown command "tiny"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := bench(t, c.arguments...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if out != "" {
				t.Errorf("output besides the error: %s", out)
			}
		})
	}
}

// One run through everything that belongs to a shape.
func TestOneShape(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the tests of the engine")
	}
	out, progress, err := bench(t, "--quick", "--json", "--shapes", "^tiny")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(progress, "measure tiny_193B") {
		t.Errorf("progress does not name the shape: %s", progress)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(r.Cases) != 1 || r.System != nil {
		t.Fatalf("%d cases, system %v; want one and nothing else", len(r.Cases), r.System)
	}
	rows := map[string]report.Row{}
	for _, row := range r.Cases[0].Rows {
		rows[row.Candidate] = row
	}
	for _, name := range []string{peers.HandName, peers.OursName, peers.ForgetfulName, "decode", "rules_remembered", "rules_asked", "schema"} {
		row, found := rows[name]
		if !found || row.Times == nil || row.Times.Min <= 0 || row.Ratio <= 0 || row.Memory == nil {
			t.Errorf("%s: row %+v has no figures", name, row)
		}
	}
	if r := rows[peers.HandName].Ratio; r != 1 {
		t.Errorf("the lower bound is %g times itself", r)
	}
}
