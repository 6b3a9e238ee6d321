// Matmul multiplies matrices by recursion: the larger side of the product is halved until a
// tile is left, one half as a fork. So nothing needs to know how many processors there are.
// The leaf is what makes it fast: it packs a block of the second matrix together, and keeps sums in
// registers. On amd64 these are vectors, in assembly (leaf_amd64.s), and elsewhere single numbers, in
// Go (leaf.go). The product has the same bits.
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

// panel is eight columns of a block of c, one row behind the other: two vectors each.
type panel [tile][8]float64

// leaf computes a part of one tile.
func (p part) leaf() {
	a, b, c := p.of.a, p.of.b, p.of.c
	var panels [tile / 8]panel
	for k0 := 0; k0 < a.n; k0 += tile {
		for k := range tile {
			row := c.row(k0 + k)[p.j0:p.j1]
			for j := range panels {
				panels[j][k] = [8]float64(row[8*j:])
			}
		}
		for i := int(p.i0); i < int(p.i1); i += 4 {
			for j := range panels {
				addBlock(&a.row(i)[int(p.j0)+8*j], &b.row(i)[k0], a.n, &panels[j])
			}
		}
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
