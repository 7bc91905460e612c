package config

import (
	"fmt"
	"strings"
)

// flagCommand stands in the place of a flag for the arguments after "--".
const flagCommand = "-- COMMAND [ARG...]"

const referenceHead = `# What can be set

Generated from the table in [table.go](table.go); a test compares them. A flag beats the variable, which beats the file, which beats
the default. A list is replaced as a whole, never added to. The whole file is described by [sallyport.schema.json](sallyport.schema.json).

- A flag of a list is repeated for each item; a variable separates them by commas. A variable that is empty counts as not set.
- Paths in the file are relative to its folder; those of flags and variables to the working folder.
- What an upstream has for itself is ` + "`[NAME=]VALUE`" + ` on the command line: with the name of the upstream, which may be left out where there is
  but one.
- ` + "`-- COMMAND [ARG...]`" + ` and ` + "`--upstream`" + ` replace the upstreams of the file.
- Nothing in the file is replaced by the environment. A secret is named by its file or its variable, and read when it is needed.
- Of YAML, aliases, anchors, tags, merge keys and several documents are refused. Texts that look like numbers, dates or booleans need quotes.

| key | value | default | flag, and variable | what it does |
| --- | --- | --- | --- | --- |
`

// reference is the documentation of all options.
func reference() []byte {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, o := range table {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", o.Key, inWords(o), defaultInWords(o), flagInWords(o), strings.ReplaceAll(o.Usage, "<", "&lt;"))
	}
	return []byte(b.String())
}

func inWords(o *Option) string {
	words := ""
	if len(o.Choices) > 0 {
		words = "`" + strings.Join(o.Choices, "`, `") + "`"
	}
	switch o.Kind {
	case Choice:
		return words
	case Bool:
		return "true or false"
	case Integer:
		return fmt.Sprintf("%d to %d", o.Min, o.Max)
	case Duration:
		low := "0s"
		if o.Min > 0 {
			low = shortDuration(timeOf(o.Min))
		}
		return low + " to " + shortDuration(timeOf(o.Max))
	case Texts, Paths:
		return "list: " + o.what
	case References:
		if o.plain {
			return "object: name to text, `{file: FILE}` or `{env: VARIABLE}`"
		}
		return "object: name to `{file: FILE}` or `{env: VARIABLE}`"
	case Text, Path:
	}
	if words != "" {
		return words + " or " + o.what
	}
	return o.what
}

func defaultInWords(o *Option) string {
	if o.Default != "" {
		return "`" + o.Default + "`"
	}
	return o.Absent
}

func flagInWords(o *Option) string {
	if o.Flag == "" {
		return "`" + flagCommand + "`"
	}
	return fmt.Sprintf("`--%s` `%s`", o.Flag, o.Env())
}
