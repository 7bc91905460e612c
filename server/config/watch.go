package config

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"
)

// How a Watcher waits.
const (
	// quiet is how long nothing must happen before what did counts as one change: an
	// editor writes a file in several steps.
	quiet = 100 * time.Millisecond
	// mostDelay bounds that where something happens all the time.
	mostDelay = 2 * time.Second
	// round is how often everything is looked at without being told: notices can be
	// missed, and network file systems send none.
	round = 30 * time.Second
)

// Change is what a Watcher reports.
type Change struct {
	// Files are the names, as given, whose contents differ from those last seen, sorted.
	// A file that has gone, or come, is among them.
	Files []string
	// Signal says that SIGHUP asked for a reload, whatever has changed.
	Signal bool
}

// Watcher watches files and folders until its context ends. What counts is what a name
// leads to: a file put in the place of another, a symbolic link that turns to another
// folder (as Kubernetes mounts volumes) and a file that comes back are changes; one that
// is written with the same contents is none.
type Watcher struct {
	changes chan Change
	follow  chan following
	done    chan struct{}
	logger  *zap.Logger

	notices *fsnotify.Watcher // nil where the system has none
	hangup  chan os.Signal
	files   []string
	seen    map[string]fingerprint
	refused map[string]bool // folders that it could not watch, told once
}

// Watch begins to watch the files, which are mostly those of Settings.Files, and SIGHUP.
// Where the system cannot tell of changes the files are looked at every 30 seconds, and
// the logger gets a warning.
func Watch(ctx context.Context, files []string, logger *zap.Logger) (*Watcher, error) {
	if logger == nil {
		return nil, errors.New("watch: the logger is nil")
	}
	w := &Watcher{
		changes: make(chan Change), follow: make(chan following), done: make(chan struct{}), logger: logger,
		hangup: make(chan os.Signal, 1), seen: map[string]fingerprint{}, refused: map[string]bool{},
	}
	var err error
	if w.notices, err = fsnotify.NewWatcher(); err != nil {
		logger.Warn("the system does not tell of changes of files; they are looked for every 30 seconds", zap.Error(err))
	}
	signal.Notify(w.hangup, syscall.SIGHUP)
	w.set(files)
	go w.run(ctx)
	return w, nil
}

// Changes delivers changes, one at a time, and is closed when the context has ended.
// While nobody receives, changes gather into one.
func (w *Watcher) Changes() <-chan Change { return w.changes }

// Follow sets what is watched when it returns, after a reload that names other files. What
// is watched already and has changed meanwhile is still reported; what is new counts as
// seen. So: Load, then Follow, and only then read the files that the settings name.
func (w *Watcher) Follow(files []string) {
	f := following{slices.Clone(files), make(chan struct{})}
	select {
	case w.follow <- f:
		<-f.begun
	case <-w.done:
	}
}

// following asks for other files to be watched.
type following struct {
	files []string
	begun chan struct{} // closed when they are
}

// set watches these files. One that was not watched before counts as seen.
func (w *Watcher) set(files []string) {
	w.files = slices.Compact(slices.Sorted(slices.Values(files)))
	w.watchFolders() // before the first look, so that nothing happens in between
	seen := map[string]fingerprint{}
	for _, name := range w.files {
		was, ok := w.seen[name]
		if !ok {
			was = fingerprintOf(name)
		}
		seen[name] = was
	}
	w.seen = seen
}

// watchFolders has the system tell of everything that can change what the names lead to.
func (w *Watcher) watchFolders() {
	if w.notices == nil {
		return
	}
	wanted := map[string]bool{}
	for _, name := range w.files {
		for _, folder := range foldersOf(name) {
			wanted[folder] = true
		}
	}
	for _, folder := range w.notices.WatchList() {
		if !wanted[folder] {
			_ = w.notices.Remove(folder) // it may have gone by itself
		}
	}
	for folder := range wanted {
		// Added anew each time: a folder that was replaced has the same name.
		err := w.notices.Add(folder)
		known := w.refused[folder]
		w.refused[folder] = err != nil
		if err != nil && !known {
			w.logger.Warn("a folder cannot be watched; its files are looked at every 30 seconds", zap.String("folder", printable(folder)), zap.Error(err))
		}
	}
}

func (w *Watcher) run(ctx context.Context) {
	defer func() {
		signal.Stop(w.hangup)
		if w.notices != nil {
			_ = w.notices.Close()
		}
		close(w.done)
		close(w.changes)
	}()
	var events chan fsnotify.Event
	var faults chan error
	if w.notices != nil {
		events, faults = w.notices.Events, w.notices.Errors
	}
	look := time.NewTicker(round)
	defer look.Stop()
	settle := time.NewTimer(0)
	<-settle.C
	var first time.Time // of the events that are waited out
	var pending Change
	for {
		var deliver chan Change
		if pending.Signal || len(pending.Files) > 0 {
			deliver = w.changes
		}
		select {
		case <-ctx.Done():
			return
		case deliver <- pending:
			pending = Change{}
		case f := <-w.follow:
			w.set(f.files)
			close(f.begun)
			pending.add(w.compare())
		case <-w.hangup:
			pending.Signal = true
			pending.add(w.compare())
		case <-look.C:
			pending.add(w.compare())
		case err := <-faults: // such as more events than the system keeps
			w.logger.Warn("notices of changes were lost; all files are looked at", zap.Error(err))
			pending.add(w.compare())
		case <-events:
			if first.IsZero() {
				first = time.Now()
			}
			settle.Reset(min(quiet, max(0, mostDelay-time.Since(first))))
		case <-settle.C:
			first = time.Time{}
			pending.add(w.compare())
		}
	}
}

// compare returns the names whose contents have changed, and keeps what it saw.
func (w *Watcher) compare() []string {
	w.watchFolders()
	var changed []string
	for _, name := range w.files {
		if now := fingerprintOf(name); now != w.seen[name] {
			w.seen[name] = now
			changed = append(changed, name)
		}
	}
	return changed
}

func (c *Change) add(files []string) {
	c.Files = slices.Compact(slices.Sorted(slices.Values(append(c.Files, files...))))
}
