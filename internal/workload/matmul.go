package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// tile is the side of the blocks of the product that are computed apart.
const tile = 64

var matmul = &Workload{
	Name:    "matmul",
	About:   "the product of two n x n float64 matrices, in tiles of 64 x 64",
	Sizes:   []string{"256", "512", "1024"},
	Default: []Default{{Size: "256"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("matmul", size, 1, 1<<13)
		if err != nil {
			return nil, err
		}
		var a, b, c, naive matrix
		j := &Job{Want: fmt.Sprintf("%d x %d, as the naive product", n, n)}
		j.Load = func() {
			rng := rand.New(rand.NewPCG(3, 4))
			a, b, c, naive = newMatrix(n), newMatrix(n), newMatrix(n), newMatrix(n)
			for i := range a.v {
				a.v[i], b.v[i] = rng.Float64(), rng.Float64()
			}
			multiplyNaively(naive, a, b)
		}
		j.Reset = func() { clear(c.v) }
		for i := 0; i < n; i += tile {
			for k := 0; k < n; k += tile {
				j.Tasks = append(j.Tasks, func() { multiplyTile(c, a, b, i, k) })
			}
		}
		j.Serial = j.runTasks
		j.Answer = func() string {
			for i, v := range c.v {
				if math.Abs(v-naive.v[i]) > 1e-9*naive.v[i] {
					return fmt.Sprintf("element %d, %d is %v, not %v", i/n, i%n, v, naive.v[i])
				}
			}
			return j.Want
		}
		return j, nil
	},
}

type matrix struct {
	n int
	v []float64
}

func newMatrix(n int) matrix { return matrix{n, make([]float64, n*n)} }

func (m matrix) row(i int) []float64 { return m.v[i*m.n : (i+1)*m.n] }

// multiplyTile adds the part of a times b that belongs to the tile of c at row
// i0, column j0. Blocks of b are copied together first: in place, the rows of a
// matrix whose side is a power of two compete for the same lines of the cache.
func multiplyTile(c, a, b matrix, i0, j0 int) {
	i1, j1 := min(i0+tile, c.n), min(j0+tile, c.n)
	var block [tile][tile]float64
	for k0 := 0; k0 < c.n; k0 += tile {
		k1 := min(k0+tile, c.n)
		for k := k0; k < k1; k++ {
			copy(block[k-k0][:], b.row(k)[j0:j1])
		}
		for i := i0; i < i1; i++ {
			to := c.row(i)[j0:j1]
			for k, x := range a.row(i)[k0:k1] {
				from := block[k][:len(to)]
				for j := range to {
					to[j] += x * from[j]
				}
			}
		}
	}
}

func multiplyNaively(c, a, b matrix) {
	for i := range c.n {
		for j := range c.n {
			sum := 0.0
			for k, x := range a.row(i) {
				sum += x * b.v[k*b.n+j]
			}
			c.row(i)[j] = sum
		}
	}
}
