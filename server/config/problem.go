package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Origin is where a value was set. The zero Origin is the default.
type Origin struct {
	File         string
	Line, Column int    // from 1, columns in characters; 0: the file as a whole
	Variable     string // an environment variable
	Flag         string // with its dashes
}

// String reads "sallyport.yaml:3:5", "SALLYPORT_MODE", "--mode" or "default".
func (o Origin) String() string {
	switch {
	case o.Flag != "":
		return o.Flag
	case o.Variable != "":
		return o.Variable
	case o.File != "" && o.Line == 0:
		return printable(o.File)
	case o.File != "":
		return fmt.Sprintf("%s:%d:%d", printable(o.File), o.Line, o.Column)
	}
	return "default"
}

// Problem is one thing that is wrong with the configuration, or doubtful. It never
// holds a text that somebody set, since that may be a secret; names of keys it does.
type Problem struct {
	Origin  Origin
	Key     string // such as "engine.mode" or "upstreams[0].url"; "" for the file as a whole
	Problem string
	Remedy  string // "" where the problem says it all

	// beyond is set for what a JSON Schema cannot say.
	beyond bool
}

// String reads "sallyport.yaml:3:5: engine.mode: problem; remedy".
func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", p.Origin)
	if p.Key != "" {
		fmt.Fprintf(&b, "%s: ", p.Key)
	}
	b.WriteString(p.Problem)
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// Error holds every fault that was found, in the order of their places.
type Error struct{ Problems []Problem }

// Error has one line per fault.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// sortProblems puts those of the file first, by place, then variables, then flags.
func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		x, y := a.Origin, b.Origin
		return cmp.Or(
			strings.Compare(x.Flag, y.Flag), strings.Compare(x.Variable, y.Variable),
			strings.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column),
		)
	})
}

// longestName bounds how much of a name that somebody wrote is shown, in bytes.
const longestName = 64

// printable makes a name fit for a terminal and a log.
func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.QuoteToASCII(name)
	}
	return name
}

// quoted shows a key that somebody wrote.
func quoted(key string) string {
	text := strconv.QuoteToASCII(key)
	if len(text) > longestName {
		return text[:longestName-4] + `..."`
	}
	return text
}
