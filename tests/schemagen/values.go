package schemagen

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

func pointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
	}
	return b.String()
}

// child never shares memory with its siblings.
func child(path []string, token string) []string { return append(slices.Clone(path), token) }

func lookup(v any, path []string) (any, bool) {
	for _, token := range path {
		switch c := v.(type) {
		case map[string]any:
			member, ok := c[token]
			if !ok {
				return nil, false
			}
			v = member
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// replace returns v with another value at a path, and leaves v as it is.
func replace(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch c := v.(type) {
	case map[string]any:
		c = maps.Clone(c)
		c[path[0]] = replace(c[path[0]], path[1:], value)
		return c
	case []any:
		i, _ := strconv.Atoi(path[0])
		c = slices.Clone(c)
		c[i] = replace(c[i], path[1:], value)
		return c
	}
	panic("schemagen: no place at " + pointer(path))
}

func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

var types = []any{"null", "boolean", "integer", "number", "string", "array", "object"}

// hasType says whether a value is of one of the types; 1.0 is an integer.
func hasType(v any, allowed []any) bool {
	switch v := v.(type) {
	case nil:
		return slices.Contains(allowed, any("null"))
	case bool:
		return slices.Contains(allowed, any("boolean"))
	case json.Number:
		return slices.Contains(allowed, any("number")) || slices.Contains(allowed, any("integer")) && rat(v).IsInt()
	case string:
		return slices.Contains(allowed, any("string"))
	case []any:
		return slices.Contains(allowed, any("array"))
	}
	return slices.Contains(allowed, any("object"))
}

func rat(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		panic("schemagen: not a number: " + string(n))
	}
	return r
}

// equal compares JSON values; 1 and 1.0 are the same.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && rat(a).Cmp(rat(b)) == 0
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	}
	switch b.(type) {
	case json.Number, []any, map[string]any:
		return false
	}
	return a == b
}

func contains(list []any, v any) bool {
	return slices.ContainsFunc(list, func(e any) bool { return equal(e, v) })
}
