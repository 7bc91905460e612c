package gateway

import (
	"errors"
	"sync"
	"time"
)

// errFull is why there is no child for somebody.
var errFull = errors.New("as many servers run as are allowed")

// start starts a child, if there is room for one. A spare one makes room.
func (b *Bridge) start() (*link, error) {
	for {
		ousted, err := b.reserve()
		if err != nil {
			return nil, err
		}
		if ousted == nil {
			break
		}
		ousted.child.stop(nil)
		<-ousted.gone
	}
	c, err := b.command.start()
	if err != nil {
		b.release()
		return nil, err
	}
	l := newLink(c, b.logger)
	go b.watch(l)
	return l, nil
}

// reserve counts a child that is about to be started. Where there is no room it returns
// one to be ended first.
func (b *Bridge) reserve() (ousted *link, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, errEnded
	case b.children < b.max:
		b.children++
		return nil, nil
	case len(b.spare) > 0:
		ousted, b.spare = b.spare[0], b.spare[1:]
		return ousted, nil
	}
	return nil, errFull
}

func (b *Bridge) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.children--
}

// watch ends a child that has been idle for too long, and forgets one that has ended.
func (b *Bridge) watch(l *link) {
	ticker := time.NewTicker(max(b.idle/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-l.ended:
			b.forget(l)
			l.child.stop(nil)
			b.release()
			close(l.gone)
			return
		case now := <-ticker.C:
			if since, idle := l.idleSince(); idle && now.Sub(since) > b.idle {
				b.forget(l)
				l.child.stop(nil)
			}
		}
	}
}

// forget takes a child out of those that can be had.
func (b *Bridge) forget(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, other := range b.sessions {
		if other == l {
			delete(b.sessions, id)
		}
	}
	for i, other := range b.spare {
		if other == l {
			b.spare = append(b.spare[:i], b.spare[i+1:]...)
			return
		}
	}
}

// Close ends all children.
func (b *Bridge) Close() {
	b.mu.Lock()
	b.closed = true
	links := append([]*link(nil), b.spare...)
	for _, l := range b.sessions {
		links = append(links, l)
	}
	b.mu.Unlock()
	var stopping sync.WaitGroup
	for _, l := range links {
		stopping.Go(func() { l.child.stop(nil) })
	}
	stopping.Wait()
}

func (b *Bridge) borrow() (*link, error) {
	b.mu.Lock()
	if last := len(b.spare) - 1; last >= 0 {
		l := b.spare[last]
		b.spare = b.spare[:last]
		b.mu.Unlock()
		return l, nil
	}
	b.mu.Unlock()
	return b.start()
}

func (b *Bridge) giveBack(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		go l.child.stop(nil)
		return
	}
	b.spare = append(b.spare, l)
}
