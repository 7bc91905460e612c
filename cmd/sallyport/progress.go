package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// progress shows on a terminal how far a long check is. Its line is the last one
// on the screen: writers made by above erase it first.
type progress struct {
	calls, bytes atomic.Int64

	mu    sync.Mutex
	w     io.Writer // nil: there is no terminal
	shown bool
	done  chan struct{}
	ended sync.WaitGroup
}

// startProgress shows nothing unless w is a terminal and a second has passed.
func startProgress(w io.Writer) *progress {
	p := &progress{done: make(chan struct{})}
	if isTerminal(w) {
		p.w = w
		p.ended.Go(p.run)
	}
	return p
}

func (p *progress) run() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
			p.draw()
		}
	}
}

const eraseLine = "\r\x1b[K"

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.w, "%s%d calls judged, %.1f MB read", eraseLine, p.calls.Load(), float64(p.bytes.Load())/1e6)
	p.shown = true
}

// erase takes the line away; p.mu is held.
func (p *progress) erase() {
	if p.shown {
		_, _ = io.WriteString(p.w, eraseLine)
		p.shown = false
	}
}

// stop erases the line for good. It may be called again.
func (p *progress) stop() {
	p.mu.Lock()
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	p.mu.Unlock()
	p.ended.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// above returns a writer for what is to appear above the line.
func (p *progress) above(w io.Writer) io.Writer { return &aboveLine{p, w} }

type aboveLine struct {
	p *progress
	w io.Writer
}

// Write writes once the line is erased.
func (a *aboveLine) Write(b []byte) (int, error) {
	a.p.mu.Lock()
	defer a.p.mu.Unlock()
	a.p.erase()
	return a.w.Write(b)
}
