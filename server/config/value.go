package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
)

// setting is a value that was set, and where. The value is a string, a []string, an
// int, a time.Duration or a map[string]Reference, as the kind of the option says.
type setting struct {
	value  any
	origin Origin
}

// fault is what is wrong with a value, whoever set it.
type fault struct {
	problem, remedy string
	beyond          bool // a JSON Schema cannot say it
}

// parse reads one text: the value of the option or, of a list, one item.
func (o *Option) parse(text string) (any, *fault) {
	switch o.Kind {
	case Choice:
		return o.parseChoice(text)
	case Bool:
		if text != "true" && text != "false" {
			return nil, &fault{problem: "must be true or false"}
		}
		return text == "true", nil
	case Integer:
		return o.parseInteger(text)
	case Duration:
		return o.parseDuration(text)
	case Text, Texts, Path, Paths, References:
		if !matches(o.pattern, text) {
			return nil, &fault{problem: "must be " + o.what}
		}
	}
	return text, nil
}

func (o *Option) parseChoice(text string) (any, *fault) {
	for _, c := range o.Choices {
		if text == c {
			return text, nil
		}
	}
	f := &fault{problem: "must be one of " + strings.Join(o.Choices, ", ")}
	if near := nearest(text, o.Choices); near != "" {
		f.remedy = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, f
}

// notDecimal is beyond a JSON Schema where YAML has other ways to write an integer.
var notDecimal = fault{problem: "must be a decimal number without fraction, exponent or leading zeros", beyond: true}

const patternInteger = `^-?(0|[1-9][0-9]*)$`

func (o *Option) parseInteger(text string) (any, *fault) {
	if !matches(patternInteger, text) {
		f := notDecimal
		return nil, &f
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil && strings.HasPrefix(text, "-"):
		n = math.MinInt64
	case err != nil:
		n = math.MaxInt64
	}
	if n < o.Min || n > o.Max {
		return nil, &fault{problem: fmt.Sprintf("must be from %d to %d", o.Min, o.Max)}
	}
	return int(n), nil
}

func (o *Option) parseDuration(text string) (any, *fault) {
	if !matches(patternDuration, text) {
		return nil, &fault{problem: `must be a duration such as "30s" or "1m30s", of the units ms, s, m and h`}
	}
	d, err := time.ParseDuration(text)
	if err != nil || int64(d) < o.Min || int64(d) > o.Max {
		return nil, &fault{problem: fmt.Sprintf("must be from %s to %s", time.Duration(o.Min), time.Duration(o.Max)), beyond: true}
	}
	return d, nil
}

// checkName checks the name of one of several References.
func (o *Option) checkName(name string) *fault {
	switch {
	case !matches(o.pattern, name):
		return &fault{problem: "must be " + o.what}
	case o.refuse != "" && matches(o.refuse, name):
		return &fault{problem: "is a header that the gateway sets itself", remedy: "leave it out"}
	}
	return nil
}

// nearest returns the word that was likely meant, "" for none.
func nearest(word string, words []string) string {
	best, distance := "", 0
	folded := strings.ToLower(strings.ReplaceAll(word, "-", "_"))
	for _, candidate := range words {
		length := max(len(word), len(candidate))
		if len(word) > 2*len(candidate)+2 {
			continue // no typing error, and costly to compare
		}
		d := levenshtein.ComputeDistance(folded, strings.ToLower(candidate))
		if d <= (length+2)/3 && d < length && (best == "" || d < distance) {
			best, distance = candidate, d
		}
	}
	return best
}
