package blas_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/rig"
	"github.com/filch-go/filch/par/blas"
)

// numbers returns numbers whose sums are rounded.
func numbers[T blas.Float](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64() * math.Pow(10, float64(r.IntN(6)-3)))
	}
	return x
}

// part returns a matrix that is part of a larger one, with other numbers around it.
func part[T blas.Float](r *rand.Rand, rows, cols int) blas.Matrix[T] {
	stride := cols + r.IntN(9)
	m := blas.Matrix[T]{Rows: rows, Cols: cols, Stride: stride}
	if rows > 0 && cols > 0 {
		m.Data = numbers[T](r, (rows-1)*stride+cols)
	}
	return m
}

// product is Gemm as its documentation has it.
func product[T blas.Float](alpha T, a, b blas.Matrix[T], beta T, c blas.Matrix[T]) {
	for i := range c.Rows {
		for j := range c.Cols {
			v := c.Row(i)[j] * beta
			if beta == 0 {
				v = 0
			}
			for k0 := 0; k0 < a.Cols; k0 += 64 {
				var sum T
				for k := k0; k < min(k0+64, a.Cols); k++ {
					sum += T(a.Row(i)[k] * b.Row(k)[j])
				}
				v += T(alpha * sum)
			}
			c.Row(i)[j] = v
		}
	}
}

func gemmIsAsDocumented[T blas.Float](t *testing.T, p *filch.Pool, r *rand.Rand, m, n, k int) {
	t.Helper()
	a, b, c := part[T](r, m, k), part[T](r, k, n), part[T](r, m, n)
	alpha, beta := []T{1, -2.5, 0}[r.IntN(3)], []T{0, 1, 0.3}[r.IntN(3)]
	if beta == 0 && len(c.Data) > 0 {
		c.Data[0] = T(math.NaN())
	}
	want := c
	want.Data = append([]T(nil), c.Data...)
	product(alpha, a, b, beta, want)
	blas.Gemm(p, alpha, a, b, beta, c)
	for i, v := range c.Data {
		if v != want.Data[i] && v == v {
			t.Fatalf("%T, %d x %d x %d: element %d is %v, not %v", v, m, k, n, i, v, want.Data[i])
		}
	}
}

// A product has the bits of its documentation, in all shapes, on any number of workers, and nothing around it changes.
func TestGemm(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, s := range [][3]int{{1, 1, 1}, {4, 8, 64}, {4, 16, 64}, {3, 7, 5}, {5, 17, 65}, {130, 70, 3}, {129, 200, 70}, {260, 9, 130}, {2, 600, 1}, {300, 1, 2}, {0, 3, 3}, {3, 0, 3}, {3, 3, 0}} {
			gemmIsAsDocumented[float64](t, p, r, s[0], s[1], s[2])
			gemmIsAsDocumented[float32](t, p, r, s[0], s[1], s[2])
		}
		for range 20 {
			gemmIsAsDocumented[float64](t, p, r, r.IntN(150), r.IntN(150), r.IntN(150))
			gemmIsAsDocumented[float32](t, p, r, r.IntN(150), r.IntN(150), r.IntN(150))
		}
	})
}

// lanes returns the sum of up to 4 KiB of products: groups of 128 bytes, which are added in pairs, and the rest.
func lanes[T blas.Float](x, y []T, size int) T {
	whole := len(x) / size * size
	sum := make([]T, size)
	for i := range whole {
		sum[i%size] += T(x[i] * y[i])
	}
	for half := size / 2; half > 0; half /= 2 {
		for i := range half {
			sum[i] += sum[i+half]
		}
	}
	var rest [4]T
	i := whole
	for ; i < len(x); i++ {
		at := (i - whole) % 4
		if len(x)-i <= (len(x)-whole)%4 {
			at = 0
		}
		rest[at] += T(x[i] * y[i])
	}
	if whole == 0 {
		return (rest[0] + rest[1]) + (rest[2] + rest[3])
	}
	return sum[0] + ((rest[0] + rest[1]) + (rest[2] + rest[3]))
}

func pairs[T blas.Float](x, y []T, size int) T {
	if block := 32 * size; len(x) > block {
		mid := (len(x)/2 + block - 1) / block * block
		return pairs(x[:mid], y[:mid], size) + pairs(x[mid:], y[mid:], size)
	}
	return lanes(x, y, size)
}

func vectorsAreAsDocumented[T blas.Float](t *testing.T, p *filch.Pool, r *rand.Rand, n, size int) {
	t.Helper()
	x, y := numbers[T](r, n), numbers[T](r, n)
	var pieces []T
	for from := 0; from < n; from += 512 * size {
		pieces = append(pieces, pairs(x[from:min(n, from+512*size)], y[from:min(n, from+512*size)], size))
	}
	for len(pieces) > 1 { // in pairs; one that is left over goes on alone
		for i := range (len(pieces) + 1) / 2 {
			if pieces[i] = pieces[2*i]; 2*i+1 < len(pieces) {
				pieces[i] += pieces[2*i+1]
			}
		}
		pieces = pieces[:(len(pieces)+1)/2]
	}
	var want T
	if n > 0 {
		want = pieces[0]
	}
	if got := blas.Dot(p, x, y); got != want {
		t.Errorf("Dot of %d %T: %v, not %v", n, want, got, want)
	}
	sums := append([]T(nil), y...)
	blas.Axpy(p, 1.7, x, sums)
	for i, v := range sums {
		if want := y[i] + T(1.7*x[i]); v != want {
			t.Fatalf("Axpy of %d %T: element %d is %v, not %v", n, want, i, v, want)
		}
	}
}

func TestDotAndAxpy(t *testing.T) {
	rig.AtEach(t, func(t *testing.T, p *filch.Pool) {
		r := rand.New(rand.NewPCG(rand.Uint64(), 4))
		for _, n := range []int{0, 1, 3, 15, 16, 31, 32, 33, 100, 511, 512, 513, 1025, 8192, 8193, 16384, 16385, 40_000, 100_003} {
			vectorsAreAsDocumented[float64](t, p, r, n, 16)
			vectorsAreAsDocumented[float32](t, p, r, n, 32)
		}
	})
}

// What does not fit is told, with the argument's name, before anything is changed.
func TestWhatDoesNotFitIsTold(t *testing.T) {
	m := blas.NewMatrix[float64]
	short := m(3, 3)
	short.Data = short.Data[:8]
	narrow := m(2, 4)
	narrow.Stride = 3
	c := m(2, 2)
	for want, f := range map[string]func(){
		"Dot: s is nil":                                           func() { blas.Dot[float32](nil, nil, nil) },
		"Axpy: s is nil":                                          func() { blas.Axpy[float32](nil, 1, nil, nil) },
		"Gemm: s is nil":                                          func() { blas.Gemm(nil, 1, c, c, 1, m(2, 2)) },
		"Dot: x has length 1, y has length 2":                     func() { blas.Dot(filch.Default(), make([]float64, 1), make([]float64, 2)) },
		"Axpy: x has length 1, y has length 2":                    func() { blas.Axpy(filch.Default(), 1, make([]float64, 1), make([]float64, 2)) },
		"Gemm: a is 2 x 3, b is 2 x 2, c is 2 x 2":                func() { blas.Gemm(filch.Default(), 1, m(2, 3), m(2, 2), 1, c) },
		"Gemm: b is 3 x 3, with a stride of 3, but has 8 ele":     func() { blas.Gemm(filch.Default(), 1, m(3, 3), short, 1, m(3, 3)) },
		"Gemm: a is 2 x 4, with a stride of 3":                    func() { blas.Gemm(filch.Default(), 1, narrow, m(4, 2), 1, c) },
		fmt.Sprintf("NewMatrix: a matrix of %d x 3", math.MaxInt): func() { m(math.MaxInt, 3) },
		"NewMatrix: a matrix of -1 x 2":                           func() { m(-1, 2) },
		"Matrix.Row(2): the matrix has 2 rows":                    func() { c.Row(2) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "par/blas: "+want) {
					t.Errorf("%q, not %q", got, want)
				}
			}()
			f()
		}()
	}
}

func BenchmarkGemm(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 1024
	x, y, z := part[float64](r, n, n), part[float64](r, n, n), part[float64](r, n, n)
	x4, y4, z4 := part[float32](r, n, n), part[float32](r, n, n), part[float32](r, n, n)
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		b.Run(fmt.Sprint("float64/", workers), func(b *testing.B) {
			for range b.N {
				blas.Gemm(p, 1, x, y, 0, z)
			}
		})
		b.Run(fmt.Sprint("float32/", workers), func(b *testing.B) {
			for range b.N {
				blas.Gemm(p, 1, x4, y4, 0, z4)
			}
		})
	}
}

func BenchmarkDot(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 10_000_000
	x, y := numbers[float64](r, n), numbers[float64](r, n)
	b.Run("loop", func(b *testing.B) {
		for range b.N {
			sum := 0.0
			for i, v := range x {
				sum += v * y[i]
			}
			y[0] = sum
		}
	})
	for _, workers := range []int{1, 2} {
		p := filch.New(filch.WithWorkers(workers))
		defer p.Close()
		b.Run(fmt.Sprint("Dot/", workers), func(b *testing.B) {
			for range b.N {
				y[0] = blas.Dot(p, x, y)
			}
		})
		b.Run(fmt.Sprint("Axpy/", workers), func(b *testing.B) {
			for range b.N {
				blas.Axpy(p, 1e-9, x, y)
			}
		})
	}
}
