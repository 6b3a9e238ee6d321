package workload

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/filch-go/filch"
)

// strassen multiplies matrices by seven products of their quarters in the place of eight
// (Strassen, Numer. Math., 1969).
//
// Func fits: a product forks those of quarters, down to the leaves. What a product works on is
// behind one pointer. All forms add in the same order, so that results are equal to the last bit.
var strassen = &Workload{
	Name:    "strassen",
	About:   "the product of two n x n float64 matrices by Strassen; 64 x 64 by plain loops (BOTS)",
	Sizes:   []string{"256", "512", "1024"},
	Default: []Default{{Size: "512"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("strassen", size, 2*strassenLeaf, 1<<12)
		if err != nil {
			return nil, err
		}
		if n&(n-1) != 0 {
			return nil, fmt.Errorf("strassen: size %q is not a power of two", size)
		}
		var a, b, c square
		return &Job{
			Load: func() {
				a, b, c = newSquare(n), newSquare(n), newSquare(n)
				rng := splitmix(13)
				for i := range a.v {
					a.v[i], b.v[i] = rng.float()-0.5, rng.float()-0.5
				}
			},
			Reset:  func() { clear(c.v) },
			Answer: func() string { return c.sum() },
			Serial: func() string { serialStrassen(c, a, b); return "" },
			Func:   func(p filch.Scope) string { strassenFunc.Call(p, partOf{&product{c: c, a: a, b: b}, whole}); return "" },
			Closures: func(w *filch.Worker, both Both) string {
				closureStrassen(w, both, &product{c: c, a: a, b: b})
				return ""
			},
			Goroutines: func(int) string { goStrassen(&product{c: c, a: a, b: b}); return "" },
		}, nil
	},
}

// strassenLeaf is the side of what is multiplied by plain loops.
const strassenLeaf = 64

// square is an n x n matrix whose rows are stride apart.
type square struct {
	v         []float64
	n, stride int
}

func newSquare(n int) square { return square{make([]float64, n*n), n, n} }

func (s square) row(i int) []float64 { return s.v[i*s.stride : i*s.stride+s.n] }

// quarter returns one of 0 to 3: above left, above right, below left, below right.
func (s square) quarter(i int) square {
	h := s.n / 2
	return square{s.v[i/2*h*s.stride+i%2*h:], h, s.stride}
}

func (s square) sum() string {
	h := uint64(0)
	for _, v := range s.v {
		h = h*0x9e3779b97f4a7c15 + math.Float64bits(v)
	}
	return fmt.Sprintf("%d x %d, sum of bits %016x", s.n, s.n, h)
}

// factor is a quarter of a matrix, or one plus or less another.
type factor struct {
	first, second int // second is -1 if there is none
	minus         bool
}

// of returns the factor, which is in tmp if it is a sum.
func (f factor) of(s, tmp square) square {
	a := s.quarter(f.first)
	if f.second < 0 {
		return a
	}
	b := s.quarter(f.second)
	for i := range tmp.n {
		to, x, y := tmp.row(i), a.row(i), b.row(i)
		x, y = x[:len(to)], y[:len(to)]
		if f.minus {
			for j := range to {
				to[j] = x[j] - y[j]
			}
		} else {
			for j := range to {
				to[j] = x[j] + y[j]
			}
		}
	}
	return tmp
}

// products are Strassen's seven, and where they go: to is 1 if it is added to that quarter of
// the result, and -1 if it is taken off.
var products = [7]struct {
	a, b factor
	to   [4]float64
}{
	{factor{0, 3, false}, factor{0, 3, false}, [4]float64{1, 0, 0, 1}},
	{factor{2, 3, false}, factor{0, -1, false}, [4]float64{0, 0, 1, -1}},
	{factor{0, -1, false}, factor{1, 3, true}, [4]float64{0, 1, 0, 1}},
	{factor{3, -1, false}, factor{2, 0, true}, [4]float64{1, 0, 1, 0}},
	{factor{0, 1, false}, factor{3, -1, false}, [4]float64{-1, 1, 0, 0}},
	{factor{2, 0, true}, factor{0, 1, false}, [4]float64{0, 0, 0, 1}},
	{factor{1, 3, true}, factor{2, 3, false}, [4]float64{1, 0, 0, 0}},
}

// spreadProduct adds product i to the quarters of c that it is part of.
func spreadProduct(c, product square, i int) {
	for q, sign := range products[i].to {
		if sign == 0 {
			continue
		}
		to := c.quarter(q)
		for r := range product.n {
			x, y := to.row(r), product.row(r)
			y = y[:len(x)]
			if sign > 0 {
				for j := range x {
					x[j] += y[j]
				}
			} else {
				for j := range x {
					x[j] -= y[j]
				}
			}
		}
	}
}

// clear sets all numbers to 0.
func (s square) clear() {
	for i := range s.n {
		clear(s.row(i))
	}
}

// serialStrassen sets c to a times b, with three matrices of a quarter's size for each level.
func serialStrassen(c, a, b square) {
	if c.n <= strassenLeaf {
		multiplyLeaf(c, a, b)
		return
	}
	s, t, m := takeSquare(c.n/2), takeSquare(c.n/2), takeSquare(c.n/2)
	c.clear()
	for i := range products {
		serialStrassen(*m, products[i].a.of(a, *s), products[i].b.of(b, *t))
		spreadProduct(c, *m, i)
	}
	dropSquares(s, t, m)
}

// squares holds matrices to use again, by the logarithm of their sides.
var squares [16]sync.Pool

func takeSquare(n int) *square {
	if s, ok := squares[bits.Len(uint(n))].Get().(*square); ok {
		return s
	}
	s := newSquare(n)
	return &s
}

func dropSquares(all ...*square) {
	for _, s := range all {
		squares[bits.Len(uint(s.n))].Put(s)
	}
}

// product is a matrix product that is made of seven parts, which can be made at the same time.
type product struct {
	c, a, b square
	parts   [7]*square
}

// combine puts the parts together.
func (p *product) combine() {
	p.c.clear()
	for i, part := range p.parts {
		spreadProduct(p.c, *part, i)
	}
	dropSquares(p.parts[:]...)
}

// partOf is a part of a product, or the whole of it.
type partOf struct {
	*product
	i int
}

const whole = -1

// multiply makes the part. What is not a leaf is for more to make, of seven parts in turn.
func (p partOf) multiply(more func(q *product)) {
	s, t := takeSquare(p.c.n/2), takeSquare(p.c.n/2)
	m := takeSquare(p.c.n / 2)
	a, b := products[p.i].a.of(p.a, *s), products[p.i].b.of(p.b, *t)
	if m.n <= strassenLeaf {
		multiplyLeaf(*m, a, b)
	} else {
		more(&product{c: *m, a: a, b: b})
	}
	p.parts[p.i] = m
	dropSquares(s, t)
}

var strassenFunc = filch.NewFunc(strassenBody)

func strassenBody(f *filch.Frame[partOf, struct{}], p partOf) struct{} {
	if p.i == whole {
		forkProduct(f, p.product)
	} else {
		p.multiply(func(q *product) { forkProduct(f, q) })
	}
	return struct{}{}
}

func forkProduct(f *filch.Frame[partOf, struct{}], q *product) {
	var forks [7]filch.Fork
	for i := 1; i < 7; i++ {
		forks[i] = f.Fork(partOf{q, i})
	}
	strassenBody(f, partOf{q, 0})
	for i := 6; i > 0; i-- {
		f.Join(forks[i])
	}
	q.combine()
}

func closureStrassen(w *filch.Worker, both Both, q *product) {
	split(w, both, 0, 7, func(w *filch.Worker, i int) {
		partOf{q, i}.multiply(func(q *product) { closureStrassen(w, both, q) })
	})
	q.combine()
}

// goStrassen has a goroutine for each part, at all levels: a leaf takes 100 us.
func goStrassen(q *product) {
	var wg sync.WaitGroup
	for i := range 7 {
		wg.Go(func() { partOf{q, i}.multiply(goStrassen) })
	}
	wg.Wait()
	q.combine()
}

// multiplyLeaf sets c to a times b, as matmul does with its tiles.
func multiplyLeaf(c, a, b square) {
	var panels [strassenLeaf / 4]panel
	for k := range b.n {
		for j, x := range b.row(k) {
			panels[j/4][k][j%4] = x
		}
	}
	for i := 0; i < a.n; i += 2 {
		x, y := a.row(i), a.row(i+1)
		to, below := c.row(i), c.row(i+1)
		for j := 0; j < c.n; j += 4 {
			s, t := multiplyRows(x, y, &panels[j/4])
			*(*[4]float64)(to[j:]) = s
			*(*[4]float64)(below[j:]) = t
		}
	}
}
