package charts_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-mcp/sallyport/bench/internal/charts"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
)

func sweep(series ...report.Series) report.Sweep {
	return report.Sweep{Name: "size", Title: "Cost by size", X: "bytes", Y: "ns per verdict", Series: series}
}

func TestDraw(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "charts")
	path, err := charts.Draw(folder, sweep(
		report.Series{Name: "ours", Points: []report.Point{{X: 1, Y: 10}, {X: 1000, Y: 20}}},
		report.Series{Name: "bound", Points: []report.Point{{X: 1, Y: 9}, {X: 1000, Y: 15}}},
	))
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(folder, "size.svg"); path != want {
		t.Errorf("path %s, want %s", path, want)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"Cost by size", "bytes", "ns per verdict", "ours", "bound"} {
		if !strings.Contains(string(text), ">"+label+"<") {
			t.Errorf("the chart does not say %q", label)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
}

func TestWhatCannotBeDrawnIsAnError(t *testing.T) {
	for name, points := range map[string][]report.Point{
		"no points": nil,
		"zero":      {{X: 1, Y: 1}, {X: 0, Y: 1}},
		"negative":  {{X: 1, Y: -1}},
	} {
		if path, err := charts.Draw(t.TempDir(), sweep(report.Series{Name: "ours", Points: points})); err == nil {
			t.Errorf("%s: %s was written", name, path)
		}
	}
}
