// Matmul multiplies matrices by package par/blas, on one worker and on all, and checks the product. The forks are in the package:
// it halves the longer side of the product until a part fits into the first cache.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par/blas"
)

// random returns a matrix of numbers from 0 to 1.
func random(r *rand.Rand, rows, cols int) blas.Matrix[float64] {
	m := blas.NewMatrix[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = r.Float64()
	}
	return m
}

// check compares c with the definition of a times b, in some places.
func check(r *rand.Rand, a, b, c blas.Matrix[float64]) error {
	for range 100 {
		i, j := r.IntN(c.Rows), r.IntN(c.Cols)
		want := 0.0
		for k, x := range a.Row(i) {
			want += x * b.Row(k)[j]
		}
		if got := c.Row(i)[j]; math.Abs(got-want) > 1e-9*want {
			return fmt.Errorf("row %d, column %d is %v, not %v", i, j, got, want)
		}
	}
	return nil
}

func run(out io.Writer, pool *filch.Pool, n int) error {
	if n <= 0 {
		return fmt.Errorf("%d: the side must be positive", n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	a, b := random(r, n, n), random(r, n, n)
	one := filch.New(filch.WithWorkers(1))
	defer one.Close()
	timed := func(p *filch.Pool) (blas.Matrix[float64], time.Duration) {
		c := blas.NewMatrix[float64](n, n)
		begin := time.Now()
		blas.Gemm(p, 1, a, b, 0, c) // c = 1 a b + 0 c
		return c, time.Since(begin)
	}
	alone, serial := timed(one)
	c, took := timed(pool)
	if err := check(r, a, b, c); err != nil {
		return err
	}
	if !slices.Equal(alone.Data, c.Data) {
		return fmt.Errorf("%d x %d: another product on %d workers", n, n, pool.Workers())
	}
	fmt.Fprintf(out, "%d x %d: one worker %v, %d workers %v, %.2f times as fast\n", n, n, serial, pool.Workers(), took, float64(serial)/float64(took))
	return nil
}

func main() {
	if err := run(os.Stdout, filch.Default(), 1024); err != nil {
		fmt.Fprintln(os.Stderr, "matmul:", err)
		os.Exit(1)
	}
}
