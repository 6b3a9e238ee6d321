package main

import (
	"math"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, 20_000, 5); err != nil {
		t.Fatal("run(&out, 20_000, 5):", err)
	}
	if !strings.HasPrefix(out.String(), "20000 points, 5 clusters") {
		t.Error(out.String())
	}
}

// Two clusters far from each other are found.
func TestTwoClustersFarFromEachOtherAreFound(t *testing.T) {
	p := filch.New(filch.WithWorkers(2))
	defer p.Close()
	var all []point
	for i := range 5000 {
		all = append(all, point{float64(i % 10), 0}, point{1000 + float64(i%10), 0})
	}
	centres, _ := kmeans(p, all, 2)
	if math.Abs(centres[0].x-4.5) > 1e-9 || math.Abs(centres[1].x-1004.5) > 1e-9 {
		t.Error("kmeans(p, all, 2):", centres)
	}
}
