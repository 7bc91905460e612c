// Package report holds what was measured, and writes it: as tables for readers, as JSON
// for machines. It measures nothing.
package report

import (
	"encoding/json"
	"io"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
)

// Report is one run.
type Report struct {
	Machine  Machine    `json:"machine"`
	Leaves   []Leaves   `json:"leaves"`
	Cases    []Case     `json:"cases"`
	Packs    []Case     `json:"packs,omitempty"` // ratios are to the rules without packs
	Parallel []Parallel `json:"parallel,omitempty"`
	Reload   []Reload   `json:"reload,omitempty"`
	System   *System    `json:"system,omitempty"`
	Worst    []Worst    `json:"worst,omitempty"`
	Sweeps   []Sweep    `json:"sweeps,omitempty"`
}

// Machine is where the run took place.
type Machine struct {
	Go   string `json:"go"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
}

// Leaves is what a candidate leaves out.
type Leaves struct {
	Candidate string `json:"candidate"`
	What      string `json:"what"`
}

// Case is one payload and what each candidate makes of it.
type Case struct {
	Name     string `json:"name"`
	Bytes    int    `json:"bytes"`
	Accepted bool   `json:"accepted"` // the right verdict
	Rows     []Row  `json:"rows"`
}

// Row is one candidate, or one stage of the product.
type Row struct {
	Candidate string           `json:"candidate"`
	Stage     bool             `json:"stage,omitempty"`
	Note      string           `json:"note,omitempty"` // instead of figures: accepts, refuses, absent
	Why       string           `json:"why,omitempty"`  // it is absent
	Rounds    int              `json:"rounds,omitempty"`
	Times     *measure.Summary `json:"times,omitempty"`
	Memory    *measure.Memory  `json:"memory,omitempty"`
	Ratio     float64          `json:"ratio,omitempty"` // of the minimum to that of the lower bound
}

// Parallel is one payload judged by several goroutines at once.
type Parallel struct {
	Case       string          `json:"case"`
	Goroutines int             `json:"goroutines"`
	Times      measure.Summary `json:"times"` // from one finished call to the next
	Speed      float64         `json:"speed"` // calls per second against those of one goroutine
}

// Reload is the latency of calls with or without a new engine being built beside them.
type Reload struct {
	Background string  `json:"background"`
	Calls      int     `json:"calls"`
	Engines    int     `json:"engines"` // that were built and put in place meanwhile
	P50        float64 `json:"p50_ns"`
	P99        float64 `json:"p99_ns"`
	P999       float64 `json:"p999_ns"`
	Max        float64 `json:"max_ns"`
}

// System is what the command-line program and the start of an engine take.
type System struct {
	Start     measure.Summary `json:"start"` // of the program, with one call checked
	RSS       int64           `json:"rss_bytes"`
	Binary    int64           `json:"binary_bytes"`
	Stripped  int64           `json:"stripped_bytes"`
	Engine    measure.Summary `json:"engine_new"`
	EngineRun measure.Memory  `json:"engine_new_memory"`
}

// Worst is the payload that cost most of those that were tried.
type Worst struct {
	Kind      string  `json:"kind"`
	Bytes     int     `json:"bytes"`
	Time      float64 `json:"time_ns"`
	Allocated float64 `json:"allocated_bytes"`
	Verdict   string  `json:"verdict"`
	Tried     int     `json:"tried"`
	Recipe    string  `json:"recipe"`
}

// Sweep is how cost grows with one quantity.
type Sweep struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
	Grows  bool     `json:"grows"` // cost is expected to be proportional to x, not flat
	Series []Series `json:"series"`
}

// Series is one line of a sweep.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is one measurement.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Compare fills in the ratios to the row of the lower bound, where it has figures.
func (c *Case) Compare(lowerBound string) {
	for _, bound := range c.Rows {
		if bound.Candidate != lowerBound || bound.Times == nil {
			continue
		}
		for i := range c.Rows {
			if c.Rows[i].Times != nil {
				c.Rows[i].Ratio = c.Rows[i].Times.Min / bound.Times.Min
			}
		}
	}
}

// WriteJSON writes the report as one JSON document.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
