package main

import (
	"math"
	"math/cmplx"
	"strings"
	"testing"

	"github.com/filch-go/filch"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, 1<<14); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "16384 numbers: serial") {
		t.Error(out.String())
	}
}

// A wave has one frequency, at any length and number of workers.
func TestWave(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		p := filch.New(filch.WithWorkers(workers))
		for n := 1; n <= 8192; n *= 2 {
			in := make([]complex128, n)
			frequency := n / 3
			for i := range in {
				in[i] = cmplx.Rect(1, 2*math.Pi*float64(frequency*i%n)/float64(n))
			}
			x := newTransform(in)
			parallel.Call(p, x.whole())
			for k, v := range x.out {
				want := complex128(0)
				if k == frequency {
					want = complex(float64(n), 0)
				}
				if cmplx.Abs(v-want) > 1e-13*float64(n+1) {
					t.Fatalf("%d workers, %d numbers: number %d is %v, want %v", workers, n, k, v, want)
				}
			}
		}
		p.Close()
	}
}
