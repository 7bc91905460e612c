package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// junitOutput writes the XML that continuous integration systems read: a suite
// for each input, a case for each call. A bypassed call counts as skipped.
type junitOutput struct {
	w      io.Writer
	suites []*junitSuite
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	ClassName string       `xml:"classname,attr"`
	Failure   *junitDetail `xml:"failure"`
	Skipped   *junitDetail `xml:"skipped"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func (j *junitOutput) call(r result) error {
	name := showName(r.file)
	if len(j.suites) == 0 || j.suites[len(j.suites)-1].Name != name {
		j.suites = append(j.suites, &junitSuite{Name: name})
	}
	suite := j.suites[len(j.suites)-1]
	suite.Tests++
	c := junitCase{Name: strings.TrimSpace(r.Input + " " + r.Tool), ClassName: "sallyport.check"}
	switch r.Verdict {
	case verdictRefused:
		suite.Failures++
		c.Failure = &junitDetail{Message: r.Message, Type: fmt.Sprint(r.Code), Text: listing(r)}
	case verdictBypassed:
		suite.Skipped++
		c.Skipped = &junitDetail{Message: "bypassed: " + r.Message, Text: listing(r)}
	}
	suite.Cases = append(suite.Cases, c)
	return nil
}

// listing is one line per violation.
func listing(r result) string {
	var b strings.Builder
	for _, v := range r.Errors {
		fmt.Fprintf(&b, "%s %s\n", showPath(v.Path), v.Reason)
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
		Skipped  int           `xml:"skipped,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}{Tests: s.calls, Failures: s.refused, Skipped: s.bypassed, Suites: j.suites})
	if err != nil {
		return err
	}
	_, err = io.WriteString(j.w, "\n")
	return err
}
