package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, 20_000); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "20000 points, ") {
		t.Error(out.String())
	}
}

// No point is outside, and the hull of parts is that of all at once.
func TestHull(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for _, n := range []int{0, 1, 2, 3, 100, 10_000} {
			all := points(n, uint64(n))
			corners := parallelHull(p, all)
			if want := hull(slices.Clone(all)); !slices.Equal(corners, want) {
				t.Errorf("%d points: %v, want %v", n, corners, want)
			}
			for i, a := range corners {
				b := corners[(i+1)%len(corners)]
				for _, c := range all {
					if turnsLeft(b, a, c) {
						t.Fatalf("%d points: %v is outside", n, c)
					}
				}
			}
		}
		p.Close()
	}
}

// Points that lie in line with two corners are none.
func TestInLine(t *testing.T) {
	var grid []point
	for i := range int32(49) {
		grid = append(grid, point{i % 7, i / 7})
	}
	if got, want := hull(grid), []point{{0, 0}, {6, 0}, {6, 6}, {0, 6}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
