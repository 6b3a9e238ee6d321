// Fft transforms a million complex numbers by the fast Fourier transform of Cooley and Tukey
// (Math. Comp., 1965): every fourth number first, four times, each in the same way, then a loop that
// combines these. The recursion is a Func, which forks down to eight numbers, with no cutoff to
// choose. Long loops are those of par. The result is equal to that of the serial program to the last
// bit, since the same numbers are added in the same order.
package main

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par"
)

// transform is what is transformed, and where to.
type transform struct {
	in, out []complex128
	turns   [][]turn // turns[i] are for 1<<i numbers
}

// turn holds the roots of unity that three numbers are multiplied by.
type turn [3]complex128

// newTransform takes a number of values that is a power of two.
func newTransform(in []complex128) *transform {
	t := &transform{in: in, out: make([]complex128, len(in))}
	last := bits.Len(uint(len(in))) - 1
	t.turns = make([][]turn, last+1)
	for log := last; log >= 2; log -= 2 {
		n := 1 << log
		turns := make([]turn, n/4)
		for k := range turns {
			for j := range 3 {
				turns[k][j] = cmplx.Rect(1, -2*math.Pi*float64((j+1)*k)/float64(n))
			}
		}
		t.turns[log] = turns
	}
	return t
}

// piece is the transform of every stride-th number from in on, to n numbers from out on. It is four
// words, which are passed in registers.
type piece struct {
	of      *transform
	in, out int
	n       int
}

func (t *transform) whole() piece { return piece{t, 0, 0, len(t.in)} }

func (p piece) stride() int { return len(p.of.in) / p.n }

// quarter returns the transform of every fourth number of p.
func (p piece) quarter(i int) piece {
	return piece{p.of, p.in + i*p.stride(), p.out + i*p.n/4, p.n / 4}
}

// combine makes the numbers from lo up to hi of each quarter of the result.
func (p piece) combine(lo, hi int) {
	out, q := p.of.out[p.out:p.out+p.n], p.n/4
	turns := p.of.turns[bits.Len(uint(p.n))-1]
	a, b, c, d := out[:q], out[q:2*q], out[2*q:3*q], out[3*q:]
	for k := lo; k < hi; k++ {
		t := &turns[k]
		w, x, y, z := a[k], b[k]*t[0], c[k]*t[1], d[k]*t[2]
		even, odd := w+y, x+z
		less, rest := w-y, x-z
		rest = complex(imag(rest), -real(rest)) // times -i
		a[k], b[k], c[k], d[k] = even+odd, less+rest, even-odd, less-rest
	}
}

// serial is the transform on one processor.
func serial(p piece) {
	switch p.n {
	case 1:
		p.of.out[p.out] = p.of.in[p.in]
	case 2:
		x, y := p.of.in[p.in], p.of.in[p.in+p.stride()]
		p.of.out[p.out], p.of.out[p.out+1] = x+y, x-y
	default:
		for i := range 4 {
			serial(p.quarter(i))
		}
		p.combine(0, p.n/4)
	}
}

// long is how many numbers are worth a parallel loop.
const long = 1024

var parallel = filch.NewFunc(func(f *filch.Frame[piece, struct{}], p piece) struct{} {
	if p.n <= 8 {
		serial(p)
		return struct{}{}
	}
	var forks [4]filch.Fork
	for i := 1; i < 4; i++ {
		forks[i] = f.Fork(p.quarter(i))
	}
	f.Call(p.quarter(0))
	for i := 3; i > 0; i-- { // the newest first
		f.Join(forks[i])
	}
	if p.n/4 < long {
		p.combine(0, p.n/4)
	} else {
		par.ForRange(f.Worker(), p.n/4, p.combine)
	}
	return struct{}{}
})

func run(out io.Writer, n int) error {
	r := rand.New(rand.NewPCG(1, 2))
	in := make([]complex128, n)
	for i := range in {
		in[i] = complex(r.Float64(), r.Float64())
	}
	t := newTransform(in)
	begin := time.Now()
	serial(t.whole())
	alone := time.Since(begin)
	want := slices.Clone(t.out)

	pool := filch.New() // as many workers as processors
	defer pool.Close()
	begin = time.Now()
	parallel.Call(pool, t.whole())
	took := time.Since(begin)
	if !slices.Equal(t.out, want) {
		return fmt.Errorf("the result is not that of the serial program")
	}
	fmt.Fprintf(out, "%d numbers: serial %v, %d workers %v, %.2f times as fast\n",
		n, alone, runtime.GOMAXPROCS(0), took, float64(alone)/float64(took))
	return nil
}

func main() {
	if err := run(os.Stdout, 1<<20); err != nil {
		fmt.Fprintln(os.Stderr, "fft:", err)
		os.Exit(1)
	}
}
