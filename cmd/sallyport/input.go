package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sallyport-mcp/sallyport/server"
)

// input is one file, or standard input.
type input struct {
	r      io.Reader
	read   *atomic.Int64
	before func() error // called before a read, which may wait for long
	fault  error        // why reading failed; nil at a regular end
	close  func()
}

// openInput opens a file; "-" is stdin. A read that waits ends with ctx.
func openInput(ctx context.Context, name string, stdin io.Reader) (*input, error) {
	source, release := stdin, func() {}
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		source, release = file, func() { _ = file.Close() }
	}
	// A read that the system blocks in cannot be called off, only left behind.
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, source)
		_ = w.CloseWithError(err)
	}()
	forget := context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) })
	return &input{r: r, close: func() {
		forget()
		_ = r.Close()
		release()
	}}, nil
}

// Read reads, and remembers why it could not.
func (in *input) Read(b []byte) (int, error) {
	if err := in.before(); err != nil {
		in.fault = err
		return 0, err
	}
	n, err := in.r.Read(b)
	in.read.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		in.fault = err
	}
	return n, err
}

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
// blank or, where the whole of r is one JSON value over several lines, for that
// one. Memory is bounded however long a line is.
func eachMessage(r io.Reader, handle func(message) error) error {
	document, lines := wholeDocument(r)
	if document != nil {
		return handle(*document)
	}
	for {
		m, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := handle(m); err != nil {
			return err
		}
	}
}

// wholeDocument tells whether r is one JSON value over several lines. It reads no
// further than it takes to know: for lines that is the first value, or the first
// character that no value can have. Without a document, lines starts from the
// beginning of r again.
func wholeDocument(r io.Reader) (document *message, lines *lineReader) {
	var held bytes.Buffer
	limited := io.LimitReader(r, longestDocument+1)
	decoder := jsontext.NewDecoder(io.TeeReader(limited, &held), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	value, err := decoder.ReadValue()
	if err == nil && bytes.IndexByte(value, '\n') >= 0 {
		end := int(decoder.InputOffset())
		start := end - len(value)
		if _, err := decoder.ReadToken(); errors.Is(err, io.EOF) && held.Len() <= longestDocument {
			line := 1 + bytes.Count(held.Bytes()[:start], []byte("\n"))
			return &message{line: line, text: held.Bytes()[start:end]}, nil
		}
	}
	return nil, &lineReader{r: bufio.NewReaderSize(io.MultiReader(&held, r), 64<<10)}
}

type lineReader struct {
	r    *bufio.Reader
	line int
	buf  []byte
}

// next returns the next line that is not blank, or io.EOF. Blank is what JSON
// takes for white space: any other character makes a message, if a bad one.
func (l *lineReader) next() (message, error) {
	for {
		text, tooLong, err := l.read()
		if tooLong || len(bytes.Trim(text, " \t\r\n")) > 0 {
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
