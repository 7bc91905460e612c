package sweep

import (
	"context"
	"fmt"

	"github.com/sallyport-mcp/sallyport/bench/internal/measure"
	"github.com/sallyport-mcp/sallyport/bench/internal/report"
	"github.com/sallyport-mcp/sallyport/tests/shapes"
)

// bySize goes up to the ceiling of 4 MiB, which only tools that are exempt reach.
func bySize(ctx context.Context, plan measure.Plan) (report.Sweep, error) {
	s := report.Sweep{
		Name: "size", Title: "Cost by payload size", X: "bytes", Y: perVerdict, Grows: true,
		Series: series("sallyport, string", "by hand, string", "sallyport, objects", "by hand, objects"),
	}
	p, err := newPair(ctx, map[string]string{"text": textSchema, "rows": rowsSchema}, "text", "rows")
	if err != nil {
		return s, err
	}
	for n := 1 << 10; n <= 4<<20; n *= 2 {
		ofText, err := p.subjects("text", text(n), true)
		if err != nil {
			return s, err
		}
		ofRows, err := p.subjects("rows", rows(n), true)
		if err != nil {
			return s, err
		}
		if err := add(&s, plan, n, append(ofText, ofRows...)); err != nil {
			return s, err
		}
	}
	return s, nil
}

// byViolations goes past the cap of 100.
func byViolations(ctx context.Context, plan measure.Plan) (report.Sweep, error) {
	s := report.Sweep{
		Name: "violations", Title: "Cost by number of violations", X: "violations", Y: perVerdict, Grows: true,
		Series: series("sallyport", "by hand"),
	}
	p, err := newPair(ctx, map[string]string{"list": listSchema})
	if err != nil {
		return s, err
	}
	for _, n := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		subjects, err := p.subjects("list", shapes.Violations(n), false)
		if err != nil {
			return s, err
		}
		if err := add(&s, plan, n, subjects); err != nil {
			return s, err
		}
	}
	return s, nil
}

var counts = []int{1, 10, 100, 1000, 10_000}

func byTools(ctx context.Context, plan measure.Plan) (report.Sweep, error) {
	s := report.Sweep{Name: "tools", Title: "Cost by number of tools", X: "tools", Y: perVerdict, Series: series("sallyport", "by hand")}
	for _, n := range counts {
		schemas := map[string]string{"text": textSchema}
		for i := range n - 1 {
			schemas[fmt.Sprintf("tool_%d", i)] = rowsSchema
		}
		if err := onKiB(ctx, plan, &s, n, schemas, nil); err != nil {
			return s, err
		}
	}
	return s, nil
}

func byExemptions(ctx context.Context, plan measure.Plan) (report.Sweep, error) {
	s := report.Sweep{Name: "exemptions", Title: "Cost by number of exemptions", X: "exempt tools", Y: perVerdict, Series: series("sallyport", "by hand")}
	for _, n := range counts {
		exempt := make([]string, n)
		for i := range exempt {
			exempt[i] = fmt.Sprintf("tool_%d", i)
		}
		if err := onKiB(ctx, plan, &s, n, map[string]string{"text": textSchema}, exempt); err != nil {
			return s, err
		}
	}
	return s, nil
}

// onKiB measures a call of 1 KiB at x.
func onKiB(ctx context.Context, plan measure.Plan, s *report.Sweep, x int, schemas map[string]string, exempt []string) error {
	p, err := newPair(ctx, schemas, exempt...)
	if err != nil {
		return err
	}
	subjects, err := p.subjects("text", text(1<<10), true)
	if err != nil {
		return err
	}
	return add(s, plan, x, subjects)
}
