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
	"strings"
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

// runesPerState is how many ends of ranges of a class count as one more state.
const runesPerState = 32

// MaxStates bounds the automaton of one pattern.
const MaxStates = 20_000

// Pattern is a pattern of ECMA-262, compiled for Go's engine. It is safe for concurrent
// use.
type Pattern struct {
	main   *regexp.Regexp
	ahead  []assertion // what has to hold at the start of the text as well
	states int
	width  int
	bytes  int
}

// assertion is a lookahead at the start of a text.
type assertion struct {
	regexp  *regexp.Regexp
	negated bool
}

// States is how many states the automaton has, at most.
func (p *Pattern) States() int { return p.states }

// Width is in how many states the automaton can be at once, at most. A match takes time
// in proportion to it and to the length of the text.
func (p *Pattern) Width() int { return p.width }

// Bytes is the size of the pattern as Go's engine reads it; a class such as \p{L} takes
// some thousand.
func (p *Pattern) Bytes() int { return p.bytes }

// MatchString says whether text has a match.
func (p *Pattern) MatchString(text string) bool {
	for _, a := range p.ahead {
		if a.regexp.MatchString(text) == a.negated {
			return false
		}
	}
	return p.main.MatchString(text)
}

// Compile returns a pattern that matches the same texts, as far as they are valid UTF-8,
// as RegExp.prototype.test with the flag u (ECMA-262 section 22.2). The error is a
// *SyntaxError or an *UnsupportedError.
//
// A few things are taken that Unicode mode refuses, since schemas are full of them:
// escaped punctuation, and brackets and braces that stand for themselves.
//
// Lookahead is supported where it follows a ^ at the start of the pattern, which is how
// generated schemas use it: it is a pattern of its own then.
func Compile(pattern string) (*Pattern, error) {
	p, err := parse(pattern, &strings.Builder{})
	if err != nil {
		return nil, err
	}
	if p.unsupported != nil {
		return nil, p.unsupported
	}
	compiled := &Pattern{}
	if compiled.main, err = compiled.add(p.out.String()); err != nil {
		return nil, err
	}
	for _, l := range p.ahead {
		re, err := compiled.add(`\A(?:` + l.translated + `)`)
		if err != nil {
			return nil, err
		}
		compiled.ahead = append(compiled.ahead, assertion{re, l.negated})
	}
	return compiled, nil
}

// add compiles a part, and adds to the size of the whole. The size is looked at first:
// a{999}{999} is short and takes gigabytes.
func (p *Pattern) add(translated string) (*regexp.Regexp, error) {
	parsed, err := syntax.Parse(translated, syntax.Perl)
	if err == nil {
		p.bytes += len(translated)
		if p.states += states(parsed) + 2; p.states > MaxStates {
			return nil, &UnsupportedError{Feature: tooLarge, Remedy: sizeRemedy}
		}
		var compiled *regexp.Regexp
		if compiled, err = regexp.Compile(translated); err == nil {
			return compiled, p.widen(parsed)
		}
	}
	var limit *syntax.Error
	if errors.As(err, &limit) && limit.Code == syntax.ErrInvalidRepeatSize {
		return nil, &UnsupportedError{Feature: "a repeat of more than 1000, or repeats within repeats that come to more", Remedy: sizeRemedy}
	}
	return nil, &UnsupportedError{Feature: tooLarge, Remedy: sizeRemedy}
}

func (p *Pattern) widen(parsed *syntax.Regexp) error {
	program, err := syntax.Compile(parsed.Simplify())
	if err == nil {
		p.width += width(program)
	}
	return err
}

// states returns how many states the automaton of re has, by the way that regexp/syntax
// compiles it; a count beyond MaxStates is not exact.
func states(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n = min(n+states(sub), 2*MaxStates)
	}
	switch re.Op {
	case syntax.OpConcat:
		return n
	case syntax.OpLiteral:
		return max(1, len(re.Rune))
	case syntax.OpCharClass: // Go's engine may keep a copy of its ranges for each state
		return 1 + len(re.Rune)/runesPerState
	case syntax.OpCapture:
		return n + 2
	case syntax.OpAlternate:
		return n + len(re.Sub) - 1
	case syntax.OpRepeat:
		return max(1, n*max(re.Max, re.Min, 1)+max(re.Max-re.Min, 1))
	default:
		return n + 1
	}
}

// Check returns nil if the text is a pattern of ECMA-262, whether Compile can
// express it or not, else a *SyntaxError.
func Check(pattern string) error {
	_, err := parse(pattern, nil)
	return err
}

// parse writes the translation to out, unless that is nil.
func parse(pattern string, out *strings.Builder) (p *parser, err error) {
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
	p = &parser{text: pattern, out: out, names: map[string]bool{}, properties: map[property]runeSet{}}
	p.pattern()
	return p, nil
}
