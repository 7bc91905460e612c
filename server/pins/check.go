package pins

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// State is how a tool that a server lists stands to its pin.
type State string

// The states. All but Pinned and Gone are to be withheld.
const (
	Pinned     State = "pinned"     // as it was approved
	New        State = "new"        // not among the pinned tools of the server
	Drifted    State = "drifted"    // not as it was approved
	Unreadable State = "unreadable" // cannot be compared, or is listed twice
	Gone       State = "gone"       // pinned, and the server lists it no more
)

// Finding is what became of one tool.
type Finding struct {
	Tool    string // as the server wrote it; "" where that cannot be read
	State   State
	Digest  string   // SHA-256 in hexadecimal of the tool as it is listed, or of the pin if it is Gone; "" if Unreadable
	Members []string // what has drifted, by name of the tool's member, sorted
	Fault   error    // why it is Unreadable

	was, now definition
}

// Withheld says that the tool must neither be advertised nor called. See Refusal for the
// tools of a list.
func (f Finding) Withheld() bool { return f.State != Pinned && f.State != Gone }

// Reason says why a tool is withheld: one line of ASCII, 256 bytes at most, in which
// nothing of the server stands unquoted. It is "" for tools that are not withheld.
func (f Finding) Reason() string {
	switch f.State {
	case New:
		return "the tool is not among those that were approved for this server; approve it as " + f.Digest
	case Drifted:
		const frame = "the tool is not what was approved ( changed); approve it as "
		return "the tool is not what was approved (" + listed(f.Members, maxReason-len(frame)-len(f.Digest)) + " changed); approve it as " + f.Digest
	case Unreadable:
		return cut(fmt.Sprintf("the tool cannot be compared with what was approved: %v", f.Fault), maxReason)
	case Pinned, Gone:
	}
	return ""
}

// listed names members in so many bytes.
func listed(members []string, limit int) string {
	var shown []string
	for i, member := range members {
		shown = append(shown, quote(member, maxShownName))
		rest := fmt.Sprintf(" and %d more", len(members)-i)
		if len(strings.Join(shown, ", "))+len(rest) > limit {
			return strings.Join(shown[:i], ", ") + rest
		}
	}
	return strings.Join(shown, ", ")
}

// Refusal says why a tool of the list is to be withheld, by the findings for that list as
// Check returns them. It is nil only for a tool that is Pinned: one that was not compared
// is withheld, too. So with no findings, as where Check fails, all are.
func Refusal(findings []Finding, tool string) error {
	i, found := slices.BinarySearchFunc(findings, tool, func(f Finding, name string) int { return strings.Compare(f.Tool, name) })
	switch {
	case !found || tool == "" || findings[i].State == Gone:
		return errors.New("the tool was not compared with what was approved")
	case findings[i].State == Pinned:
		return nil
	}
	return errors.New(findings[i].Reason())
}

// Definitions returns the tool as it is pinned and as it is listed, canonical but for
// white space and escapes of what does not show itself. Each is nil if there is none.
func (f Finding) Definitions() (was, now []byte) {
	if f.was.name != "" {
		was = f.was.text()
	}
	if f.now.name != "" {
		now = f.now.text()
	}
	return was, now
}

// compare returns a finding for each tool that is listed or pinned, sorted by name.
func compare(pins map[string]definition, entries [][]byte) []Finding {
	var findings []Finding
	times := map[string]int{}
	for _, entry := range entries {
		now, err := readDefinition(entry)
		if times[now.name]++; now.name == "" || times[now.name] == 1 {
			findings = append(findings, find(pins, now, err))
		}
	}
	for i, f := range findings {
		if n := times[f.Tool]; n > 1 && f.Tool != "" {
			// Which of them is called cannot be known.
			findings[i] = Finding{Tool: f.Tool, State: Unreadable, Fault: errors.New("the server lists " + strconv.Itoa(n) + " tools of this name"), was: f.was}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		if times[name] == 0 {
			findings = append(findings, Finding{Tool: name, State: Gone, Digest: pins[name].digest, was: pins[name]})
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return strings.Compare(a.Tool, b.Tool) })
	return findings
}

func find(pins map[string]definition, now definition, err error) Finding {
	was, known := pins[now.name]
	f := Finding{Tool: now.name, was: was}
	switch {
	case err != nil:
		f.State, f.Fault = Unreadable, err
		return f
	case !known:
		f.State = New
	case was.digest == now.digest:
		f.State = Pinned
	default:
		f.State, f.Members = Drifted, differing(was, now)
	}
	f.Digest, f.now = now.digest, now
	return f
}
