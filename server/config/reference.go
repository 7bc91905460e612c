package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Reference says where a secret is: in a file or in an environment variable. For a
// variable of a child process it may also be the text itself. The text is not shown
// when a Reference is printed, logged or encoded.
type Reference struct {
	File string
	Env  string
	text string
	set  bool // text is the value, be it empty
}

// String says where the value is, not what it is.
func (r Reference) String() string {
	switch {
	case r.File != "":
		return "file " + printable(r.File)
	case r.Env != "":
		return "environment " + r.Env
	case r.set:
		return "(text, not shown)"
	}
	return ""
}

// GoString is String, so that %#v does not show the text either.
func (r Reference) GoString() string { return r.String() }

// MarshalText is String, for encoders.
func (r Reference) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// IsZero says that nothing is referred to.
func (r Reference) IsZero() bool { return r == Reference{} }

// longestSecret bounds a file with a secret, in bytes.
const longestSecret = 64 << 10

// Read returns the value. One line end at the end of a file is no part of it. A value
// that is missing, empty, of several lines or longer than 64 KiB is an error, which
// never holds any of it; only a text may be empty or have several lines. lookup is
// os.LookupEnv, or what stands in for it.
func (r Reference) Read(lookup func(string) (string, bool)) (string, error) {
	value, name := r.text, r.String()
	switch {
	case r.File != "":
		var err error
		if value, err = readSecret(r.File); err != nil {
			return "", err
		}
	case r.Env != "":
		found, ok := lookup(r.Env)
		if !ok {
			return "", fmt.Errorf("the environment variable %s is not set", r.Env)
		}
		value = found
	case r.set:
		return value, nil
	default:
		return "", errors.New("refers to nothing")
	}
	switch {
	case value == "":
		return "", fmt.Errorf("%s is empty", name)
	case len(value) > longestSecret:
		return "", fmt.Errorf("%s has more than %d bytes", name, longestSecret)
	case strings.ContainsAny(value, "\r\n\x00"):
		return "", fmt.Errorf("%s must be a single line", name)
	}
	return value, nil
}

func readSecret(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, longestSecret+int64(len("\r\n"))+1))
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}
