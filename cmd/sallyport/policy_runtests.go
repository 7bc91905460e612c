package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-mcp/sallyport/engine/workshop"
)

func newPolicyTest(s streams) *cobra.Command {
	format := choice{value: "text", allowed: []string{"text", "json", "junit"}}
	var threshold float64
	var verbose bool
	cmd := &cobra.Command{
		Use:   "test DIR...",
		Short: "Run the tests of rules, as opa test does, with coverage",
		Long: `Run the tests in folders of rules, with OPA's own test runner and the checks that
rules are loaded with. The built-in rules and their data are there for the tests to
use, unless a folder holds a whole set of rules itself. Stock opa gives the same result:
opa test policies/ DIR... .

Exit code 0: all tests pass, and coverage is enough; 1: not so; 2: the work could not
be done, since a module does not compile for one.`,
		Example: `  sallyport policy test rules
  sallyport policy test --threshold 100 --verbose rules
  sallyport policy test --output junit rules > tests.xml`,
		Args: withHint(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var folders []workshop.Folder
			for _, name := range args {
				if err := isFolder(name); err != nil {
					return err
				}
				folders = append(folders, workshop.Folder{Name: filepath.ToSlash(filepath.Clean(name)), FS: os.DirFS(name)})
			}
			report, err := workshop.Test(cmd.Context(), folders)
			if err != nil {
				return fmt.Errorf("no tests:\n%w", err)
			}
			if len(report.Tests) == 0 {
				return errors.New("there are no tests: write rules named test_... into files that end in _test.rego")
			}
			enough := report.Coverage >= threshold
			switch format.value {
			case "json":
				err = writeJSON(s.out, report)
			case "junit":
				err = writeTestsAsJUnit(s.out, report)
			default:
				err = writeTests(s.out, report, verbose, threshold > 0 && !enough)
			}
			if err != nil {
				return err
			}
			if report.Count(workshop.Fail)+report.Count(workshop.Error) > 0 || !enough {
				return errRefused
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	format.register(cmd, "output", "form of the report")
	cmd.Flags().Float64Var(&threshold, "threshold", 0, "coverage that is needed, in per cent")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "tell of tests that pass, too")
	return cmd
}

func writeTests(w io.Writer, r *workshop.TestReport, verbose, gaps bool) error {
	for _, t := range r.Tests {
		if t.Status == workshop.Pass && !verbose {
			continue
		}
		name := t.Package + "." + t.Name
		if t.Case != "" {
			name += "[" + showName(t.Case) + "]"
		}
		text := fmt.Sprintf("%s:%d  %s  %s", showName(t.File), t.Line, t.Status, name)
		if t.Message != "" {
			text += "  " + showName(t.Message)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	if gaps {
		for _, l := range r.NotCovered {
			if _, err := fmt.Fprintf(w, "%s:%d  not covered, to line %d\n", showName(l.File), l.From, l.To); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(w, "%s passed, %d failed, %d in error, %d skipped; coverage %.1f %%\n",
		counted(r.Count(workshop.Pass), "test"), r.Count(workshop.Fail), r.Count(workshop.Error), r.Count(workshop.Skipped), r.Coverage)
	return err
}

func writeTestsAsJUnit(w io.Writer, r *workshop.TestReport) error {
	type detail struct {
		Message string `xml:"message,attr"`
	}
	type testCase struct {
		Class   string  `xml:"classname,attr"`
		Name    string  `xml:"name,attr"`
		File    string  `xml:"file,attr"`
		Line    int     `xml:"line,attr"`
		Seconds float64 `xml:"time,attr"`
		Failure *detail `xml:"failure"`
		Error   *detail `xml:"error"`
		Skipped *detail `xml:"skipped"`
	}
	var suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	suite.Name = "rules"
	for _, t := range r.Tests {
		c := testCase{Class: t.Package, Name: t.Name, File: showName(t.File), Line: t.Line, Seconds: t.Duration.Round(time.Microsecond).Seconds()}
		if t.Case != "" {
			c.Name += "[" + showName(t.Case) + "]"
		}
		suite.Tests++
		switch t.Status {
		case workshop.Pass:
		case workshop.Fail:
			suite.Failures++
			c.Failure = &detail{"the test is not true"}
		case workshop.Error:
			suite.Errors++
			c.Error = &detail{showName(t.Message)}
		case workshop.Skipped:
			suite.Skipped++
			c.Skipped = &detail{"its name starts with todo_"}
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
