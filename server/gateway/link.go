package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// link is one child behind the bridge, and who waits for what it says.
type link struct {
	child  *child
	logger *zap.Logger
	ended  chan struct{} // closed once nothing comes any more
	gone   chan struct{} // closed once the bridge no longer counts it

	writing sync.Mutex

	mu      sync.Mutex
	posts   []*post  // requests without an answer, oldest first
	streams []*queue // open streams of the session, oldest first
	backlog *queue   // what nobody was there for
	used    time.Time
	busy    int // requests and streams that are being served
	closed  bool
}

// post is a request that waits for its answer.
type post struct {
	key   string // of its id
	token string // key of its progress token, "" without
	queue *queue
}

func newLink(c *child, logger *zap.Logger) *link {
	l := &link{child: c, logger: logger, ended: make(chan struct{}), gone: make(chan struct{}), backlog: newQueue(), used: time.Now()}
	go l.read()
	return l
}

// maxLine bounds one message of a child, in bytes. It may hold pictures.
const maxLine = 64 << 20

// read hands on what the child says, until it ends.
func (l *link) read() {
	defer l.end()
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(orEOF(l.child.copyOutput(writer))) }()
	lines := bufio.NewScanner(reader)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		if message := bytes.TrimSpace(lines.Bytes()); len(message) > 0 {
			l.route(bytes.Clone(message))
		}
	}
	if err := lines.Err(); err != nil {
		l.logger.Error("the output of a server cannot be read", zap.Error(err))
		_ = reader.CloseWithError(err)
	}
}

func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// route finds out whom a message is for: an answer is for who asked, progress for who
// gave the token, and anything else for a request that is being worked on, or for the
// session's stream.
func (l *link) route(message []byte) {
	m, err := frame.Read(message)
	if err != nil {
		l.logger.Warn("a message of a server cannot be read and is dropped", zap.Error(err))
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.Kind == frame.Response {
		for i, p := range l.posts {
			if m.ID != nil && p.key == frame.Key(m.ID) {
				p.queue.put(message)
				p.queue.close()
				l.posts = append(l.posts[:i], l.posts[i+1:]...)
				return
			}
		}
		return // nobody waits any more
	}
	if token := progressToken(m); token != "" {
		for _, p := range l.posts {
			if p.token == token {
				p.queue.put(message)
				return
			}
		}
	}
	if len(l.posts) > 0 {
		l.posts[0].queue.put(message)
		return
	}
	for i := len(l.streams) - 1; i >= 0; i-- {
		if l.streams[i].put(message) {
			return
		}
	}
	l.backlog.put(message)
}

// progressToken returns a key of the token of a notifications/progress.
func progressToken(m frame.Message) string {
	if m.Method != "notifications/progress" || len(m.Params) == 0 || m.Params[0] != '{' {
		return ""
	}
	params, err := frame.Object(m.Params, nil)
	if err != nil || params["progressToken"] == nil {
		return ""
	}
	return frame.Key(params["progressToken"])
}

// tokenOf returns a key of the token that a request gives for its progress.
func tokenOf(m frame.Message) string {
	if len(m.Params) == 0 || m.Params[0] != '{' {
		return ""
	}
	params, err := frame.Object(m.Params, nil)
	if err != nil {
		return ""
	}
	meta, err := frame.Object(params["_meta"], nil)
	if err != nil || meta["progressToken"] == nil {
		return ""
	}
	return frame.Key(meta["progressToken"])
}

var errSameID = errors.New("a request with this id is without an answer yet")

// request sends a request to the child, and returns where its answer comes.
func (l *link) request(m frame.Message, message []byte) (*post, error) {
	p := &post{key: frame.Key(m.ID), token: tokenOf(m), queue: newQueue()}
	l.mu.Lock()
	for _, other := range l.posts {
		if other.key == p.key {
			l.mu.Unlock()
			return nil, errSameID
		}
	}
	if l.closed {
		l.mu.Unlock()
		return nil, errEnded
	}
	l.posts = append(l.posts, p)
	l.mu.Unlock()
	if err := l.send(message); err != nil {
		l.forget(p)
		return nil, err
	}
	return p, nil
}

var errEnded = errors.New("the server has ended")

// forget says that nobody waits for p any more.
func (l *link) forget(p *post) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.posts {
		if other == p {
			l.posts = append(l.posts[:i], l.posts[i+1:]...)
			return
		}
	}
}

// send writes a message as a line. The judge has taken care that it is one: JSON has no
// line feed but between its tokens, where a blank says the same.
func (l *link) send(message []byte) error {
	line := append(bytes.ReplaceAll(bytes.ReplaceAll(message, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" ")), '\n')
	l.writing.Lock()
	defer l.writing.Unlock()
	if _, err := l.child.stdin.Write(line); err != nil {
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	return nil
}

// listen opens a stream of the session, which begins with what has been missed.
func (l *link) listen() *queue {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := newQueue()
	missed, _ := l.backlog.take()
	for _, message := range missed {
		q.put(message)
	}
	if l.closed {
		q.close()
		return q
	}
	l.backlog = newQueue()
	l.streams = append(l.streams, q)
	return q
}

func (l *link) leave(q *queue) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.streams {
		if other == q {
			l.streams = append(l.streams[:i], l.streams[i+1:]...)
			return
		}
	}
}

// use counts a request or stream that is being served; the returned function ends it.
func (l *link) use() (done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.busy--
		l.used = time.Now()
	}
}

// idleSince returns since when nobody has used the link; ok is false while somebody does.
func (l *link) idleSince() (since time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used, l.busy == 0
}

// end closes all that waits for the child.
func (l *link) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, p := range l.posts {
		p.queue.close()
	}
	for _, q := range l.streams {
		q.close()
	}
	l.posts, l.streams = nil, nil
	close(l.ended)
}
