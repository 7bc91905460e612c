// Package wholefile writes files as a whole or not at all. It knows nothing of what is in
// them.
package wholefile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file so that it is the old or the new one at any moment, also where the
// power fails. An existing one keeps its mode.
func Replace(path string, text []byte, mode fs.FileMode) (err error) {
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // a second time does no harm
			_ = os.Remove(file.Name())
		}
	}()
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes the new name last. Not every system can do that with a folder, and
// the file itself is on the disk, so that at worst the old one is found again.
func syncFolder(name string) {
	if folder, err := os.Open(name); err == nil {
		_ = folder.Sync()
		_ = folder.Close()
	}
}
