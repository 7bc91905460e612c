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
	work := DefaultWork
	return CompileWithin(&work, pattern)
}

// DefaultWork is what Compile spends at most on finding out the width of a pattern, some
// 12 ms.
const DefaultWork = 400_000

// CompileWithin is Compile with a bound on what finding out the width may take, from which
// it takes off what it has taken: one and the same for many patterns bounds all of them. A
// pattern that is left without counts as wide as it can be at most.
func CompileWithin(work *int, pattern string) (*Pattern, error) {
	p, err := parse(pattern, &strings.Builder{})
	if err != nil {
		return nil, err
	}
	if p.unsupported != nil {
		return nil, p.unsupported
	}
	compiled := &Pattern{}
	if compiled.main, err = compiled.add(p.out.String(), work); err != nil {
		return nil, err
	}
	for _, l := range p.ahead {
		re, err := compiled.add(`\A(?:`+l.translated+`)`, work)
		if err != nil {
			return nil, err
		}
		compiled.ahead = append(compiled.ahead, assertion{re, l.negated})
	}
	return compiled, nil
}

// maxOnePass bounds the characters and ends of ranges of all states together, up to which
// Go's engine may go over a text in one pass. For that it copies them for each state:
// [\p{Lu}\p{Nd}]{990} would take megabytes.
const maxOnePass = 1_000

// add compiles a part, and adds to the size of the whole. The size is looked at first:
// a{999}{999} is short and takes gigabytes.
func (p *Pattern) add(translated string, work *int) (*regexp.Regexp, error) {
	parsed, err := syntax.Parse(translated, syntax.Perl)
	if err == nil {
		p.bytes += len(translated)
		s := sizeOf(parsed)
		if p.states += s.states + 2; p.states > MaxStates {
			return nil, &UnsupportedError{Feature: tooLarge, Remedy: sizeRemedy}
		}
		if s.runes > maxOnePass {
			translated = "(" + translated + ")" // a group at the start keeps it from that
		}
		var compiled *regexp.Regexp
		if compiled, err = regexp.Compile(translated); err == nil {
			p.width += widthOf(parsed.Simplify(), false, work)
			return compiled, nil
		}
	}
	var limit *syntax.Error
	if errors.As(err, &limit) && limit.Code == syntax.ErrInvalidRepeatSize {
		return nil, &UnsupportedError{Feature: "a repeat of more than 1000, or repeats within repeats that come to more", Remedy: sizeRemedy}
	}
	return nil, &UnsupportedError{Feature: tooLarge, Remedy: sizeRemedy}
}

// size is that of an automaton.
type size struct {
	states int
	runes  int // characters and ends of ranges, of all states together
}

// times is the size of n automata, or so much that it is too much.
func (s size) times(n int) size { return size{min(s.states*n, tooMany), min(s.runes*n, tooMany)} }

func (s size) plus(other size) size {
	return size{min(s.states+other.states, tooMany), min(s.runes+other.runes, tooMany)}
}

const tooMany = 1 << 20

// sizeOf returns the size of the automaton of re, by the way that regexp/syntax compiles
// it; one beyond MaxStates is not exact.
func sizeOf(re *syntax.Regexp) size {
	var all size
	for _, sub := range re.Sub {
		all = all.plus(sizeOf(sub))
	}
	one := size{states: 1}
	switch re.Op {
	case syntax.OpConcat:
		return all
	case syntax.OpLiteral:
		return size{max(1, len(re.Rune)), len(re.Rune)}
	case syntax.OpCharClass:
		return size{1, len(re.Rune)}
	case syntax.OpCapture:
		return all.plus(one.times(2))
	case syntax.OpAlternate:
		return all.plus(one.times(len(re.Sub) - 1))
	case syntax.OpRepeat:
		return one.plus(all.times(max(re.Max, re.Min, 1))).plus(one.times(max(re.Max-re.Min, 0)))
	default:
		return all.plus(one)
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
