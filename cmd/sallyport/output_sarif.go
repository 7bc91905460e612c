package main

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-mcp/sallyport/engine"
)

// sarifOutput writes one run of SARIF 2.1.0 (OASIS): a result for each violation,
// at the line of its call.
type sarifOutput struct {
	w       io.Writer
	rules   []sarifRule
	results []sarifResult
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID               string     `json:"id"`
	ShortDescription sarifText  `json:"shortDescription"`
	FullDescription  *sarifText `json:"fullDescription,omitempty"`
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
	s := &sarifOutput{w: w, rules: []sarifRule{}, results: []sarifResult{}}
	for _, rule := range eng.Rules() {
		s.rules = append(s.rules, sarifRule{
			ID: "policy/" + rule.Name, ShortDescription: sarifText{rule.Title}, FullDescription: &sarifText{strings.TrimSpace(rule.Description)},
		})
	}
	return s
}

func (s *sarifOutput) call(r result) error {
	level := map[string]string{verdictRefused: "error", verdictBypassed: "warning"}[r.Verdict]
	for _, v := range r.Errors {
		id, title := "message", "The line is no call that could be judged"
		if v.Stage != "" {
			id, title = string(v.Stage)+"/"+strings.ReplaceAll(v.Check(), " ", "-"), "JSON Schema keyword "+v.Check()
		}
		finding := sarifResult{RuleID: id, RuleIndex: s.ruleIndex(id, title), Level: level, Message: sarifText{showPath(v.Path) + " " + v.Reason}}
		var at sarifLocation
		at.PhysicalLocation.ArtifactLocation.URI = fileURI(r.file)
		at.PhysicalLocation.Region.StartLine = r.line
		finding.Locations = []sarifLocation{at}
		s.results = append(s.results, finding)
	}
	return nil
}

func fileURI(file string) string {
	return (&url.URL{Path: filepath.ToSlash(file)}).String()
}

func (s *sarifOutput) ruleIndex(id, title string) int {
	if i := slices.IndexFunc(s.rules, func(r sarifRule) bool { return r.ID == id }); i >= 0 {
		return i
	}
	s.rules = append(s.rules, sarifRule{ID: id, ShortDescription: sarifText{title}})
	return len(s.rules) - 1
}

func (s *sarifOutput) close(summary) error {
	type driver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	type run struct {
		Tool struct {
			Driver driver `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	var one run
	one.Tool.Driver = driver{"sallyport", readVersions().Sallyport, s.rules}
	one.Results = s.results
	encoder := json.NewEncoder(s.w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []run{one}})
}
