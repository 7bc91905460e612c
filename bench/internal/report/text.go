package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
)

// WriteText writes the report as tables.
func (r *Report) WriteText(w io.Writer) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	out := &table{w: t}
	out.line("%s %s/%s, %d CPUs; times in nanoseconds; ratio: minimum to that of the lower bound", r.Machine.Go, r.Machine.OS, r.Machine.Arch, r.Machine.CPUs)
	for i := range r.Cases {
		out.cases(&r.Cases[i])
	}
	if len(r.Packs) > 0 {
		out.line("\nrule packs; ratio: minimum to that without packs")
	}
	for i := range r.Packs {
		out.cases(&r.Packs[i])
	}
	out.parallel(r.Parallel)
	out.reload(r.Reload)
	out.worst(r.Worst)
	if r.System != nil {
		out.system(r.System)
	}
	for i := range r.Sweeps {
		out.sweep(&r.Sweeps[i])
	}
	out.leaves(r.Leaves)
	if out.err != nil {
		return out.err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// table writes rows until the first error. The first column is aligned to the left by
// the padding that name gives it.
type table struct {
	w   io.Writer
	err error
}

func (t *table) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// row writes cells. Every cell ends with a tab: that makes it a column.
func (t *table) row(name string, cells ...string) {
	t.line("%s\t%s\t", name, strings.Join(cells, "\t"))
}

const nameWidth = 34

func name(text string) string { return fmt.Sprintf("%-*s", nameWidth, text) }

func (t *table) cases(c *Case) {
	verdict := "refused"
	if c.Accepted {
		verdict = "accepted"
	}
	t.line("\n%s: %d bytes, %s", c.Name, c.Bytes, verdict)
	t.row(name(""), "min", "median", "ratio", "B/op", "allocs/op", "rounds")
	for _, r := range c.Rows {
		label := r.Candidate
		if r.Stage {
			label = "  stage " + label
		}
		if r.Times == nil {
			t.row(name(label), r.Note, "", "", "", "", "")
			continue
		}
		bytes, allocs := "-", "-"
		if r.Memory != nil {
			bytes, allocs = whole(r.Memory.Bytes), whole(r.Memory.Allocs)
		}
		t.row(name(label), whole(r.Times.Min), whole(r.Times.Median), short(r.Ratio), bytes, allocs, strconv.Itoa(r.Rounds))
	}
	for _, r := range c.Rows {
		if r.Why != "" {
			t.line("  %s: %s", r.Candidate, r.Why)
		}
	}
}

func (t *table) leaves(list []Leaves) {
	if len(list) == 0 {
		return
	}
	t.line("\nwhat candidates leave out")
	for _, l := range list {
		t.line("  %s  %s", name(l.Candidate), l.What)
	}
}

func (t *table) parallel(list []Parallel) {
	if len(list) == 0 {
		return
	}
	t.line("\nparallel: time from one finished call to the next")
	t.row(name(""), "goroutines", "min", "median", "speed")
	for _, p := range list {
		t.row(name(p.Case), strconv.Itoa(p.Goroutines), whole(p.Times.Min), whole(p.Times.Median), short(p.Speed))
	}
}

func (t *table) reload(list []Reload) {
	if len(list) == 0 {
		return
	}
	t.line("\nlatency of calls while new engines are built and put in place")
	t.row(name(""), "calls", "engines", "p50", "p99", "p99.9", "max")
	for _, r := range list {
		t.row(name(r.Background), strconv.Itoa(r.Calls), strconv.Itoa(r.Engines), whole(r.P50), whole(r.P99), whole(r.P999), whole(r.Max))
	}
}

func (t *table) system(s *System) {
	const mib = 1 << 20
	t.line("\nprogram and engine")
	rss := "RSS not known here"
	if s.RSS > 0 {
		rss = fmt.Sprintf("%.1f MiB RSS", float64(s.RSS)/mib)
	}
	t.row(name("sallyport check, one call"), milliseconds(s.Start), rss)
	t.row(name("binary"), fmt.Sprintf("%.1f MiB", float64(s.Binary)/mib), fmt.Sprintf("%.1f MiB stripped", float64(s.Stripped)/mib))
	t.row(name("engine.New, bundled tools"), milliseconds(s.Engine), fmt.Sprintf("%.1f MiB allocated", s.EngineRun.Bytes/mib))
}

func (t *table) sweep(s *Sweep) {
	t.line("\n%s (%s)", s.Title, s.Y)
	header := []string{}
	for _, series := range s.Series {
		header = append(header, series.Name)
	}
	t.row(name(s.X), header...)
	for i, p := range s.Series[0].Points {
		cells := []string{}
		for _, series := range s.Series {
			cells = append(cells, short(series.Points[i].Y))
		}
		t.row(name(whole(p.X)), cells...)
	}
}

func (t *table) worst(list []Worst) {
	if len(list) == 0 {
		return
	}
	t.line("\nthe payload that costs most, of those that were tried")
	t.row(name(""), "bytes", "ms", "allocated / bytes", "tried", "verdict")
	for _, w := range list {
		t.row(name(w.Kind), strconv.Itoa(w.Bytes), short(w.Time/1e6), short(w.Allocated/float64(w.Bytes)), strconv.Itoa(w.Tried), w.Verdict)
		t.line("    %s", w.Recipe)
	}
}

func milliseconds(s measure.Summary) string {
	return fmt.Sprintf("%.1f ms (median %.1f)", s.Min/1e6, s.Median/1e6)
}

func whole(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }

// short shows a number with as many digits as are worth reading.
func short(f float64) string {
	if f >= 10 {
		return whole(f)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}
