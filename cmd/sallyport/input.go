package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/sallyport-mcp/sallyport/server"
)

// longestDocument is how much of an input is held to find out whether it is one
// document over several lines.
const longestDocument = 2 * server.MaxMessageBytes

// message is one message of an input.
type message struct {
	line    int    // where it starts, from 1
	text    []byte // valid until the next message is read
	tooLong bool   // text is only its beginning
}

// eachMessage calls handle for every message in r: for each line that is not
// blank or, where the first line is only the beginning of a JSON value and the
// whole input is one, for that one. Memory is bounded however long a line is.
func eachMessage(r io.Reader, handle func(message) error) error {
	lines := &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
	first, err := lines.next()
	if err != nil {
		return ignoreEnd(err)
	}
	if !first.tooLong && startsValue(first.text) {
		whole, rest, err := lines.whole(first)
		if err != nil {
			return err
		}
		if whole != nil {
			return handle(message{line: first.line, text: whole})
		}
		lines = &lineReader{r: bufio.NewReaderSize(rest, 64<<10), line: first.line - 1}
		if first, err = lines.next(); err != nil {
			return ignoreEnd(err)
		}
	}
	for m := first; ; {
		if err := handle(m); err != nil {
			return err
		}
		if m, err = lines.next(); err != nil {
			return ignoreEnd(err)
		}
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// startsValue says whether text could go on to be a JSON value.
func startsValue(text []byte) bool {
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&value)
	return errors.Is(err, io.ErrUnexpectedEOF)
}

type lineReader struct {
	r    *bufio.Reader
	line int
	buf  []byte
}

// next returns the next line that is not blank, or io.EOF.
func (l *lineReader) next() (message, error) {
	for {
		text, tooLong, err := l.read()
		if len(bytes.TrimSpace(text)) > 0 {
			if errors.Is(err, io.EOF) {
				err = nil // the next call finds the end again
			}
			return message{line: l.line, text: text, tooLong: tooLong}, err
		}
		if err != nil {
			return message{}, err
		}
	}
}

// read returns one line without its end. Of a line that is too long it keeps the
// beginning and reads past the rest.
func (l *lineReader) read() (text []byte, tooLong bool, err error) {
	l.line++
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if room := server.MaxMessageBytes + len("\r\n") - len(l.buf); len(part) > room {
			part, tooLong = part[:max(room, 0)], true
		}
		l.buf = append(l.buf, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			text = bytes.TrimSuffix(bytes.TrimSuffix(l.buf, []byte("\n")), []byte("\r"))
			return text, tooLong || len(text) > server.MaxMessageBytes, err
		}
	}
}

// whole reads on after a first line. It returns the input if that is one JSON
// value, or else a reader that starts at the first line again.
func (l *lineReader) whole(first message) ([]byte, io.Reader, error) {
	held := append(bytes.Clone(first.text), '\n')
	rest, err := io.ReadAll(io.LimitReader(l.r, longestDocument-int64(len(held))+1))
	if err != nil {
		return nil, nil, err
	}
	held = append(held, rest...)
	if len(held) <= longestDocument && json.Valid(held) {
		return bytes.TrimSpace(held), nil, nil
	}
	return nil, io.MultiReader(bytes.NewReader(held), l.r), nil
}
