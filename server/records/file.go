package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/open-policy-agent/opa/v1/plugins/logs"
)

// file is a file with an event on each line.
type file struct {
	mu sync.Mutex
	f  *os.File
}

const fileMode = 0o600

// openFile opens a file to append to it. A line that somebody could not finish there is
// ended, so that the next one can be read.
func openFile(name string) (*file, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := endLine(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return &file{f: f}, nil
}

func endLine(f *os.File) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, end-1); err != nil || bytes.Equal(last, []byte("\n")) {
		return err
	}
	_, err = f.WriteString("\n")
	return err
}

// put appends an event with one write, which keeps lines whole where several processes
// append to one file.
func (f *file) put(_ context.Context, e *logs.EventV1) error {
	line, err := marshal(e)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err = f.f.Write(line)
	return err
}

func (f *file) close(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.f.Close()
}
