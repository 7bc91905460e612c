package pins_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-mcp/sallyport/server/pins"
)

const (
	alpha = `{"name":"alpha","description":"A\u202e.","inputSchema":{"maximum":1.50}}`
	beta  = `{"name":"beta"}`
)

const alphaText = `{
  "version": 1,
  "upstreams": {
    "notes": {
      "tools": {
        "alpha": {
          "digest": "DIGEST",
          "definition": {
            "description": "A\u202e.",
            "inputSchema": {
              "maximum": 1.5
            },
            "name": "alpha"
          }
        }
      }
    }
  }
}
`

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func states(findings []pins.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Tool+" "+string(f.State))
	}
	return strings.Join(all, ", ")
}

func TestFirstUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.lock")
	lock := pins.Open(path)
	findings, err := lock.Check("notes", entries(alpha))
	if err != nil || states(findings) != "alpha new" {
		t.Fatalf("check: %s, %v", states(findings), err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Fatal("check has written the file")
	}
	findings, err = lock.TrustOnFirstUse("notes", entries(alpha))
	if err != nil || states(findings) != "alpha pinned" {
		t.Fatalf("first use: %s, %v", states(findings), err)
	}
	if diff := cmp.Diff(strings.Replace(alphaText, "DIGEST", findings[0].Digest, 1), read(t, path)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	findings, err = lock.TrustOnFirstUse("notes", entries(alpha, beta))
	if err != nil || states(findings) != "alpha pinned, beta new" {
		t.Errorf("second use: %s, %v", states(findings), err)
	}
	findings, err = lock.TrustOnFirstUse("other", entries(beta))
	if err != nil || states(findings) != "beta pinned" {
		t.Errorf("another server: %s, %v", states(findings), err)
	}
	if names, err := lock.Upstreams(); err != nil || !cmp.Equal(names, []string{"notes", "other"}) {
		t.Errorf("upstreams %q, %v", names, err)
	}
}

func TestFirstUseWithholdsWhatCannotBeRead(t *testing.T) {
	lock := pins.Open(filepath.Join(t.TempDir(), "pins.lock"))
	findings, err := lock.TrustOnFirstUse("notes", entries(alpha, beta, beta, `{"name":"deep","x":`+strings.Repeat("[", 99)+strings.Repeat("]", 99)+`}`))
	if err != nil || states(findings) != "alpha pinned, beta unreadable, deep unreadable" {
		t.Errorf("%s, %v", states(findings), err)
	}
}

// A server without tools at first has none that could be trusted later.
func TestFirstUseOfAnEmptyList(t *testing.T) {
	lock := first(t)
	findings, err := lock.TrustOnFirstUse("notes", entries(beta))
	if err != nil || states(findings) != "beta new" {
		t.Errorf("%s, %v", states(findings), err)
	}
}

func TestVanishedPins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.lock")
	lock := pins.Open(path)
	if _, err := lock.TrustOnFirstUse("notes", entries(alpha)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := lock.TrustOnFirstUse("notes", entries(beta))
	want := path + ": the pins of notes have disappeared; restore the file, or restart to trust what the server lists now"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDamagedFile(t *testing.T) {
	digest := check(t, first(t, alpha), alpha)[0].Digest
	good := strings.Replace(alphaText, "DIGEST", digest, 1)
	replaced := func(old, new string) string {
		if strings.Count(good, old) != 1 {
			t.Fatalf("%q is not once in the file", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	const pin = "at /upstreams/notes/tools/alpha"
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", "line 1, column 1: not valid JSON: the text ends too early"},
		"truncated":          {good[:len(good)/2], "not valid JSON: the text ends too early"},
		"not JSON":           {replaced(`"tools": {`, `"tools": {{`), "line 5, column 17: at /upstreams/notes/tools: not valid JSON"},
		"more after it":      {good + "{}", "line 20, column 1: not valid JSON"},
		"no object":          {"[]", "line 1, column 1: not what is expected here"},
		"null":               {"null", "at /version: must be 1: the file is none of pins, or is of another release of sallyport"},
		"later version":      {`{"version": 2, "signatures": []}`, "at /version: must be 1: the file is none of pins, or is of another release of sallyport"},
		"version as a text":  {replaced(`"version": 1`, `"version": "1"`), "at /version: must be 1: the file is none of pins, or is of another release of sallyport"},
		"unknown member":     {replaced(`"version": 1,`, `"version": 1, "\u001bx": 1,`), `line 2, column 17: at "/\x1bx": unknown member`},
		"member of a pin":    {replaced(`"digest"`, `"approved": true, "digest"`), "line 7, column 11: " + pin + "/approved: unknown member"},
		"another case":       {replaced(`"tools"`, `"Tools"`), "line 5, column 7: at /upstreams/notes/Tools: unknown member"},
		"tool twice":         {replaced(`"tools": {`, `"tools": {"alpha": {},`), "line 6, column 9: " + pin + ": the member occurs twice"},
		"no upstreams":       {`{"version": 1}`, "at /upstreams: missing"},
		"upstreams null":     {`{"version": 1, "upstreams": null}`, "at /upstreams: missing"},
		"no tools":           {`{"version": 1, "upstreams": {"notes": {}}}`, "at /upstreams/notes/tools: missing"},
		"no definition":      {`{"version": 1, "upstreams": {"notes": {"tools": {"alpha": {"digest": ""}}}}}`, pin + "/definition: missing"},
		"definition null":    {`{"version": 1, "upstreams": {"notes": {"tools": {"alpha": {"digest": "", "definition": null}}}}}`, pin + "/definition: not an object"},
		"edited definition":  {replaced(`1.5`, `1.6`), pin + "/digest: is not that of the definition: the file was edited, merged or damaged"},
		"edited digest":      {replaced(digest, strings.Repeat("0", 64)), pin + "/digest: is not that of the definition: the file was edited, merged or damaged"},
		"under another name": {replaced(`"alpha": {`, `"beta": {`), "at /upstreams/notes/tools/beta/definition/name: must be the name that the pin stands under"},
		"icons":              {replaced(`"name":`, `"icons": [], "name":`), pin + "/definition/icons: is never pinned"},
		"huge number":        {replaced(`1.5`, `1e9999999999`), pin + "/definition/inputSchema/maximum: a number has an exponent beyond 1000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pins.lock")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			lock := pins.Open(path)
			for what, do := range map[string]func() error{
				"check":     func() error { _, err := lock.Check("notes", entries(alpha)); return err },
				"first use": func() error { _, err := lock.TrustOnFirstUse("another", entries(alpha)); return err },
				"approve": func() error {
					_, err := lock.Approve("notes", entries(alpha), pins.Approval{Tool: "alpha"})
					return err
				},
			} {
				err := do()
				if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.HasSuffix(err.Error(), c.want) {
					t.Errorf("%s: got %v, want %s: %s", what, err, path, c.want)
				}
			}
			if got := read(t, path); got != c.text {
				t.Errorf("the file was changed to %q", got)
			}
		})
	}
}

func TestUnusablePath(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(filepath.Join(folder, "missing", "pins.lock"), link); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(folder, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 64<<20+1); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, want string }{
		"folder":               {folder, folder + ": not a file"},
		"folder is a file":     {filepath.Join(file, "pins.lock"), "not a directory"},
		"folder is missing":    {filepath.Join(folder, "missing", "pins.lock"), "no such file or directory"},
		"link to nowhere":      {link, link + ": a link that leads nowhere"},
		"too large":            {large, large + ": larger than 67108864 bytes"},
		"no file, but a queue": {"/dev/null", "/dev/null: not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pins.Open(c.path).TrustOnFirstUse("notes", entries(alpha))
			if err == nil || !strings.Contains(err.Error(), c.path) || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestReadOnlyFolder(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pins.lock")
	if _, err := pins.Open(path).TrustOnFirstUse("notes", entries(alpha)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, ".pins.lock.writing")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(folder, 0o700) }()
	if os.Geteuid() == 0 {
		t.Skip("SKIPPED: root may write to any folder; TestUnusablePath has folders in which nobody can")
	}
	findings, err := pins.Open(path).TrustOnFirstUse("notes", entries(alpha, beta))
	if err != nil || states(findings) != "alpha pinned, beta new" {
		t.Errorf("what is pinned: %s, %v", states(findings), err)
	}
	if _, err := pins.Open(path).TrustOnFirstUse("other", entries(alpha)); err == nil || !strings.Contains(err.Error(), "write pins to "+path) {
		t.Errorf("first use: %v", err)
	}
	if _, err := pins.Open(path).Approve("notes", entries(alpha, beta), pins.Approval{Tool: "beta"}); err == nil || !strings.Contains(err.Error(), "write pins to "+path) {
		t.Errorf("approve: %v", err)
	}
}

func TestApprove(t *testing.T) {
	const drifted = `{"name":"alpha","description":"B."}`
	list := entries(drifted, beta) // alpha has drifted, beta is new, search is gone
	lock := first(t, alpha, search)
	before := check(t, lock, drifted, beta)
	if states(before) != "alpha drifted, beta new, search gone" {
		t.Fatal(states(before))
	}
	digest := before[0].Digest
	for name, c := range map[string]struct {
		approvals []string
		want      string // states afterwards, or the error
	}{
		"drifted":             {[]string{"alpha"}, "alpha pinned, beta new, search gone"},
		"drifted, by digest":  {[]string{"alpha@" + digest}, "alpha pinned, beta new, search gone"},
		"by half a digest":    {[]string{"alpha@" + digest[:32]}, "alpha pinned, beta new, search gone"},
		"new":                 {[]string{"beta"}, "alpha drifted, beta pinned, search gone"},
		"gone":                {[]string{"search@" + before[2].Digest}, "alpha drifted, beta new"},
		"all":                 {[]string{"alpha", "beta", "search"}, "alpha pinned, beta pinned"},
		"none":                {nil, "alpha drifted, beta new, search gone"},
		"twice":               {[]string{"beta", "beta"}, "alpha drifted, beta pinned, search gone"},
		"digest of what was":  {[]string{"beta", "alpha@" + before[1].Digest}, "tool alpha is not the one with digest " + before[1].Digest + ", but " + digest + "; look at it anew"},
		"unknown":             {[]string{"beta", "\x1bgamma"}, `there is no tool "\x1bgamma" to approve`},
		"digest of nothing":   {[]string{"gamma@" + digest}, "there is no tool gamma to approve"},
		"too short":           {[]string{"alpha@" + digest[:31]}, "alpha@" + digest[:31] + ": a digest has from 32 to 64 hexadecimal digits"},
		"too long":            {[]string{"alpha@" + digest + "0"}, "alpha@" + digest + "0: a digest has from 32 to 64 hexadecimal digits"},
		"no digest behind it": {[]string{"alpha@"}, "alpha@: a digest has from 32 to 64 hexadecimal digits"},
		"no tool before it":   {[]string{"@" + digest}, "the name of the tool is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			lock := first(t, alpha, search)
			got := func() string {
				var approvals []pins.Approval
				for _, text := range c.approvals {
					a, err := pins.ParseApproval(text)
					if err != nil {
						return err.Error()
					}
					approvals = append(approvals, a)
				}
				approved, err := lock.Approve("notes", list, approvals...)
				switch {
				case err != nil && (approved != nil || states(check(t, lock, drifted, beta)) != states(before)):
					return "an error, and some are approved"
				case err != nil:
					return err.Error()
				case len(approved) != len(approvals):
					return "not all are approved"
				}
				return states(check(t, lock, drifted, beta))
			}()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// No tool can be named so that its approval is taken for that of another.
func TestNamesLikeApprovals(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	a, err := pins.ParseApproval("alpha@" + digest)
	if diff := cmp.Diff(pins.Approval{Tool: "alpha", Digest: digest}, a); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	a, err = pins.ParseApproval("alpha@" + digest + "@" + digest)
	if diff := cmp.Diff(pins.Approval{Tool: "alpha@" + digest, Digest: digest}, a); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	a, err = pins.ParseApproval("user@example.com")
	if diff := cmp.Diff(pins.Approval{Tool: "user@example.com"}, a); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestApproveRefusesWhatCannotBeRead(t *testing.T) {
	lock := first(t, alpha)
	_, err := lock.Approve("notes", entries(alpha, beta, beta), pins.Approval{Tool: "beta"})
	if want := "tool beta cannot be approved: the server lists 2 tools of this name"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Approvals take effect for those who have the file open, and keep its mode and the link
// that leads to it.
func TestApproveKeepsModeAndLink(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "pins.lock"), filepath.Join(folder, "link")
	reader := pins.Open(path)
	if _, err := reader.TrustOnFirstUse("notes", entries(alpha)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pins.lock", link); err != nil {
		t.Fatal(err)
	}
	if _, err := pins.Open(link).Approve("notes", entries(alpha, beta), pins.Approval{Tool: "beta"}); err != nil {
		t.Fatal(err)
	}
	findings, err := reader.TrustOnFirstUse("notes", entries(alpha, beta))
	if err != nil || states(findings) != "alpha pinned, beta pinned" {
		t.Errorf("%s, %v", states(findings), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	names, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	left := []string{}
	for _, entry := range names {
		left = append(left, entry.Name())
	}
	if diff := cmp.Diff([]string{".pins.lock.writing", "link", "pins.lock"}, left); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Writers lose nothing of each other's, in one process and in several.
func TestConcurrentWriters(t *testing.T) {
	const writers, tools = 6, 5
	path := filepath.Join(t.TempDir(), "pins.lock")
	shared := pins.Open(path)
	var group sync.WaitGroup
	for w := range writers {
		lock := shared
		if w%2 == 0 {
			lock = pins.Open(path)
		}
		group.Go(func() {
			if err := approveOwn(lock, w, tools); err != nil {
				t.Error(err)
			}
		})
		if w < 2 {
			group.Go(func() {
				helper := exec.Command(os.Args[0], "-test.run", "^TestHelperProcess$")
				helper.Env = append(os.Environ(), fmt.Sprintf("PINS_HELPER=%d %d %s", writers+w, tools, path))
				if out, err := helper.CombinedOutput(); err != nil {
					t.Errorf("helper: %v\n%s", err, out)
				}
			})
		}
	}
	group.Wait()
	var all []string
	for w := range writers + 2 {
		for i := range tools {
			all = append(all, tool(w, i))
		}
	}
	findings, err := shared.Check("notes", entries(all...))
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) != len(all) {
		t.Errorf("%d tools, want %d", len(findings), len(all))
	}
	for _, f := range findings {
		if f.State != pins.Pinned {
			t.Errorf("%s is %s", f.Tool, f.State)
		}
	}
}

func tool(writer, i int) string { return fmt.Sprintf(`{"name":"w%d_%d"}`, writer, i) }

func approveOwn(lock *pins.Lock, writer, tools int) error {
	for i := range tools {
		list := entries(tool(writer, i))
		if _, err := lock.Approve("notes", list, pins.Approval{Tool: fmt.Sprintf("w%d_%d", writer, i)}); err != nil {
			return err
		}
		if _, err := lock.Check("notes", list); err != nil {
			return err
		}
	}
	return nil
}

// TestHelperProcess is another process for TestConcurrentWriters.
func TestHelperProcess(t *testing.T) {
	var writer, tools int
	var path string
	if _, err := fmt.Sscanf(os.Getenv("PINS_HELPER"), "%d %d %s", &writer, &tools, &path); err != nil {
		return // started by go test itself
	}
	if err := approveOwn(pins.Open(path), writer, tools); err != nil {
		t.Fatal(err)
	}
}

// Of many first uses at once only one is the first.
func TestConcurrentFirstUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.lock")
	results := make([]string, 8)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() {
			runtime.Gosched()
			findings, err := pins.Open(path).TrustOnFirstUse("notes", entries(fmt.Sprintf(`{"name":"t","description":"%d"}`, i)))
			results[i] = fmt.Sprint(states(findings), err)
		})
	}
	group.Wait()
	count := map[string]int{}
	for _, r := range results {
		count[r]++
	}
	if diff := cmp.Diff(map[string]int{"t pinned<nil>": 1, "t drifted<nil>": 7}, count); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
