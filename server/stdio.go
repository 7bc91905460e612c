package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/sallyport-mcp/sallyport/server/internal/frame"
)

// Stdio stands between a client and a server that talk in lines (MCP, transports,
// stdio). The server reads what the judge forwards and writes into it; what the judge
// refuses is answered here, and the server never sees it.
//
// A line is one message. A bad one gets an answer, and the session goes on.
type Stdio struct {
	ctx     context.Context // has the caller
	judge   *Judge
	pending *pending
	asked   *asked
	held    *held

	forwarded *io.PipeReader
	toServer  *lineWriter // into forwarded
	toClient  *lineWriter

	cancel context.CancelFunc     // of ctx
	gone   atomic.Pointer[string] // why the server is, if it is

	mu      sync.Mutex
	answers []byte // of the server, up to its next line feed
}

// NewStdio returns a guard that reads a client's messages from in and writes answers to
// out. It reads until in ends or ctx does; Close has to follow.
func (j *Judge) NewStdio(ctx context.Context, in io.Reader, out io.Writer) *Stdio {
	reader, writer := io.Pipe()
	s := &Stdio{
		judge: j, pending: newPending(), asked: newAsked(), held: newHeld(),
		forwarded: reader, toServer: &lineWriter{w: writer}, toClient: &lineWriter{w: out},
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.ctx = withCaller(ctx, Caller{List: s.list})
	go func() {
		err := s.judgeLines(s.ctx, in)
		s.held.wait()
		if err == nil {
			err = io.EOF
		}
		_ = writer.CloseWithError(err)
	}()
	return s
}

// Read returns what the server is to read: the messages that were forwarded, each with
// its line feed. It ends with io.EOF where the client's input ends.
func (s *Stdio) Read(p []byte) (int, error) { return s.forwarded.Read(p) }

// Write takes what the server writes. Each message of it goes on to the client at its
// line feed, lists of tools rewritten, answers that came too late left out.
func (s *Stdio) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	searched := len(s.answers)
	s.answers = append(s.answers, p...)
	for {
		end := searched + bytes.IndexByte(s.answers[searched:], '\n')
		if end < searched {
			if len(s.answers) > MaxAnswerBytes {
				return 0, errLongLine
			}
			return len(p), nil
		}
		line := s.answers[:end]
		if err := s.answer(line); err != nil {
			return 0, err
		}
		s.answers = append(s.answers[:0], s.answers[end+1:]...)
		searched = 0
	}
}

// Abandon answers every request that the server has left without an answer, for when it
// is gone. why is a part of the answer.
func (s *Stdio) Abandon(why string) {
	s.gone.Store(&why)
	for _, id := range slices.Concat(s.held.stop(), s.pending.stop()) {
		_ = s.toClient.write(goneReply(id, why))
	}
}

var errLongLine = fmt.Errorf("a line of the server has more than %d bytes", MaxAnswerBytes)

// Close ends the server's input and all time bounds. It closes neither of the streams
// that NewStdio was given.
func (s *Stdio) Close() error {
	s.cancel()
	s.pending.stop()
	err := s.forwarded.Close()
	s.held.wait()
	return err
}

// answer takes one line of the server.
func (s *Stdio) answer(line []byte) error {
	text := bytes.TrimSpace(line)
	if len(text) == 0 {
		return nil
	}
	m, err := frame.Read(text)
	var refused *frame.Error
	if errors.As(err, &refused) && refused.Code == frame.CodeParseError {
		return s.noMessage(m.ID, text)
	}
	isAnswer := err == nil && m.Kind == frame.Response && m.ID != nil
	about := aboutOther
	if mentionsTools(text) {
		about = subjectOf(text, m, err)
	}
	switch {
	case isAnswer && s.asked.take(m.ID, text):
		return nil
	case about == aboutTools && (!isAnswer || !s.pending.waits(m.ID)):
		s.judge.logger.Warn("the server lists its tools unasked, which is not passed on")
		return nil
	case isAnswer && !s.pending.answered(m.ID):
		return nil
	case about == aboutTools && s.judge.asks():
		// The server may have to be asked, and its answer has to come through here.
		message := bytes.Clone(text)
		s.held.run(func() { _ = s.toClient.write(s.judge.Answer(s.ctx, message)) })
		return nil
	}
	if about != aboutOther {
		line = s.judge.Answer(s.ctx, text)
	}
	return s.toClient.write(line)
}

// noMessage drops a line that is no message: a reader that puts lines together could find
// another one in it. A request that it seems to answer is answered.
func (s *Stdio) noMessage(id, text []byte) error {
	s.judge.logger.Warn("a line of the server is no message and is dropped", zap.Int("bytes", len(text)))
	if id == nil || bytes.Contains(text, []byte("method")) || !s.pending.waits(id) || !s.pending.answered(id) {
		return nil
	}
	return s.toClient.write(errorReply(id, rpcError{Code: codeInternal, Message: "the answer of the server is not JSON in UTF-8, so it is not passed on"}))
}

// list asks the server for a page of its tools.
func (s *Stdio) list(ctx context.Context, cursor string) ([]byte, error) {
	id, answer := s.asked.next()
	defer s.asked.forget(id)
	if err := s.toServer.write(listRequest(id, cursor, s.held.lastMeta())); err != nil {
		return nil, err
	}
	select {
	case message := <-answer:
		return checkList(message)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// judgeLines puts each line of in to the judge.
func (s *Stdio) judgeLines(ctx context.Context, in io.Reader) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(lines)
		if len(bytes.TrimSpace(line)) > 0 {
			judge := s.judge.Judge
			if tooLong {
				judge = s.judge.TooLong
			}
			if tooLong || !s.hold(line) {
				if err := s.carry(judge(ctx, line)); err != nil {
					return err
				}
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// carry does what the judge decided.
func (s *Stdio) carry(d Decision) error {
	switch d.Action {
	case Forward:
		if d.Cancels != nil {
			if s.held.cancel(d.Cancels) {
				return nil // the server has never seen that call
			}
			s.pending.forget(d.Cancels)
		}
		if d.ID != nil && !s.pending.start(d, func() { s.expire(d) }) {
			if why := s.gone.Load(); why != nil {
				return s.toClient.write(goneReply(d.ID, *why))
			}
		}
		return s.toServer.write(d.Message)
	case Reply:
		return s.toClient.write(d.Message)
	case Drop:
	}
	return nil
}

// hold has a call wait where the tools of the server are not known yet. What comes after
// it goes on: the server may need it before it can list them.
func (s *Stdio) hold(line []byte) bool {
	if !s.judge.asks() {
		return false
	}
	message := bytes.TrimSpace(line)
	s.held.note(metaOf(message))
	if _, ready := s.judge.source.Ready(callerOf(s.ctx)); ready {
		return false
	}
	m, err := frame.Read(message)
	if err != nil || m.Method != methodCall || m.ID == nil {
		return false
	}
	message = bytes.Clone(message)
	s.held.call(s.ctx, m.ID, func(ctx context.Context, claim func() bool) {
		if d := s.judge.Judge(ctx, message); claim() {
			_ = s.carry(d)
		}
	})
	return true
}

// expire answers a call that has taken too long, and tells the server to let go of it.
func (s *Stdio) expire(d Decision) {
	_ = s.toClient.write(s.judge.TimeoutReply(d))
	_ = s.toServer.write(cancellation(d.ID))
}

// cancellation is a notifications/cancelled (MCP, cancellation).
func cancellation(id []byte) []byte {
	type params struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	}
	return encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", "notifications/cancelled", params{id, "the time limit of the tool is over"}})
}

// readLine reads one line without its line feed. Of one above MaxMessageBytes it keeps
// the beginning and reads the rest away. An error may come with a last line.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if room := MaxMessageBytes + len("\r\n") - len(line); len(part) > room {
			part, tooLong = part[:room], true
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		return line, tooLong || len(line) > MaxMessageBytes, err
	}
}

// lineWriter writes whole lines, one at a time.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) write(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := make([]byte, 0, len(line)+1)
	_, err := l.w.Write(append(append(whole, line...), '\n'))
	return err
}
