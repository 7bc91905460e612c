// Package ecma reads regular expressions of ECMA-262, in Unicode mode, and writes
// them for Go's engine, which takes time linear in the text.
//
// It imports the standard library alone and knows nothing of schemas.
package ecma

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// SyntaxError says why a text is no pattern of ECMA-262.
type SyntaxError struct {
	Offset  int // in bytes
	Problem string
	Remedy  string
}

// Error reads "at offset 3: problem".
func (e *SyntaxError) Error() string { return fmt.Sprintf("at offset %d: %s", e.Offset, e.Problem) }

// UnsupportedError names what a pattern of ECMA-262 needs and Go's engine has not.
type UnsupportedError struct {
	Offset  int // in bytes
	Feature string
	Remedy  string // "" where another engine is the remedy
}

// Error reads "at offset 3: lookahead is not supported".
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("at offset %d: %s is not supported", e.Offset, e.Feature)
}

// Translate returns a pattern for package regexp that matches the same texts, as far
// as they are valid UTF-8, as RegExp.prototype.test with the flag u (ECMA-262 section
// 22.2). The error is a *SyntaxError or an *UnsupportedError.
//
// A few things are taken that Unicode mode refuses, since schemas are full of them:
// escaped punctuation, and brackets and braces that stand for themselves.
func Translate(pattern string) (string, error) {
	p, err := parse(pattern)
	if err != nil {
		return "", err
	}
	if p.unsupported != nil {
		return "", p.unsupported
	}
	translated := p.out.String()
	if _, err := regexp.Compile(translated); err != nil {
		feature := tooLarge
		var limit *syntax.Error
		if errors.As(err, &limit) && limit.Code == syntax.ErrInvalidRepeatSize {
			feature = "a repeat of more than 1000"
		}
		return "", &UnsupportedError{Feature: feature, Remedy: boundRemedy}
	}
	return translated, nil
}

// Check returns nil if the text is a pattern of ECMA-262, whether Translate can
// express it or not, else a *SyntaxError.
func Check(pattern string) error {
	_, err := parse(pattern)
	return err
}

func parse(pattern string) (p *parser, err error) {
	defer func() {
		if f, failed := recover().(fail); failed {
			p, err = nil, f.err
		}
	}()
	if !utf8.ValidString(pattern) {
		// U+FFFD written out is valid, so the first invalid byte is found by its size.
		for i, r := range pattern {
			if _, size := utf8.DecodeRuneInString(pattern[i:]); r == utf8.RuneError && size == 1 {
				return nil, &SyntaxError{Offset: i, Problem: "the pattern is not valid UTF-8"}
			}
		}
	}
	p = &parser{text: pattern, names: map[string]bool{}, properties: map[string]runeSet{}}
	p.pattern()
	return p, nil
}
