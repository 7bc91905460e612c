package pins

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// placeError says what is wrong at a place of a JSON text.
type placeError struct {
	pointer string // RFC 6901; "" for the whole
	line    int    // from 1; 0 where it is not known
	column  int    // in bytes, from 1
	cause   error
}

// Error says where, then what.
func (e *placeError) Error() string {
	at := ""
	if e.line > 0 {
		at = fmt.Sprintf("line %d, column %d: ", e.line, e.column)
	}
	if e.pointer != "" {
		at += "at " + quote(e.pointer, maxShownPointer) + ": "
	}
	return at + e.cause.Error()
}

// Unwrap returns what is wrong.
func (e *placeError) Unwrap() error { return e.cause }

func at(pointer, format string, args ...any) error {
	return &placeError{pointer: pointer, cause: fmt.Errorf(format, args...)}
}

// placed says where in a text an error of the JSON library is. It keeps nothing of what
// that library shows of the text.
func placed(err error, text []byte) error {
	var known *placeError
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return position(text, len(text), &placeError{cause: errors.New("not valid JSON: the text ends too early")})
	case errors.As(err, &syntactic):
		cause := errors.New("not valid JSON")
		if errors.Is(err, jsontext.ErrDuplicateName) {
			cause = errors.New("the member occurs twice")
		}
		return position(text, int(syntactic.ByteOffset), &placeError{pointer: string(syntactic.JSONPointer), cause: cause})
	case errors.As(err, &semantic):
		cause := errors.New("not what is expected here")
		if errors.Is(err, json.ErrUnknownName) {
			cause = errors.New("unknown member")
		}
		return position(text, int(semantic.ByteOffset), &placeError{pointer: string(semantic.JSONPointer), cause: cause})
	}
	return err
}

func position(text []byte, offset int, e *placeError) error {
	before := text[:max(0, min(offset, len(text)))]
	e.line = 1 + bytes.Count(before, []byte("\n"))
	e.column = len(before) - bytes.LastIndexByte(before, '\n')
	return e
}
