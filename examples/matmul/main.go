// Matmul multiplies matrices by recursion: the larger side of the product is halved until a
// tile is left, one half as a fork. So nothing needs to know how many processors there are.
// The leaf is what makes it fast: it packs a block of the second matrix together, and keeps
// eight sums in registers.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/filch-go/filch"
)

// tile is the longest side of a leaf. Its block of the second matrix, 32 kB, stays in the
// first cache.
const tile = 64

// matrix is square, and a multiple of tile wide.
type matrix struct {
	n int
	v []float64
}

func newMatrix(n int) *matrix { return &matrix{n, make([]float64, n*n)} }

func (m *matrix) row(i int) []float64 { return m.v[i*m.n : (i+1)*m.n] }

// product is a = b times c.
type product struct{ a, b, c *matrix }

// part is a rectangle of a product.
type part struct {
	of             *product
	i0, i1, j0, j1 int32
}

// multiply computes a part.
var multiply = filch.NewFunc(func(f *filch.Frame[part, struct{}], p part) struct{} {
	first, second := p, p
	switch {
	case p.i1-p.i0 > tile && p.i1-p.i0 >= p.j1-p.j0:
		first.i1 = middle(p.i0, p.i1)
		second.i0 = first.i1
	case p.j1-p.j0 > tile:
		first.j1 = middle(p.j0, p.j1)
		second.j0 = first.j1
	default:
		p.leaf()
		return struct{}{}
	}
	h := f.Fork(second)
	f.Call(first)
	return f.Join(h)
})

// middle returns where to cut: between tiles.
func middle(from, to int32) int32 { return from + (to-from+tile)/2/tile*tile }

// panel is four columns of a block of c, one row behind the other.
type panel [tile][4]float64

// leaf computes a part of one tile.
func (p part) leaf() {
	a, b, c := p.of.a, p.of.b, p.of.c
	var panels [tile / 4]panel
	for k0 := 0; k0 < a.n; k0 += tile {
		for k := range tile {
			for j, x := range c.row(k0 + k)[p.j0:p.j1] {
				panels[j/4][k][j%4] = x
			}
		}
		for i := int(p.i0); i < int(p.i1); i += 2 {
			x, y := b.row(i)[k0:k0+tile], b.row(i + 1)[k0:k0+tile]
			for j := int(p.j0); j < int(p.j1); j += 4 {
				s, t := rows((*[tile]float64)(x), (*[tile]float64)(y), &panels[(j-int(p.j0))/4])
				add((*[4]float64)(a.row(i)[j:]), &s)
				add((*[4]float64)(a.row(i + 1)[j:]), &t)
			}
		}
	}
}

// rows returns the products of two rows and a panel.
func rows(x, y *[tile]float64, p *panel) (s, t [4]float64) {
	var s0, s1, s2, s3, t0, t1, t2, t3 float64
	for k := range p {
		c := &p[k]
		s0 += x[k] * c[0]
		s1 += x[k] * c[1]
		s2 += x[k] * c[2]
		s3 += x[k] * c[3]
		t0 += y[k] * c[0]
		t1 += y[k] * c[1]
		t2 += y[k] * c[2]
		t3 += y[k] * c[3]
	}
	return [4]float64{s0, s1, s2, s3}, [4]float64{t0, t1, t2, t3}
}

func add(to, s *[4]float64) {
	for j := range to {
		to[j] += s[j]
	}
}

// serial does the same without forks.
func serial(of *product) {
	for i := 0; i < of.a.n; i += tile {
		for j := 0; j < of.a.n; j += tile {
			part{of, int32(i), int32(i + tile), int32(j), int32(j + tile)}.leaf()
		}
	}
}

// check compares a with the definition, in some places.
func (of *product) check(r *rand.Rand) error {
	for range 100 {
		i, j := r.IntN(of.a.n), r.IntN(of.a.n)
		want := 0.0
		for k, x := range of.b.row(i) {
			want += x * of.c.row(k)[j]
		}
		if got := of.a.row(i)[j]; math.Abs(got-want) > 1e-9*want {
			return fmt.Errorf("row %d, column %d is %v, not %v", i, j, got, want)
		}
	}
	return nil
}

func run(out io.Writer, pool *filch.Pool, n int) error {
	if n <= 0 || n%tile != 0 {
		return fmt.Errorf("%d: the side must be a multiple of %d", n, tile)
	}
	of := &product{newMatrix(n), newMatrix(n), newMatrix(n)}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range of.b.v {
		of.b.v[i], of.c.v[i] = r.Float64(), r.Float64()
	}
	begin := time.Now()
	serial(of)
	alone := time.Since(begin)
	if err := of.check(r); err != nil {
		return err
	}

	clear(of.a.v)
	begin = time.Now()
	multiply.Call(pool, part{of, 0, int32(n), 0, int32(n)})
	took := time.Since(begin)
	if err := of.check(r); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d x %d: serial %v, in parallel %v, %.2f times as fast\n", n, n, alone, took, float64(alone)/float64(took))
	return nil
}

func main() {
	if err := run(os.Stdout, filch.Default(), 1024); err != nil {
		fmt.Fprintln(os.Stderr, "matmul:", err)
		os.Exit(1)
	}
}
