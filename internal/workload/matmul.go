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

// panel is four columns of a block of b, one row behind the other.
type panel [tile][4]float64

// multiplyTile adds the part of a times b that belongs to the tile of c at row
// i0, column j0. Blocks of b are copied together first, into panels of four columns,
// filled up with zeros. Two rows of a at a time go through a panel, with eight sums, which
// are as many as the processor has registers for.
func multiplyTile(c, a, b matrix, i0, j0 int) {
	i1, j1 := min(i0+tile, c.n), min(j0+tile, c.n)
	var panels [tile / 4]panel
	for k0 := 0; k0 < c.n; k0 += tile {
		k1 := min(k0+tile, c.n)
		for k := k0; k < k1; k++ {
			for j, x := range b.row(k)[j0:j1] {
				panels[j/4][k-k0][j%4] = x
			}
		}
		for i := i0; i < i1; i += 2 {
			second := min(i+1, i1-1) // the last row again, if it is alone
			x, y := a.row(i), a.row(second)
			for j := j0; j < j1; j += 4 {
				s, t := multiplyRows(x[k0:k1], y[k0:k1], &panels[(j-j0)/4])
				add(c.row(i)[j:min(j+4, j1)], &s)
				if second > i {
					add(c.row(second)[j:min(j+4, j1)], &t)
				}
			}
		}
	}
}

// multiplyRows returns the products of two rows and a panel.
func multiplyRows(x, y []float64, p *panel) (s, t [4]float64) {
	var s0, s1, s2, s3, t0, t1, t2, t3 float64
	y = y[:len(x)]
	for k, b := range p[:len(x)] {
		s0 += x[k] * b[0]
		s1 += x[k] * b[1]
		s2 += x[k] * b[2]
		s3 += x[k] * b[3]
		t0 += y[k] * b[0]
		t1 += y[k] * b[1]
		t2 += y[k] * b[2]
		t3 += y[k] * b[3]
	}
	return [4]float64{s0, s1, s2, s3}, [4]float64{t0, t1, t2, t3}
}

func add(to []float64, s *[4]float64) {
	for j := range to {
		to[j] += s[j]
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
