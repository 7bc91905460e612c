package peers

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

//go:embed python.py
var pythonScript string

// child is one interpreter that judges one case for as long as it lives.
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	folder  string
}

var pythonAbsence = sync.OnceValue(func() error {
	if out, err := exec.Command("python3", "-c", "from jsonschema import Draft7Validator").CombinedOutput(); err != nil {
		return &AbsentError{fmt.Sprintf("python3 with jsonschema cannot run here: %s", lastLine(out, err))}
	}
	return nil
})

func lastLine(out []byte, err error) string {
	text := strings.TrimSpace(string(out))
	if text == "" {
		return err.Error()
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// preparePython starts a child. The payload goes through a file, since it may be
// longer than a pipe holds.
func preparePython(c Case) (Contestant, error) {
	if err := pythonAbsence(); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "sallyport-bench-")
	if err != nil {
		return nil, err
	}
	p := &child{folder: folder, command: exec.Command("python3", "-c", pythonScript)}
	p.command.Stderr = os.Stderr
	if err := p.start(c); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *child) start(c Case) error {
	file := filepath.Join(p.folder, "payload.json")
	if err := os.WriteFile(file, c.Payload, 0o600); err != nil {
		return err
	}
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	if err := p.command.Start(); err != nil {
		return err
	}
	return json.NewEncoder(p.in).Encode(map[string]any{"schema": json.RawMessage(c.Document), "payload": file})
}

func (p *child) ask(n int, answer any) error {
	if _, err := fmt.Fprintln(p.in, n); err != nil {
		return fmt.Errorf("python: %w", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("python: %w", err)
	}
	return json.Unmarshal(line, answer)
}

// Accepts implements Contestant.
func (p *child) Accepts() (accepted bool, err error) { return accepted, p.ask(0, &accepted) }

// Run implements Contestant.
func (p *child) Run(n int) (time.Duration, error) {
	var nanoseconds int64
	err := p.ask(n, &nanoseconds)
	return time.Duration(nanoseconds), err
}

// Close ends the child: it stops at the end of its input.
func (p *child) Close() error {
	var ended error
	if p.in != nil {
		_ = p.in.Close()
	}
	if p.command.Process != nil {
		ended = p.command.Wait()
	}
	return errors.Join(ended, os.RemoveAll(p.folder))
}
