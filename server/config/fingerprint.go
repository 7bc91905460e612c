package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// fingerprint stands for what a name leads to. Two are equal where the contents are.
type fingerprint [sha256.Size]byte

// Bounds of what is read to see a change. Beyond them size and time stand for contents.
const (
	longestRead = 16 << 20 // bytes of one file
	mostEntries = 10_000   // in one folder, with those below
)

// fingerprintOf reads a file, or a folder with everything below it. What cannot be read is
// part of the fingerprint, so that a change of that is a change.
func fingerprintOf(name string) fingerprint {
	h := sha256.New()
	info, err := os.Stat(name)
	switch {
	case err != nil:
		writeFault(h, err)
	case info.IsDir():
		printFolder(h, name)
	default:
		printFile(h, name)
	}
	return fingerprint(h.Sum(nil))
}

func writeFault(w io.Writer, err error) {
	kind := "unreadable"
	if errors.Is(err, fs.ErrNotExist) {
		kind = "missing"
	}
	_, _ = fmt.Fprintf(w, "fault %s\n", kind)
}

func printFolder(w io.Writer, name string) {
	entries := 0
	// As the engine reads it: links at the root and in folders below are followed for
	// files, and not for folders.
	_ = fs.WalkDir(os.DirFS(name), ".", func(path string, entry fs.DirEntry, err error) error {
		if entries++; entries > mostEntries {
			_, _ = io.WriteString(w, "more\n")
			return fs.SkipAll
		}
		if err != nil {
			writeFault(w, err)
			return nil
		}
		_, _ = fmt.Fprintf(w, "entry %q\n", path)
		if !entry.IsDir() {
			printFile(w, filepath.Join(name, filepath.FromSlash(path)))
		}
		return nil
	})
}

func printFile(w io.Writer, name string) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		writeFault(w, err)
		return
	case !info.Mode().IsRegular() || info.Size() > longestRead: // a pipe would block
		_, _ = fmt.Fprintf(w, "file %s %d %d\n", info.Mode().Type(), info.Size(), info.ModTime().UnixNano())
		return
	}
	file, err := os.Open(name)
	if err != nil {
		writeFault(w, err)
		return
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, longestRead))
	if err != nil {
		writeFault(w, err)
		return
	}
	_, _ = fmt.Fprintf(w, "file %d %x\n", n, h.Sum(nil))
}

// mostLinks bounds how many symbolic links are followed from one name.
const mostLinks = 40

// foldersOf returns the folders in which something has to happen for the name to lead
// elsewhere or to other contents: that of the name, and those of every link on the way,
// or the nearest one that is there; for a folder, itself and those below.
func foldersOf(name string) []string {
	folders := map[string]bool{}
	path, err := filepath.Abs(name)
	if err != nil {
		return nil
	}
	for range mostLinks {
		next, link := firstLink(path)
		folders[existing(filepath.Dir(link))] = true
		if next == "" {
			break
		}
		path = next
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		below := 0
		_ = filepath.WalkDir(path, func(folder string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				folders[folder] = true
			}
			if below++; below > mostEntries {
				return fs.SkipAll
			}
			return nil
		})
	}
	return slices.Sorted(func(yield func(string) bool) {
		for folder := range folders {
			if !yield(folder) {
				return
			}
		}
	})
}

// firstLink finds the first part of an absolute path that is a symbolic link. It returns
// the path with what the link holds in its place, and the link; without one, "" and the
// path itself.
func firstLink(path string) (next, link string) {
	var parts []string
	for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
		parts = append(parts, at)
	}
	for _, at := range slices.Backward(parts) {
		target, err := os.Readlink(at)
		if err != nil {
			continue
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		rest, err := filepath.Rel(at, path)
		if err != nil {
			continue
		}
		return filepath.Join(target, rest), at
	}
	return "", path
}

// existing returns the nearest folder above that is there.
func existing(folder string) string {
	for {
		if info, err := os.Stat(folder); err == nil && info.IsDir() || folder == filepath.Dir(folder) {
			return folder
		}
		folder = filepath.Dir(folder)
	}
}
