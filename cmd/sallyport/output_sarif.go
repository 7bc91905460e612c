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
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
	LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
}

func newSARIFOutput(w io.Writer, rules []sarifRule) *sarifOutput {
	s := &sarifOutput{w: w, indexes: map[string]int{}}
	for _, rule := range rules {
		s.add(rule)
	}
	return s
}

// policyRules describes the deny rules that an engine has.
func policyRules(eng *engine.Engine) []sarifRule {
	var rules []sarifRule
	for _, rule := range eng.Rules() {
		rules = append(rules, sarifRule{
			ID: "policy/" + rule.Name, ShortDescription: sarifText{rule.Title},
			FullDescription: &sarifText{strings.TrimSpace(rule.Description)}, Properties: map[string]string{"severity": rule.Severity},
		})
	}
	return rules
}

func (s *sarifOutput) add(rule sarifRule) {
	if _, known := s.indexes[rule.ID]; !known {
		s.indexes[rule.ID] = len(s.rules)
		s.rules = append(s.rules, rule)
	}
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
		s.add(rule)
		if err := s.result(rule.ID, level, text, callLocation(r)); err != nil {
			return err
		}
	}
	for _, repair := range r.Repairs {
		rule := sarifRule{ID: "repair/" + string(repair.Kind), ShortDescription: sarifText{"Repaired before it was judged"}}
		s.add(rule)
		if err := s.result(rule.ID, "note", repairText(repair), callLocation(r)); err != nil {
			return err
		}
	}
	return nil
}

func callLocation(r result) (at sarifLocation) {
	at.PhysicalLocation.ArtifactLocation.URI = fileURI(r.file)
	at.PhysicalLocation.Region = &sarifRegion{r.line}
	return at
}

// result writes one finding of a rule that has been added.
func (s *sarifOutput) result(rule, level, text string, at sarifLocation) error {
	return s.write(sarifResult{
		RuleID: rule, RuleIndex: s.indexes[rule], Level: level, Message: sarifText{text}, Locations: []sarifLocation{at},
	})
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
