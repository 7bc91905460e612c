package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/engine/internal/policy"
)

// Exempted is a finding of a rule that does not count.
type Exempted struct {
	Rule string `json:"rule"`
	Path string `json:"path"` // RFC 6901 pointer, fit to show as a Violation's is
	// By names the entry of the policy data that waives it: its name in
	// exemptions.register, or "exemptions/allow_unsafe_args" or "disabled_rules".
	By string `json:"by"`
}

// WaiverKind says what an entry of the policy data does.
type WaiverKind string

// The two kinds.
const (
	// Exemption: findings do not count (exemptions.register).
	Exemption WaiverKind = "exemptions/register"
	// PermissiveUntil: a rejected call is logged and passed (permissive_until).
	PermissiveUntil WaiverKind = "permissive_until"
)

// Waiver is an entry of the policy data that waives rules for a while.
type Waiver struct {
	Kind    WaiverKind
	Name    string
	Tools   []string // "*" for all
	Rules   []string
	Paths   []string // patterns of RFC 6901 pointers; none for the whole call
	Owner   string
	Reason  string
	Expires string // the first day, in UTC, on which it no longer holds, as 2026-12-31
	InForce bool   // today, for the tools that it names
}

// Waivers returns the entries, by kind and name, those that have ended among them.
func (e *Engine) Waivers() []Waiver {
	var list []Waiver
	today := e.days.today()
	for _, w := range e.reading.Waivers {
		list = append(list, Waiver{
			Kind: WaiverKind(w.Kind), Name: w.Name, Tools: slices.Clone(w.Tools), Rules: slices.Clone(w.Rules), Paths: slices.Clone(w.Paths),
			Owner: w.Owner, Reason: w.Reason, Expires: w.Expires, InForce: today < w.Expires,
		})
	}
	return list
}

// announceWaivers reports what makes this engine weaker than the rules are.
func (e *Engine) announceWaivers() {
	for _, w := range e.Waivers() {
		message := "rules are waived"
		if !w.InForce {
			message = "an entry that waives rules has ended"
		}
		e.logger.Warn(message, zap.String("entry", string(w.Kind)+"/"+w.Name), zap.Strings("rules", w.Rules), zap.Strings("tools", w.Tools),
			zap.Strings("paths", w.Paths), zap.String("owner", w.Owner), zap.String("expires", w.Expires))
	}
}

// exemptedOf returns the findings that do not count, fit to show.
func (e *Engine) exemptedOf(verdict policy.Verdict) []Exempted {
	var list []Exempted
	for _, x := range verdict.Exempted {
		list = append(list, Exempted{Rule: x.Rule, Path: cut(printable(x.Path), e.reading.MaxPathBytes), By: x.By})
	}
	return list
}

// maxLoggedExempted is how many of the findings of one call are logged one by one.
const maxLoggedExempted = 100

// noteExempted counts and logs the findings of one call that do not count.
func (e *Engine) noteExempted(tool string, j *judgement) {
	if len(j.exempted) == 0 {
		return
	}
	e.exempted.add(j.exempted)
	e.logger.Info("findings are exempted", zap.String("tool", printable(cut(tool, e.reading.MaxToolNameBytes))), zap.Int("findings", len(j.exempted)),
		zap.Any("exempted", j.exempted[:min(len(j.exempted), maxLoggedExempted)]))
}

// exemptedCounts counts findings by what they are exempt by.
type exemptedCounts struct {
	mu sync.Mutex
	by map[string]uint64
}

func (c *exemptedCounts) add(list []Exempted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]uint64{}
	}
	for _, x := range list {
		c.by[x.By]++
	}
}

// ExemptedCounts returns how many findings did not count since the engine was built, by the
// entry that waives them (Exempted.By).
func (e *Engine) ExemptedCounts() map[string]uint64 {
	e.exempted.mu.Lock()
	defer e.exempted.mu.Unlock()
	counts := make(map[string]uint64, len(e.exempted.by))
	for by, n := range e.exempted.by {
		counts[by] = n
	}
	return counts
}

// days tells the day, and writes it once a day.
type days struct {
	clock func() time.Time
	last  atomic.Pointer[day]
}

type day struct {
	number int64 // since 1970-01-01
	text   string
}

const secondsPerDay = 24 * 60 * 60

// today returns the day in UTC, as 2026-12-31.
func (d *days) today() string {
	now := d.clock()
	number := now.Unix() / secondsPerDay
	if last := d.last.Load(); last != nil && last.number == number {
		return last.text
	}
	text := now.UTC().Format(time.DateOnly)
	d.last.Store(&day{number, text})
	return text
}
