package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Value is one value that holds, fit to show: of secrets, where they are.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	// Set says that the value is not the default.
	Set bool `json:"set"`
}

// Values returns every value that holds, in the order of the file.
func (s *Settings) Values() []Value { return append([]Value(nil), s.values...) }

func (s *Settings) fillValues() {
	var all, last []Value // the log stands behind the upstreams
	for _, o := range table {
		if !o.perUpstream() {
			v := s.value(o, o.Key, nil)
			if strings.HasPrefix(o.Key, "log.") {
				last = append(last, v)
				continue
			}
			all = append(all, v)
		}
	}
	for i := range s.Upstreams {
		for _, o := range table {
			if o.perUpstream() {
				all = append(all, s.upstreamValues(o, o.keyOf(i), &s.Upstreams[i])...)
			}
		}
	}
	s.values = slices.Concat(all, last)
}

// upstreamValues returns the values of an option of an upstream; none where it has no part.
func (s *Settings) upstreamValues(o *Option, key string, u *Upstream) []Value {
	field := reflect.ValueOf(o.field(&s.Config, u)).Elem()
	if field.IsZero() {
		return nil
	}
	refs, ok := field.Interface().(map[string]Reference)
	if !ok {
		return []Value{s.value(o, key, u)}
	}
	var list []Value
	for _, name := range sortedKeys(refs) {
		list = append(list, Value{Key: key + "." + name, Value: refs[name].String(), Origin: s.origins[key].String(), Set: true})
	}
	return list
}

func (s *Settings) value(o *Option, key string, u *Upstream) Value {
	at, set := s.origins[key]
	v := Value{Key: key, Origin: at.String(), Set: set}
	field := reflect.ValueOf(o.field(&s.Config, u)).Elem()
	if field.IsZero() && !set {
		v.Value = "(" + o.Absent + ")"
		return v
	}
	switch value := field.Interface().(type) {
	case time.Duration:
		v.Value = shortDuration(value)
	case []string:
		v.Value = printable(strings.Join(value, ", "))
	default:
		v.Value = printable(fmt.Sprint(value))
	}
	if o.member() == "url" {
		v.Value = withoutQuery(v.Value)
	}
	return v
}

// shortDuration writes 2m for 2m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// withoutQuery hides the query of a URL, where some servers want a key.
func withoutQuery(url string) string {
	if base, query, ok := strings.Cut(url, "?"); ok && query != "" {
		return base + "?(not shown)"
	}
	return url
}
