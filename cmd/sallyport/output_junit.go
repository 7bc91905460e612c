package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// junitOutput writes the XML that continuous integration systems read: a suite
// for each input, a case for each call. A bypassed call counts as skipped. The
// counts come first in the document, so all cases are held to the end.
type junitOutput struct {
	w      io.Writer
	suites []*junitSuite
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	ClassName string       `xml:"classname,attr"`
	Failure   *junitDetail `xml:"failure"`
	Error     *junitDetail `xml:"error"`
	Skipped   *junitDetail `xml:"skipped"`
	SystemOut string       `xml:"system-out,omitempty"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

const junitClass = "sallyport.check"

func (j *junitOutput) begin(file string) error {
	j.suites = append(j.suites, &junitSuite{Name: file})
	return nil
}

func (j *junitOutput) call(r result) error {
	suite := j.suites[len(j.suites)-1]
	suite.Tests++
	c := junitCase{Name: r.Input, ClassName: junitClass}
	if r.Tool != "" {
		c.Name += " " + showTool(r.Tool)
	}
	switch r.Verdict {
	case verdictRefused:
		suite.Failures++
		c.Failure = &junitDetail{Message: r.Message, Type: fmt.Sprint(r.Code), Text: listing(r)}
	case verdictBypassed:
		suite.Skipped++
		c.Skipped = &junitDetail{Message: "bypassed: " + r.Message, Text: listing(r)}
	}
	for _, repair := range r.Repairs {
		c.SystemOut += repairText(repair) + "\n"
	}
	suite.Cases = append(suite.Cases, c)
	return nil
}

// unreadable adds a case of its own, so that a reader of this report alone does
// not take the input for clean.
func (j *junitOutput) unreadable(cause error) error {
	suite := j.suites[len(j.suites)-1]
	suite.Tests++
	suite.Errors++
	suite.Cases = append(suite.Cases, junitCase{
		Name: suite.Name, ClassName: junitClass, Error: &junitDetail{Message: showLine(cause.Error()), Type: "unreadable"},
	})
	return nil
}

// listing is one line per violation.
func listing(r result) string {
	var b strings.Builder
	for _, v := range r.Errors {
		fmt.Fprintf(&b, "%s %s\n", showPath(v), v.Reason)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "and %d more\n", r.Omitted)
	}
	return b.String()
}

func (j *junitOutput) close(s summary) error {
	if _, err := io.WriteString(j.w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(j.w)
	encoder.Indent("", "  ")
	err := encoder.Encode(struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Errors   int           `xml:"errors,attr"`
		Skipped  int           `xml:"skipped,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}{Tests: s.calls + s.unreadable, Failures: s.refused, Errors: s.unreadable, Skipped: s.bypassed, Suites: j.suites})
	if err != nil {
		return err
	}
	_, err = io.WriteString(j.w, "\n")
	return err
}
