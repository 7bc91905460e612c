package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Lock is a lock file: the pins of one or more servers, by name. It reads the file for
// each call, so that approvals take effect at once. It is safe for concurrent use, and
// so is the file, by several processes.
//
// Where a method returns an error nothing is known about any tool, so all of them are to
// be withheld. Errors name the file and the place in it.
type Lock struct {
	path string

	mu   sync.Mutex
	used map[string]bool // the upstreams whose pins have been seen
}

// Open returns the lock file of this path. It need not exist, and is not looked at yet.
func Open(path string) *Lock { return &Lock{path: path, used: map[string]bool{}} }

// Upstreams returns the names of the servers that have pins, sorted; none if there is no
// file.
func (l *Lock) Upstreams() ([]string, error) {
	p, err := l.read()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(p)), nil
}

// Check compares the tools that a server lists, all pages of its answer to tools/list
// (MCP, Tool; each as the server wrote it), with its pins. It writes nothing: where
// there are no pins, every tool is New.
func (l *Lock) Check(upstream string, tools [][]byte) ([]Finding, error) {
	p, err := l.read()
	if err != nil {
		return nil, err
	}
	return compare(p[upstream], tools), nil
}

// TrustOnFirstUse is Check, but pins all tools of a server that has no pins yet. That
// they cannot be written is an error. So is that pins have disappeared that this Lock
// has seen: whoever can delete a file must not get other tools trusted by it.
func (l *Lock) TrustOnFirstUse(upstream string, tools [][]byte) ([]Finding, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := l.read()
	if err != nil {
		return nil, err
	}
	if p[upstream] == nil {
		if p, err = l.first(upstream, tools); err != nil {
			return nil, err
		}
	}
	l.used[upstream] = true
	return compare(p[upstream], tools), nil
}

// first writes the first pins of a server, unless somebody has done so meanwhile.
func (l *Lock) first(upstream string, tools [][]byte) (pinSet, error) {
	if l.used[upstream] {
		return nil, fmt.Errorf("%s: the pins of %s have disappeared; restore the file, or restart to trust what the server lists now", l.path, quote(upstream, maxShownName))
	}
	return l.update(func(p pinSet) (bool, error) {
		if p[upstream] != nil {
			return false, nil
		}
		p[upstream] = map[string]definition{}
		for _, f := range compare(nil, tools) {
			if f.State == New {
				p[upstream][f.Tool] = f.now
			}
		}
		return true, nil
	})
}

// Approval is what somebody has approved: a tool, as it was when it had this digest.
type Approval struct {
	Tool string
	// Digest is that of a Finding, or its first 32 characters or more: fewer could be made
	// to fit two definitions. It ties the approval to what was looked at, since a server
	// may list something else the next time. With "" whatever the list has is approved;
	// that is for a list which cannot change, such as a file.
	Digest string
}

const (
	minDigest = 32
	maxDigest = 64
)

// ParseApproval reads TOOL or TOOL@DIGEST. What follows the last @ is always taken for a
// digest if it could be one, so that no tool can be named like an approval of another.
func ParseApproval(text string) (Approval, error) {
	a := Approval{Tool: text}
	if i := strings.LastIndexByte(text, '@'); i >= 0 && strings.Trim(text[i+1:], "0123456789abcdef") == "" {
		a = Approval{Tool: text[:i], Digest: text[i+1:]}
		if len(a.Digest) < minDigest || len(a.Digest) > maxDigest {
			return Approval{}, fmt.Errorf("%s: a digest has from %d to %d hexadecimal digits", quote(text, maxShownPointer), minDigest, maxDigest)
		}
	}
	if a.Tool == "" {
		return Approval{}, errors.New("the name of the tool is empty")
	}
	return a, nil
}

// Approve pins tools as the list has them, and forgets those that are Gone. It returns
// the findings that were approved, as they were before. It approves all or, with an
// error, nothing.
func (l *Lock) Approve(upstream string, tools [][]byte, approvals ...Approval) ([]Finding, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var approved []Finding
	_, err := l.update(func(p pinSet) (changed bool, err error) {
		findings := compare(p[upstream], tools)
		after := maps.Clone(p[upstream])
		if after == nil {
			after = map[string]definition{}
		}
		for _, a := range approvals {
			f, err := a.find(findings)
			if err != nil {
				return false, err
			}
			if f.State == Gone {
				delete(after, f.Tool)
			} else {
				after[f.Tool] = f.now
			}
			changed = changed || f.State != Pinned
			approved = append(approved, f)
		}
		p[upstream] = after
		return changed, nil
	})
	if err != nil {
		return nil, err
	}
	return approved, nil
}

func (a Approval) find(findings []Finding) (Finding, error) {
	name := quote(a.Tool, maxShownPointer)
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Tool == a.Tool })
	switch {
	case i < 0 || a.Tool == "":
		return Finding{}, fmt.Errorf("there is no tool %s to approve", name)
	case findings[i].State == Unreadable:
		return Finding{}, fmt.Errorf("tool %s cannot be approved: %w", name, findings[i].Fault)
	case a.Digest != "" && (len(a.Digest) < minDigest || !strings.HasPrefix(findings[i].Digest, a.Digest)):
		return Finding{}, fmt.Errorf("tool %s is not the one with digest %s, but %s; look at it anew", name, quote(a.Digest, maxDigest), findings[i].Digest)
	}
	return findings[i], nil
}

// read returns no pins if there is no file.
func (l *Lock) read() (pinSet, error) {
	path, err := l.resolved()
	if err != nil {
		return nil, err
	}
	p, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return pinSet{}, nil
	}
	return p, err
}
