// Package measure times subjects against each other within one run, so that noise of
// the machine hits all of them alike. It knows nothing of what it times.
package measure

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Subject can do one thing many times.
type Subject interface {
	// Run does it n times and returns how long that took altogether.
	Run(n int) (time.Duration, error)
}

// Local is a subject within this process, so that its memory can be measured.
type Local interface{ Local() }

// Func is a local subject.
type Func func()

// Local implements Local.
func (Func) Local() {}

// Run implements Subject.
func (f Func) Run(n int) (time.Duration, error) {
	start := time.Now()
	for range n {
		f()
	}
	return time.Since(start), nil
}

// Plan says how much is measured.
type Plan struct {
	Rounds int           // samples of each subject
	Sample time.Duration // how long one sample takes at least
	Budget time.Duration // for all samples of one subject; the slow ones get fewer rounds
}

// leastRounds are measured whatever they take: a machine may stand still for seconds, and
// what it did then must not be the only sample.
const leastRounds = 3

// Result is what one subject takes.
type Result struct {
	Rounds int
	Times  Summary // nanoseconds of one run
	Memory *Memory // nil for a subject in another process
}

// Summary describes samples.
type Summary struct {
	Min    float64 `json:"min_ns"`
	Median float64 `json:"median_ns"`
}

// Memory is what one run allocates.
type Memory struct {
	Bytes  float64 `json:"bytes"`
	Allocs float64 `json:"allocs"`
}

// Interleave measures the subjects in turns: one sample of each, then the next round.
// The results are in the order of the subjects.
func Interleave(p Plan, subjects []Subject) ([]Result, error) {
	results := make([]Result, len(subjects))
	samples := make([][]float64, len(subjects))
	repeats, spent := make([]int, len(subjects)), make([]time.Duration, len(subjects))
	for i, s := range subjects {
		took, err := warm(s, p)
		if err != nil {
			return nil, err
		}
		repeats[i] = clamp(int(p.Sample/max(took, 1)), 1, 1<<20)
	}
	for range p.Rounds {
		for i, s := range subjects {
			if spent[i] > p.Budget && len(samples[i]) >= leastRounds {
				continue
			}
			took, err := s.Run(repeats[i])
			if err != nil {
				return nil, err
			}
			spent[i] += took
			samples[i] = append(samples[i], float64(took)/float64(repeats[i]))
		}
	}
	for i, s := range subjects {
		var err error
		results[i] = Result{Rounds: len(samples[i]), Times: Summarise(samples[i])}
		if _, here := s.(Local); here {
			if results[i].Memory, err = memory(s, clamp(repeats[i], 1, 200)); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// warm runs a subject until it has had a sample's time, and returns the time of one
// run then: caches are filled, the heap has its size.
func warm(s Subject, p Plan) (time.Duration, error) {
	n := 1
	for {
		took, err := s.Run(n)
		if err != nil {
			return 0, err
		}
		if took >= p.Sample || n >= 1<<20 {
			return took / time.Duration(n), nil
		}
		n *= 2
	}
}

func clamp(n, least, most int) int { return min(max(n, least), most) }

// Summarise sorts the samples and returns what describes them; there has to be one.
func Summarise(samples []float64) Summary {
	slices.Sort(samples)
	return Summary{Min: samples[0], Median: Quantile(samples, 0.5)}
}

// Quantile returns the value below which the share q of the sorted samples lies,
// interpolated between the two nearest.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		panic(fmt.Sprintf("measure: quantile %g of no samples", q))
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// memory counts what n runs allocate. Other goroutines would be counted too, so there
// must be none at work.
func memory(s Subject, n int) (*Memory, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := s.Run(n); err != nil {
		return nil, err
	}
	runtime.ReadMemStats(&after)
	return &Memory{
		Bytes:  float64(after.TotalAlloc-before.TotalAlloc) / float64(n),
		Allocs: float64(after.Mallocs-before.Mallocs) / float64(n),
	}, nil
}
