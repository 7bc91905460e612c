package config

import (
	"fmt"
	"strings"
)

// environment is the layer of the variables. An empty one counts as not set. A list is
// separated by commas.
func environment(environ []string) (layer, edits) {
	given := map[string][]string{}
	var strangers []Problem
	for _, assignment := range environ {
		name, text, _ := strings.Cut(assignment, "=")
		if !strings.HasPrefix(name, variablePrefix) || text == "" {
			continue
		}
		o := optionByVariable(name)
		switch {
		case o == nil:
			strangers = append(strangers, stranger(name)...)
		case o.list() || o.Flag == "upstream" || o.perUpstream():
			given[o.Flag] = strings.Split(text, ",")
		default:
			given[o.Flag] = []string{text}
		}
	}
	l, e := layerOf(given, func(o *Option) Origin { return Origin{Variable: o.Env()} })
	l.warnings = strangers
	return l, e
}

func optionByVariable(name string) *Option {
	for _, o := range table {
		if o.Env() == name {
			return o
		}
	}
	return nil
}

// stranger warns of a variable that is likely misspelt. Others with the same prefix are
// none of ours: Kubernetes sets SALLYPORT_PORT and the like where a service has that name.
func stranger(name string) []Problem {
	var names []string
	for _, o := range table {
		if o.Env() != "" {
			names = append(names, o.Env())
		}
	}
	word := strings.TrimPrefix(name, variablePrefix)
	if name == FileVariable || strings.HasPrefix(word, "PORT") || strings.HasPrefix(word, "SERVICE_") {
		return nil
	}
	for _, known := range names {
		if near := nearest(word, []string{strings.TrimPrefix(known, variablePrefix)}); near != "" {
			return []Problem{{
				Origin: Origin{Variable: printable(name)}, Problem: "there is no such variable, so it has no effect",
				Remedy: fmt.Sprintf("did you mean %s?", variablePrefix+near), beyond: true,
			}}
		}
	}
	return nil
}

// lookup finds a variable in a list as os.Environ returns it.
func lookup(environ []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := len(environ) - 1; i >= 0; i-- {
			if key, value, ok := strings.Cut(environ[i], "="); ok && key == name {
				return value, true
			}
		}
		return "", false
	}
}
