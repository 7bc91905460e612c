// Package charts draws sweeps as SVG. It measures nothing.
package charts

import (
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/sallyport-mcp/sallyport/bench/internal/report"
)

// Draw writes <folder>/<name>.svg and returns its path. The x axis is logarithmic. So is
// the y axis where cost grows, which makes a straight line of what is proportional; else
// it starts at 0, which makes a flat line of what does not depend on x.
func Draw(folder string, s report.Sweep) (string, error) {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = s.Title, s.X, s.Y
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decimal{plot.LogTicks{Prec: -1}}
	if s.Grows {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decimal{plot.LogTicks{Prec: -1}}
	} else {
		p.Y.Min = 0
	}
	p.Legend.XOffs, p.Legend.YOffs = -vg.Points(12), vg.Points(8) // off the frame
	p.Add(plotter.NewGrid())
	for i, series := range s.Series {
		if err := drawable(series); err != nil {
			return "", fmt.Errorf("chart %s: %s: %w", s.Name, series.Name, err)
		}
		points := make(plotter.XYs, len(series.Points))
		for j, point := range series.Points {
			points[j] = plotter.XY(point)
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return "", fmt.Errorf("chart %s: %w", s.Name, err)
		}
		line.Color, line.Dashes = plotutil.Color(i), plotutil.Dashes(i)
		marks.Color, marks.Shape = plotutil.Color(i), plotutil.Shape(i)
		p.Add(line, marks)
		p.Legend.Add(series.Name, line, marks)
	}
	path := filepath.Join(folder, s.Name+".svg")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if err := p.Save(18*vg.Centimeter, 11*vg.Centimeter, path); err != nil {
		return "", fmt.Errorf("chart %s: %w", s.Name, err)
	}
	return path, nil
}

// decimal writes labels without exponents.
type decimal struct{ plot.Ticker }

func (d decimal) Ticks(least, most float64) []plot.Tick {
	ticks := d.Ticker.Ticks(least, most)
	for i := range ticks {
		if !ticks[i].IsMinor() {
			ticks[i].Label = strconv.FormatFloat(ticks[i].Value, 'f', -1, 64)
		}
	}
	return ticks
}

// drawable says why a series has no place on logarithmic axes, on which the plotter
// would panic.
func drawable(s report.Series) error {
	if len(s.Points) == 0 {
		return errors.New("no points")
	}
	for _, p := range s.Points {
		if p.X <= 0 || p.Y <= 0 {
			return fmt.Errorf("point (%g, %g) is not above 0", p.X, p.Y)
		}
	}
	return nil
}
