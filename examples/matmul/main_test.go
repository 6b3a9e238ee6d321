package main

import (
	"math"
	"math/rand/v2"
	"slices"
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
				t.Fatal("run(&out, p, n):", err)
			}
			if !strings.Contains(out.String(), "times as fast") {
				t.Error(out.String())
			}
		}
	}
	if err := run(nil, nil, 100); err == nil || err.Error() != "100: the side must be a multiple of 64" {
		t.Error("run(nil, nil, 100):", err)
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

// Assembly and Go come to the same bits, and change nothing around the block.
func FuzzBlocksAreEqual(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, more uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := tile + int(more)
		a, b := numbers(r, 4*n+int(more%4)), numbers(r, 4*n)
		var c panel
		for k := range c {
			copy(c[k][:], numbers(r, 8))
		}
		at := len(a) - 3*n - 8 // the last where a block fits
		want := slices.Clone(a)
		addBlockInGo(&want[at], &b[0], n, &c)
		addBlock(&a[at], &b[0], n, &c)
		for i := range a {
			if math.Float64bits(a[i]) != math.Float64bits(want[i]) && !(math.IsNaN(a[i]) && math.IsNaN(want[i])) {
				t.Fatalf("element %d of %d rows of %d is %v, and not %v", i-at, 4, n, a[i], want[i])
			}
		}
	})
}

// numbers are of any size; in one case of four some are zero, infinite or no number.
func numbers(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	odd := r.IntN(4) == 0
	for i := range x {
		x[i] = r.NormFloat64() * math.Pow(10, float64(r.IntN(30)-15))
		if odd && r.IntN(9) == 0 {
			x[i] = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324}[r.IntN(7)]
		}
	}
	return x
}

// A block is four rows of a product.
func TestBlockIsAProduct(t *testing.T) {
	const n = tile + 5
	a, b := make([]float64, 4*n), make([]float64, 4*n)
	var c panel
	for i := range b {
		b[i] = float64(i % 17)
	}
	for k := range c {
		for j := range c[k] {
			c[k][j] = float64((k*8 + j) % 23)
		}
	}
	addBlock(&a[0], &b[0], n, &c)
	for i := range 4 {
		for j := range 8 {
			want := 0.0
			for k := range c {
				want += b[i*n+k] * c[k][j]
			}
			if got := a[i*n+j]; got != want {
				t.Errorf("row %d, column %d is %v, and not %v", i, j, got, want)
			}
		}
	}
}
