package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sallyport-mcp/sallyport/server/pins"
)

// pinReport is how the tools of a server stand to their pins.
type pinReport struct {
	Upstream string    `json:"upstream"`
	Approved []pinRow  `json:"approved"` // as they were before
	Tools    []pinRow  `json:"tools"`
	Counts   pinCounts `json:"counts"`
}

type pinCounts struct {
	Pinned     int `json:"pinned"`
	New        int `json:"new"`
	Drifted    int `json:"drifted"`
	Unreadable int `json:"unreadable"`
	Gone       int `json:"gone"`
}

// pinRow is one tool.
type pinRow struct {
	Tool    string      `json:"tool"`
	State   pins.State  `json:"state"`
	Digest  string      `json:"digest,omitempty"`
	Fault   string      `json:"fault,omitempty"`
	Changes []pinChange `json:"changes,omitempty"`
	// The definitions, with --full.
	Pinned json.RawMessage `json:"pinned,omitempty"`
	Listed json.RawMessage `json:"listed,omitempty"`
}

type pinChange struct {
	Severity pins.Severity `json:"severity"`
	Location string        `json:"location"`
	Change   string        `json:"change"`
}

func newPinReport(upstream string, approved, findings []pins.Finding, full bool) pinReport {
	r := pinReport{Upstream: showName(upstream), Approved: []pinRow{}, Tools: []pinRow{}}
	row := newPinRow
	if full {
		row = newFullPinRow
	}
	for _, f := range approved {
		r.Approved = append(r.Approved, row(f))
	}
	for _, f := range findings {
		r.Tools = append(r.Tools, row(f))
		r.Counts.add(f.State)
	}
	return r
}

func newPinRow(f pins.Finding) pinRow {
	r := pinRow{Tool: showName(f.Tool), State: f.State, Digest: f.Digest}
	if f.Fault != nil {
		r.Fault = f.Fault.Error()
	}
	for _, c := range f.Changes() {
		r.Changes = append(r.Changes, pinChange{c.Severity, showName(c.Location), c.Change})
	}
	return r
}

func newFullPinRow(f pins.Finding) pinRow {
	r := newPinRow(f)
	if f.State != pins.Pinned {
		r.Pinned, r.Listed = f.Definitions()
	}
	return r
}

func (c *pinCounts) add(state pins.State) {
	switch state {
	case pins.Pinned:
		c.Pinned++
	case pins.New:
		c.New++
	case pins.Drifted:
		c.Drifted++
	case pins.Gone:
		c.Gone++
	case pins.Unreadable:
		c.Unreadable++
	}
}

// open says that something is left to look at.
func (r pinReport) open() bool { return r.Counts != pinCounts{Pinned: r.Counts.Pinned} }

func (r pinReport) write(w io.Writer, format string) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	var b strings.Builder
	for _, row := range r.Approved {
		row.text(&b, "approved, was "+string(row.State))
	}
	for _, row := range r.Tools {
		if row.State != pins.Pinned {
			row.text(&b, string(row.State))
		}
	}
	c := r.Counts
	fmt.Fprintf(&b, "%s: %d pinned, %d new, %d drifted, %d unreadable, %d gone\n", r.Upstream, c.Pinned, c.New, c.Drifted, c.Unreadable, c.Gone)
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes a tool with what has changed. Its digest is what to approve.
func (r pinRow) text(b *strings.Builder, state string) {
	fmt.Fprintf(b, "%s  %s", showTool(r.Tool), state)
	for _, part := range []string{r.Digest, r.Fault} {
		if part != "" {
			b.WriteString("  " + part)
		}
	}
	b.WriteByte('\n')
	for _, c := range r.Changes {
		fmt.Fprintf(b, "    %s  %s  %s\n", c.Severity, c.Location, c.Change)
	}
	for line := range bytes.Lines(r.difference()) {
		b.WriteString("    " + strings.TrimRight(string(line), "\n") + "\n")
	}
}

// difference is the definition line by line, as in a patch.
func (r pinRow) difference() []byte {
	lines := func(text []byte) []byte {
		if len(text) == 0 {
			return nil
		}
		return append(bytes.Clone(text), '\n')
	}
	patch := diff.Diff("pinned", lines(r.Pinned), "listed", lines(r.Listed))
	if _, body, ok := bytes.Cut(patch, []byte("\n")); ok { // the first line is a command
		return body
	}
	return nil
}
