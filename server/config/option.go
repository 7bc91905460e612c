package config

import (
	"strings"
)

// Kind is the kind of value that an option has.
type Kind string

// The kinds. Each is written in the file as the comment says.
const (
	Choice     Kind = "choice"     // one of a few words
	Text       Kind = "text"       // a string
	Texts      Kind = "texts"      // a list of strings
	Path       Kind = "path"       // a string: file or folder
	Paths      Kind = "paths"      // a list of such strings
	Bool       Kind = "bool"       // true or false
	Integer    Kind = "integer"    // a decimal number
	Duration   Kind = "duration"   // a string such as "1m30s"
	References Kind = "references" // an object of names, each with where its value is
)

// Option is one thing that can be set.
type Option struct {
	// Key is its place in the file, such as "engine.mode". What begins with
	// "upstreams[]." every upstream has for itself.
	Key string
	// Flag is the name of its flag, without dashes; "" for what stands on the command
	// line after "--".
	Flag string
	Kind Kind
	// Choices are the words of a Choice; of a Path, words that are no path.
	Choices []string
	// Min and Max bound an Integer, or a Duration in nanoseconds.
	Min, Max int64
	// Default is what holds when nothing is set, written as for the flag. Where it is
	// empty, Absent says in words what holds then.
	Default string
	Absent  string
	Usage   string

	pattern string // of a text, or of each text of a list or each name of References
	what    string // what pattern wants, in words
	refuse  string // pattern that names of References must not match
	repeats bool   // the same text may stand in the list twice
	plain   bool   // References may hold the value itself
	folder  bool   // Path and Paths: of a folder, for completion
	group   string // of the options with the same group, only those of the highest layer hold
	field   func(*Config, *Upstream) any
}

const upstreamPrefix = "upstreams[]."

// variablePrefix begins the name of every environment variable.
const variablePrefix = "SALLYPORT_"

// Env returns the name of its environment variable, "" where there is none.
func (o Option) Env() string {
	if o.Flag == "" {
		return ""
	}
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(o.Flag, "-", "_"))
}

// Folder says that the value is a folder, or a list of folders.
func (o Option) Folder() bool { return o.folder }

// perUpstream says that each upstream has the option for itself.
func (o Option) perUpstream() bool { return strings.HasPrefix(o.Key, upstreamPrefix) }

// member returns the last part of the key.
func (o Option) member() string { return o.Key[strings.LastIndexByte(o.Key, '.')+1:] }

// list says that the flag may be repeated, and that the variable holds a list.
func (o Option) list() bool { return o.Kind == Texts || o.Kind == Paths || o.Kind == References }

// Options returns everything that can be set, in the order of the file.
func Options() []Option {
	options := make([]Option, 0, len(table))
	for _, o := range table {
		options = append(options, *o)
	}
	return options
}

func optionOf(key string) *Option {
	for _, o := range table {
		if o.Key == key {
			return o
		}
	}
	return nil
}

// object says what holds for the members of an object in the file.
type object struct {
	usage      string
	required   []string
	exactlyOne []string
	needs      map[string]string // a member -> the member that it makes no sense without
}

// objects holds every object of the file; "" is the whole of it.
var objects = map[string]object{
	"":                {usage: "Configuration of sallyport."},
	"engine":          {usage: "How calls are judged."},
	"engine.bundle":   {usage: "Rules of your own as an OPA bundle.", needs: map[string]string{"url": "key", "key": "file", "poll": "url", "algorithm": "key"}},
	"engine.leniency": {usage: "Repairs that are allowed, for the tools named."},
	"listen":          {usage: "The HTTP side that clients see."},
	"listen.tls":      {usage: "The certificate that is served.", required: []string{"cert", "key"}},
	"listen.token":    {usage: "The bearer token that clients have to send: where it is, never the token itself.", exactlyOne: []string{"file", "env"}},
	"listen.limits":   {usage: "What a client may take up."},
	"upstreams[]": {
		usage: "One MCP server behind the gateway: at a URL, or a child process.", required: []string{"name"}, exactlyOne: []string{"url", "command"},
		needs: map[string]string{"headers": "url", "args": "command", "env": "command", "cwd": "command"},
	},
	"record":       {usage: "Records of the calls that are judged, for sallyport replay.", needs: map[string]string{"token": "url", "delay": "url"}},
	"record.token": {usage: "The bearer token for the service: where it is, never the token itself.", exactlyOne: []string{"file", "env"}},
	"log":          {usage: "The log, on standard error."},
}

// optionOfIndexed finds the option of a key such as "upstreams[0].lock".
func optionOfIndexed(key string) *Option {
	if rest, ok := strings.CutPrefix(key, "upstreams["); ok {
		_, member, _ := strings.Cut(rest, ".")
		key = upstreamPrefix + member
	}
	return optionOf(key)
}
