package main

import (
	"encoding/json"
	"io"
)

// jsonOutput writes one object per call and line.
type jsonOutput struct {
	callsOnly
	encoder *json.Encoder
}

func newJSONOutput(w io.Writer) *jsonOutput {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return &jsonOutput{encoder: encoder}
}

func (j *jsonOutput) call(r result) error { return j.encoder.Encode(r) }

func (j *jsonOutput) close(summary) error { return nil }
