package workload

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// fft is the fast Fourier transform by Cooley and Tukey (Math. Comp., 1965), which divides by
// four: quarters first, then a loop that combines them.
//
// Func fits: it forks down to the smallest quarters, without a cutoff. Large loops are those of
// package par; otherwise the last one, on one worker, would be a ninth of all. All forms do the
// same operations on the same numbers, so that results are equal to the last bit.
var fft = &Workload{
	Name:    "fft",
	About:   "fast Fourier transform of n complex numbers, n a power of two (BOTS)",
	Sizes:   []string{"4096", "262144", "1048576"},
	Default: []Default{{Size: "1048576"}},
	Prepare: func(size string, _ Env) (*Job, error) {
		n, err := number("fft", size, 2, 1<<26)
		if err != nil {
			return nil, err
		}
		if n&(n-1) != 0 {
			return nil, fmt.Errorf("fft: size %q is not a power of two", size)
		}
		t := &transform{}
		return &Job{
			Load:   func() { *t = *newTransform(n) },
			Reset:  func() { clear(t.out) },
			Answer: func() string { return t.sum() },
			Serial: func() string { serialFFT(t.whole()); return "" },
			Func: func(p filch.Scope) string {
				fftFunc.Call(p, t.whole())
				return ""
			},
			Closures: func(w *filch.Worker, both Both) string {
				closureFFT(w, both, t.whole())
				return ""
			},
			Goroutines: func(workers int) string {
				goFFT(t.whole(), workers)
				return ""
			},
		}, nil
	},
}

// transform is what a transform is of, and what it needs.
type transform struct {
	in, out []complex128
	turns   [][]turn // turns[i] are for a piece of 1<<i numbers
}

// turn holds the roots of unity that three numbers are multiplied by.
type turn [3]complex128

func newTransform(n int) *transform {
	t := &transform{in: make([]complex128, n), out: make([]complex128, n)}
	log := bits.Len(uint(n)) - 1
	t.turns = make([][]turn, log+1)
	for ; log > fftLeaf; log -= 2 {
		turns := make([]turn, 1<<log/4)
		for k := range turns {
			for j := range 3 {
				sin, cos := math.Sincos(-2 * math.Pi * float64((j+1)*k) / float64(int(1)<<log))
				turns[k][j] = complex(cos, sin)
			}
		}
		t.turns[log] = turns
	}
	rng := splitmix(11)
	for i := range t.in {
		t.in[i] = complex(rng.float()-0.5, rng.float()-0.5)
	}
	return t
}

// sum is the answer: a sum of all bits.
func (t *transform) sum() string {
	h := uint64(0)
	for _, v := range t.out {
		h = h*0x9e3779b97f4a7c15 + math.Float64bits(real(v))
		h = h*0x9e3779b97f4a7c15 + math.Float64bits(imag(v))
	}
	return fmt.Sprintf("%d numbers, sum of bits %016x", len(t.out), h)
}

func (t *transform) whole() piece { return piece{of: t, log: bits.Len(uint(len(t.in))) - 1} }

// piece is the transform of 1<<log numbers, as many apart as fit, from in on, to numbers that are
// beside each other, from out on. It has four words, which are passed in registers.
type piece struct {
	of      *transform
	in, out int
	log     int
}

func (p piece) stride() int { return len(p.of.in) >> p.log }

// quarter returns the transform of every fourth number.
func (p piece) quarter(i int) piece {
	return piece{p.of, p.in + i*p.stride(), p.out + i<<(p.log-2), p.log - 2}
}

// fftLeaf is the logarithm of what is not divided any more.
const fftLeaf = 3

// leaf transforms eight numbers, or fewer.
func (p piece) leaf() {
	in, out := p.of.in[p.in:], p.of.out[p.out:]
	s := p.stride()
	switch p.log {
	case 1:
		out[0], out[1] = in[0]+in[s], in[0]-in[s]
	case 2:
		out[0], out[1], out[2], out[3] = four(in[0], in[s], in[2*s], in[3*s])
	case 3:
		a, b, c, d := four(in[0], in[2*s], in[4*s], in[6*s])
		e, f, g, h := four(in[s], in[3*s], in[5*s], in[7*s])
		f = complex(real(f)+imag(f), imag(f)-real(f)) * (math.Sqrt2 / 2)
		g = complex(imag(g), -real(g))
		h = complex(imag(h)-real(h), -real(h)-imag(h)) * (math.Sqrt2 / 2)
		out = out[:8]
		out[0], out[1], out[2], out[3] = a+e, b+f, c+g, d+h
		out[4], out[5], out[6], out[7] = a-e, b-f, c-g, d-h
	}
}

// four transforms four numbers.
func four(a, b, c, d complex128) (w, x, y, z complex128) {
	s, t := a+c, a-c
	u, v := b+d, b-d
	v = complex(imag(v), -real(v)) // times -i
	return s + u, t + v, s - u, t - v
}

// combine makes the numbers lo to hi-1 of each quarter of the result.
func (p piece) combine(lo, hi int) {
	q := 1 << (p.log - 2)
	out := p.of.out[p.out:]
	a, b, c, d := out[lo:hi], out[q+lo:q+hi], out[2*q+lo:2*q+hi], out[3*q+lo:3*q+hi]
	turns := p.of.turns[p.log][lo:hi]
	b, c, d = b[:len(turns)], c[:len(turns)], d[:len(turns)]
	a = a[:len(turns)]
	for k := range turns {
		t := &turns[k]
		a[k], b[k], c[k], d[k] = four(a[k], b[k]*t[0], c[k]*t[1], d[k]*t[2])
	}
}

func serialFFT(p piece) {
	if p.log <= fftLeaf {
		p.leaf()
		return
	}
	for i := range 4 {
		serialFFT(p.quarter(i))
	}
	p.combine(0, 1<<(p.log-2))
}

var fftFunc = filch.NewFunc(fftBody)

// fewToCombine is what is combined at once: it takes about ten microseconds.
const fewToCombine = 1024

func fftBody(f *filch.Frame[piece, struct{}], p piece) struct{} {
	if p.log <= fftLeaf {
		p.leaf()
		return struct{}{}
	}
	h1 := f.Fork(p.quarter(1))
	h2 := f.Fork(p.quarter(2))
	h3 := f.Fork(p.quarter(3))
	fftBody(f, p.quarter(0))
	f.Join(h3)
	f.Join(h2)
	f.Join(h1)
	if q := 1 << (p.log - 2); q <= fewToCombine {
		p.combine(0, q)
	} else {
		par.ForRange(f.Worker(), q, p.combine)
	}
	return struct{}{}
}

func closureFFT(w *filch.Worker, both Both, p piece) {
	if p.log <= fftLeaf {
		p.leaf()
		return
	}
	split(w, both, 0, 4, func(w *filch.Worker, i int) { closureFFT(w, both, p.quarter(i)) })
	chunks := max(1, 1<<(p.log-2)/fewToCombine)
	size := 1 << (p.log - 2) / chunks
	split(w, both, 0, chunks, func(_ *filch.Worker, i int) { p.combine(i*size, (i+1)*size) })
}

// goFFT has goroutines for quarters of 4096 numbers and more, which take 100 us, and divides
// loops of as many among the workers.
func goFFT(p piece, workers int) {
	const few = 12
	if p.log < few+2 {
		serialFFT(p)
		return
	}
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() { goFFT(p.quarter(i), workers) })
	}
	goFFT(p.quarter(3), workers)
	wg.Wait()
	q := 1 << (p.log - 2)
	for i := range workers {
		wg.Go(func() { p.combine(i*q/workers, (i+1)*q/workers) })
	}
	wg.Wait()
}
