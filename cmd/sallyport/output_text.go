package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// textOutput is for people.
type textOutput struct {
	callsOnly
	w      io.Writer
	colour map[string]*color.Color
}

func newTextOutput(w io.Writer, colour bool) *textOutput {
	t := &textOutput{w: w, colour: map[string]*color.Color{
		verdictAccepted: color.New(color.FgGreen),
		verdictRefused:  color.New(color.FgRed, color.Bold),
		verdictBypassed: color.New(color.FgYellow),
	}}
	for _, c := range t.colour {
		if colour {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
	}
	return t
}

// wantsColour follows https://no-color.org: colour on a terminal only, and not
// where NO_COLOR is set to anything.
func wantsColour(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (t *textOutput) call(r result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s", r.Input, showTool(r.Tool), t.colour[r.Verdict].Sprint(r.Verdict))
	if r.Code != 0 {
		fmt.Fprintf(&b, " %d", r.Code)
	}
	b.WriteByte('\n')
	for _, v := range r.Errors {
		fmt.Fprintf(&b, "    %s  %s\n", showPath(v), v.Reason)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "    and %d more\n", r.Omitted)
	}
	for _, repair := range r.Repairs {
		fmt.Fprintf(&b, "    %s\n", repairText(repair))
	}
	for _, x := range r.Exempted {
		fmt.Fprintf(&b, "    %s  does not count, by %s  (%s)\n", showPointer(x.Path), showName(x.By), x.Rule)
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

func (t *textOutput) close(s summary) error {
	noun := "calls"
	if s.calls == 1 {
		noun = "call"
	}
	var notes strings.Builder
	if s.unreadable > 0 {
		fmt.Fprintf(&notes, "; inputs that could not be read: %d", s.unreadable)
	}
	if s.stopped {
		notes.WriteString("; stopped at the first refused call")
	}
	if s.interrupted {
		notes.WriteString("; interrupted")
	}
	_, err := fmt.Fprintf(t.w, "%d %s: %d accepted, %d refused, %d bypassed%s\n", s.calls, noun, s.accepted, s.refused, s.bypassed, &notes)
	return err
}
