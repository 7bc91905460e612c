package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// progress shows on a terminal how far a long check is.
type progress struct {
	calls, bytes atomic.Int64
	done         chan struct{}
	ended        sync.WaitGroup
}

// startProgress shows nothing unless w is a terminal and a second has passed.
func startProgress(w io.Writer) *progress {
	p := &progress{done: make(chan struct{})}
	if !isTerminal(w) {
		return p
	}
	p.ended.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-p.done:
				if shown {
					_, _ = fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-tick.C:
				shown = true
				_, _ = fmt.Fprintf(w, "\r\x1b[K%d calls judged, %.1f MB read", p.calls.Load(), float64(p.bytes.Load())/1e6)
			}
		}
	})
	return p
}

// stop erases the line.
func (p *progress) stop() {
	close(p.done)
	p.ended.Wait()
}

// count wraps a reader so that its bytes show.
func (p *progress) count(r io.Reader) io.Reader { return &countingReader{r, &p.bytes} }

type countingReader struct {
	r     io.Reader
	bytes *atomic.Int64
}

// Read reads and counts.
func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}
