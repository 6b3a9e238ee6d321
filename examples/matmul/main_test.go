package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	for _, workers := range []int{1, 3} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		for _, n := range []int{1, 64, 321} {
			var out strings.Builder
			if err := run(&out, p, n); err != nil {
				t.Fatal("run(&out, p, n):", err)
			}
			if !strings.Contains(out.String(), "times as fast") {
				t.Error(out.String())
			}
		}
	}
	if err := run(nil, nil, 0); err == nil || err.Error() != "0: the side must be positive" {
		t.Error("run(nil, nil, 0):", err)
	}
}

func TestAWrongProductIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a, b := random(r, 4, 4), random(r, 4, 4)
	if err := check(r, a, b, random(r, 4, 4)); err == nil {
		t.Error("check(r, a, b, …): no error")
	}
}
