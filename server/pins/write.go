package pins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/sallyport-mcp/sallyport/server/internal/wholefile"
)

const (
	// patience is how long a writer waits for others.
	patience  = 10 * time.Second
	lookAgain = 20 * time.Millisecond
	newMode   = 0o600
)

// resolved follows links, so that what they lead to is replaced and not they. A link
// that leads nowhere is an error: the file may be on a disk that is not there.
func (l *Lock) resolved() (string, error) {
	// What is at the path is asked first: a file that another process has made since is
	// no link.
	info, err := os.Lstat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return l.path, nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", l.path, err)
	}
	path, err := filepath.EvalSymlinks(l.path)
	switch {
	case err == nil:
		return path, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: %w", l.path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return "", fmt.Errorf("%s: a link that leads nowhere", l.path)
	}
	return l.path, nil
}

// update changes the file while no other process does. change says whether there is
// anything to write.
func (l *Lock) update(change func(pinSet) (bool, error)) (pinSet, error) {
	path, err := l.resolved()
	if err != nil {
		return nil, err
	}
	release, err := exclude(path)
	if err != nil {
		return nil, fmt.Errorf("write pins to %s: %w", l.path, err)
	}
	defer release()
	p, err := l.read()
	if err != nil {
		return nil, err
	}
	changed, err := change(p)
	if err != nil || !changed {
		return p, err
	}
	text, err := p.text()
	if err == nil {
		err = wholefile.Replace(path, text, newMode)
	}
	if err != nil {
		return nil, fmt.Errorf("write pins to %s: %w", l.path, err)
	}
	return p, nil
}

// exclude keeps other writers out until release is called. It locks a file beside the
// one that is written, since that is replaced by each writer.
func exclude(path string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock := flock.New(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".writing"), flock.SetPermissions(newMode))
	if _, err := lock.TryLockContext(ctx, lookAgain); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("another process holds %s for more than %s", lock.Path(), patience)
		}
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}
