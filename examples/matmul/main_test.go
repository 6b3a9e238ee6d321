package main

import (
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	for _, workers := range []int{1, 3} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		for _, n := range []int{64, 128, 320} {
			var out strings.Builder
			if err := run(&out, p, n); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "times as fast") {
				t.Error(out.String())
			}
		}
	}
	if err := run(nil, nil, 100); err == nil || err.Error() != "100: the side must be a multiple of 64" {
		t.Error(err)
	}
}

// Parts are cut between tiles, into halves that are both there.
func TestMiddleIsBetweenTiles(t *testing.T) {
	for _, tiles := range []int32{2, 3, 4, 5, 16, 17} {
		for _, from := range []int32{0, 64, 640} {
			m := middle(from, from+tiles*tile)
			if m%tile != 0 || m <= from || m >= from+tiles*tile {
				t.Errorf("%d tiles from %d: %d", tiles, from, m)
			}
		}
	}
}
