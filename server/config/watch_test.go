//go:build unix

package config

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// hang bounds waits that end at once when all is well.
const hang = 20 * time.Second

func watch(t *testing.T, files ...string) *Watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w, err := Watch(ctx, files, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		for range w.Changes() { // until it is closed
		}
	})
	return w
}

// next returns the next change, with names relative to the folder.
func next(t *testing.T, w *Watcher, folder string) Change {
	t.Helper()
	select {
	case c := <-w.Changes():
		for i, name := range c.Files {
			c.Files[i], _ = filepath.Rel(folder, name)
		}
		return c
	case <-time.After(hang):
		t.Fatal("no change is reported")
		return Change{}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever way a file gets other contents, that is a change of its name.
func TestWatch(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, folder string)
		change  func(t *testing.T, folder string)
		want    []string
	}{
		"written in place": {
			change: func(t *testing.T, folder string) { write(t, folder, "a", "new") },
			want:   []string{"a"},
		},
		"replaced by rename": {
			change: func(t *testing.T, folder string) {
				must(t, os.Rename(write(t, folder, "a~", "new"), filepath.Join(folder, "a")))
			},
			want: []string{"a"},
		},
		"moved away and written anew": {
			change: func(t *testing.T, folder string) {
				must(t, os.Rename(filepath.Join(folder, "a"), filepath.Join(folder, "a.bak")))
				write(t, folder, "a", "new")
			},
			want: []string{"a"},
		},
		"deleted": {
			change: func(t *testing.T, folder string) { must(t, os.Remove(filepath.Join(folder, "a"))) },
			want:   []string{"a"},
		},
		"comes": {
			prepare: func(t *testing.T, folder string) { must(t, os.Remove(filepath.Join(folder, "a"))) },
			change:  func(t *testing.T, folder string) { write(t, folder, "a", "new") },
			want:    []string{"a"},
		},
		"comes with its folder": {
			change: func(t *testing.T, folder string) { write(t, folder, "later/on/b", "new") },
			want:   []string{"later/on/b"},
		},
		"link turned elsewhere": {
			prepare: func(t *testing.T, folder string) {
				write(t, folder, "one/x", "old")
				write(t, folder, "two/x", "new")
				must(t, os.Symlink("one/x", filepath.Join(folder, "link")))
			},
			change: func(t *testing.T, folder string) {
				must(t, os.Symlink("two/x", filepath.Join(folder, "link~")))
				must(t, os.Rename(filepath.Join(folder, "link~"), filepath.Join(folder, "link")))
			},
			want: []string{"link"},
		},
		"behind a link": {
			prepare: func(t *testing.T, folder string) {
				write(t, folder, "one/x", "old")
				must(t, os.Symlink("one/x", filepath.Join(folder, "link")))
			},
			change: func(t *testing.T, folder string) { write(t, folder, "one/x", "new") },
			want:   []string{"link"},
		},
		"volume of Kubernetes": {
			prepare: func(t *testing.T, folder string) { mount(t, folder, "1") },
			change:  func(t *testing.T, folder string) { remount(t, folder, "1", "2") },
			want:    []string{"volume/a", "volume/b"},
		},
		"file added to a folder": {
			prepare: func(t *testing.T, folder string) { write(t, folder, "dir/x.json", "{}") },
			change:  func(t *testing.T, folder string) { write(t, folder, "dir/y.json", "{}") },
			want:    []string{"dir"},
		},
		"file deep in a folder": {
			prepare: func(t *testing.T, folder string) { write(t, folder, "dir/deep/er/x.rego", "old") },
			change:  func(t *testing.T, folder string) { write(t, folder, "dir/deep/er/x.rego", "new") },
			want:    []string{"dir"},
		},
		"folder replaced": {
			prepare: func(t *testing.T, folder string) { write(t, folder, "dir/x.json", "{}") },
			change: func(t *testing.T, folder string) {
				must(t, os.Rename(filepath.Join(folder, "dir"), filepath.Join(folder, "dir.old")))
				write(t, folder, "dir/x.json", `{"new": true}`)
			},
			want: []string{"dir"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, "a", "old")
			if test.prepare != nil {
				test.prepare(t, folder)
			}
			var files []string
			for _, name := range []string{"a", "later/on/b", "link", "volume/a", "volume/b", "dir"} {
				files = append(files, filepath.Join(folder, name))
			}
			w := watch(t, files...)
			test.change(t, folder)
			// On a busy machine one change may come in parts.
			got := map[string]bool{}
			for len(got) < len(test.want) {
				for _, file := range next(t, w, folder).Files {
					got[file] = true
				}
			}
			if diff := cmp.Diff(test.want, sortedKeys(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// The watch goes on where it was.
			if test.change = nil; test.want[0] == "a" {
				write(t, folder, "a", "newer")
				if diff := cmp.Diff(Change{Files: []string{"a"}}, next(t, w, folder)); diff != "" {
					t.Errorf("afterwards (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// mount makes files as Kubernetes mounts a volume: links by way of a link to a folder.
func mount(t *testing.T, folder, version string) {
	t.Helper()
	volume := filepath.Join(folder, "volume")
	for _, name := range []string{"a", "b"} {
		write(t, volume, ".."+version+"/"+name, "version "+version)
		must(t, os.Symlink(filepath.Join("..data", name), filepath.Join(volume, name)))
	}
	must(t, os.Symlink(".."+version, filepath.Join(volume, "..data")))
}

// remount updates them as Kubernetes does: the link in the middle is replaced, and what
// it led to is removed.
func remount(t *testing.T, folder, from, to string) {
	t.Helper()
	volume := filepath.Join(folder, "volume")
	for _, name := range []string{"a", "b"} {
		write(t, volume, ".."+to+"/"+name, "version "+to)
	}
	must(t, os.Symlink(".."+to, filepath.Join(volume, "..data_tmp")))
	must(t, os.Rename(filepath.Join(volume, "..data_tmp"), filepath.Join(volume, "..data")))
	must(t, os.RemoveAll(filepath.Join(volume, ".."+from)))
}

func TestRemountTwice(t *testing.T) {
	folder := t.TempDir()
	mount(t, folder, "1")
	w := watch(t, filepath.Join(folder, "volume/a"))
	for version := 2; version < 5; version++ {
		remount(t, folder, fmt.Sprint(version-1), fmt.Sprint(version))
		if diff := cmp.Diff(Change{Files: []string{"volume/a"}}, next(t, w, folder)); diff != "" {
			t.Errorf("version %d (-want +got):\n%s", version, diff)
		}
	}
}

// What leaves the contents as they are is no change: the next one that is reported is
// that of another file.
func TestNoChange(t *testing.T) {
	folder := t.TempDir()
	a, b := write(t, folder, "a", "same"), write(t, folder, "b", "old")
	w := watch(t, a, b)
	write(t, folder, "a", "same")
	must(t, os.Rename(write(t, folder, "a~", "same"), a))
	must(t, os.Chtimes(a, time.Unix(1, 0), time.Unix(1, 0)))
	write(t, folder, "stranger", "new")
	write(t, folder, "b", "new")
	if diff := cmp.Diff(Change{Files: []string{"b"}}, next(t, w, folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Changes that nobody receives become one.
func TestChangesGather(t *testing.T) {
	folder := t.TempDir()
	a, b := write(t, folder, "a", "old"), write(t, folder, "b", "old")
	w := watch(t, a, b)
	write(t, folder, "a", "new")
	write(t, folder, "b", "new")
	deadline := time.Now().Add(hang)
	got := map[string]bool{}
	for len(got) < 2 && time.Now().Before(deadline) {
		time.Sleep(5 * quiet) // nobody receives meanwhile
		for _, file := range next(t, w, folder).Files {
			got[file] = true
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, sortedKeys(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFollow(t *testing.T) {
	folder := t.TempDir()
	a, b := write(t, folder, "a", "old"), write(t, folder, "sub/b", "old")
	w := watch(t, a)
	w.Follow([]string{b})
	write(t, folder, "a", "new") // nobody asks for it any more
	write(t, folder, "sub/b", "new")
	if diff := cmp.Diff(Change{Files: []string{"sub/b"}}, next(t, w, folder)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSignal(t *testing.T) {
	w := watch(t)
	must(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	if diff := cmp.Diff(Change{Signal: true}, next(t, w, "/")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// After the end the channel is closed, and Follow does not wait.
func TestWatchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := Watch(ctx, nil, zap.NewNop())
	must(t, err)
	cancel()
	for range w.Changes() {
		t.Error("a change is reported")
	}
	w.Follow([]string{"a"})
}

// Without notices everything is looked at in rounds, and said so.
func TestUnwatchableFolder(t *testing.T) {
	core, logs := observer.New(zapcore.WarnLevel)
	ctx, cancel := context.WithCancel(context.Background())
	w, err := Watch(ctx, nil, zap.New(core))
	must(t, err)
	cancel()
	for range w.Changes() {
		t.Error("a change is reported")
	}
	// Its notices are closed now, as if the system had none to give.
	name := write(t, t.TempDir(), "a", "old")
	w.set([]string{name})
	w.set([]string{name})
	write(t, filepath.Dir(name), "a", "new")
	if diff := cmp.Diff([]string{name}, w.compare()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := logs.FilterMessageSnippet("cannot be watched").Len(); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
}

func TestWatchNeedsALogger(t *testing.T) {
	if _, err := Watch(context.Background(), nil, nil); err == nil {
		t.Error("there is a watcher without a logger")
	}
}
