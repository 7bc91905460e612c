package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sallyport": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("BERNSTEIN_MCP_VALIDATION", "")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"payload": makePayload,
			"repeat":  repeat,
		},
	})
}

// makePayload writes an object of exactly so many bytes: payload FILE BYTES.
func makePayload(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	const frame = `{"a":""}`
	text := `{"a":"` + strings.Repeat("x", size-len(frame)) + `"}`
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// repeat writes a text so many times over: repeat FILE TIMES TEXT.
func repeat(ts *testscript.TestScript, _ bool, args []string) {
	times, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(text, times)), 0o600))
}
