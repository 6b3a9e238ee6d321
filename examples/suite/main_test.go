package main

import (
	"io"
	"strings"
	"testing"

	"github.com/filch-go/filch/internal/workload"
)

// A program has one answer, by each executor.
func TestRun(t *testing.T) {
	for _, name := range []string{"tsp", "fft", "bfs"} { // internal/workload tests all
		w, err := workload.Find(name)
		if err != nil {
			t.Fatal("workload.Find(name):", err)
		}
		var out strings.Builder
		if err := run(&out, name, w.Sizes[0], 2); err != nil || !strings.HasPrefix(out.String(), name) {
			t.Errorf("run(&out, name, w.Sizes[0], 2): %v: %s", err, out.String())
		}
	}
	if err := run(io.Discard, "quicksand", "", 2); err == nil || !strings.Contains(err.Error(), "quicksand") {
		t.Errorf(`run(io.Discard, "quicksand", "", 2): %v`, err)
	}
}
