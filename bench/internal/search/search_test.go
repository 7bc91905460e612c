package search

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"
)

// Every recipe makes JSON within its limit, or next to it.
func TestRecipesMakeJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := recipe{Depth: 3, Width: 10, Key: 3, Text: 5, Arrays: 1, Objects: 1}
	for range 2000 {
		r = r.change(random)
		if payload := r.make(8 << 10); !json.Valid(payload) {
			t.Fatalf("%+v makes %.200s", r, payload)
		}
	}
}

func TestSearchFindsSomething(t *testing.T) {
	worst, err := Run(t.Context(), 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range worst {
		if w.Time <= 0 || w.Bytes == 0 || w.Tried == 0 || w.Verdict == "" {
			t.Errorf("%+v", w)
		}
	}
}
