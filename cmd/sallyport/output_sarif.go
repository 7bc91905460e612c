package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine"
)

// sarifOutput writes one run of SARIF 2.1.0 (OASIS): a result for each violation,
// at the line of its call. Results are written as they come; the rules, some of
// which are known only then, follow them.
type sarifOutput struct {
	callsOnly
	w       io.Writer
	rules   []sarifRule
	indexes map[string]int // of rules, by id
	results int
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID               string            `json:"id"`
	ShortDescription sarifText         `json:"shortDescription"`
	FullDescription  *sarifText        `json:"fullDescription,omitempty"`
	Properties       map[string]string `json:"properties,omitempty"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	PhysicalLocation struct {
		ArtifactLocation struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region struct {
			StartLine int `json:"startLine"`
		} `json:"region"`
	} `json:"physicalLocation"`
}

func newSARIFOutput(w io.Writer, eng *engine.Engine) *sarifOutput {
	s := &sarifOutput{w: w, indexes: map[string]int{}}
	for _, rule := range eng.Rules() {
		s.add(sarifRule{
			ID: "policy/" + rule.Name, ShortDescription: sarifText{rule.Title},
			FullDescription: &sarifText{strings.TrimSpace(rule.Description)}, Properties: map[string]string{"severity": rule.Severity},
		})
	}
	return s
}

func (s *sarifOutput) add(rule sarifRule) int {
	index, known := s.indexes[rule.ID]
	if !known {
		index = len(s.rules)
		s.rules = append(s.rules, rule)
		s.indexes[rule.ID] = index
	}
	return index
}

// ruleOf is the rule of a violation, for what no policy rule describes.
func ruleOf(v engine.Violation) sarifRule {
	title := v.Title
	switch v.Stage {
	case stageMessage:
		title = "Not a call that could be judged"
	case engine.StageSchema:
		title = "Schema keyword " + v.Check()
	case engine.StagePolicy:
	}
	return sarifRule{ID: string(v.Stage) + "/" + strings.ReplaceAll(v.Check(), " ", "_"), ShortDescription: sarifText{title}}
}

func (s *sarifOutput) call(r result) error {
	level := map[string]string{verdictRefused: "error", verdictBypassed: "warning"}[r.Verdict]
	for i, v := range r.Errors {
		rule := ruleOf(v)
		text := showPath(v) + " " + v.Reason
		if i == len(r.Errors)-1 && r.Omitted > 0 {
			text += fmt.Sprintf(" (and %d more violations of this call)", r.Omitted)
		}
		finding := sarifResult{RuleID: rule.ID, RuleIndex: s.add(rule), Level: level, Message: sarifText{text}}
		var at sarifLocation
		at.PhysicalLocation.ArtifactLocation.URI = fileURI(r.file)
		at.PhysicalLocation.Region.StartLine = r.line
		finding.Locations = []sarifLocation{at}
		if err := s.write(finding); err != nil {
			return err
		}
	}
	return nil
}

// fileURI is a relative reference for a relative name (RFC 3986 section 4.2), so
// that a report fits wherever the sources are checked out.
func fileURI(file string) string {
	path := filepath.ToSlash(file)
	if !filepath.IsAbs(file) {
		return (&url.URL{Path: path}).String()
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(path, "/")}).String()
}

const sarifHead = `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"results":[`

func (s *sarifOutput) write(finding sarifResult) error {
	separator := ",\n"
	if s.results == 0 {
		separator = sarifHead + "\n"
	}
	s.results++
	text, err := encoded(finding)
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.w, separator+text)
	return err
}

func encoded(value any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func (s *sarifOutput) close(sum summary) error {
	if s.results == 0 {
		if _, err := io.WriteString(s.w, sarifHead); err != nil {
			return err
		}
	}
	type driver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	var tool struct {
		Driver driver `json:"driver"`
	}
	tool.Driver = driver{"sallyport", readVersions().Sallyport, "https://github.com/sallyport-mcp/sallyport", s.rules}
	text, err := encoded(tool)
	if err != nil {
		return err
	}
	worked := !sum.interrupted && sum.unreadable == 0 && sum.unjudged == 0
	_, err = fmt.Fprintf(s.w, "],\n\"tool\":%s,\n\"invocations\":[{\"executionSuccessful\":%t}]}]}\n", text, worked)
	return err
}
