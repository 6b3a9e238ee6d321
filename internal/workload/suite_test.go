package workload

import (
	"math"
	"math/cmplx"
	"testing"
)

// Strassen's product is the plain one, but for rounding: each of the levels adds up numbers that
// are a few times as large as those of the plain product.
func TestStrassenIsTheProduct(t *testing.T) {
	const n = 256
	rng := splitmix(1)
	a, b, c := newSquare(n), newSquare(n), newSquare(n)
	for i := range a.v {
		a.v[i], b.v[i] = rng.float()-0.5, rng.float()-0.5
	}
	naive := newMatrix(n)
	serialStrassen(c, a, b)
	multiplyNaively(naive, matrix{n, a.v}, matrix{n, b.v})
	for i, v := range c.v {
		if math.Abs(v-naive.v[i]) > 1e-11 {
			t.Fatalf("element %d, %d is %v, not %v", i/n, i%n, v, naive.v[i])
		}
	}
}

// The product of the factors is the matrix. It is as large as its diagonal, 64, and float32 has
// 24 bits.
func TestSparseLUGivesFactors(t *testing.T) {
	m := &blocks{n: 6}
	m.at, m.data, m.todo = make([]*block, 36), make([]block, 36), make([]int, 36)
	m.fill()
	const n = 6 * blockSide
	at := func(i, j int) float64 { return float64(m.data[i/blockSide*6+j/blockSide][i%blockSide][j%blockSide]) }
	var before [n][n]float64
	for i := range n {
		for j := range n {
			before[i][j] = at(i, j)
		}
	}
	m.factorSerially()
	for i := range n {
		for j := range n {
			sum := 0.0
			for k := range min(i, j+1) {
				sum += at(i, k) * at(k, j)
			}
			if i <= j {
				sum += at(i, j)
			}
			if math.Abs(sum-before[i][j]) > 1e-3 {
				t.Fatalf("element %d, %d is %v, want %v", i, j, sum, before[i][j])
			}
		}
	}
}

// The transform is that of the definition, at sizes that end in each kind of leaf.
func TestFFTIsTheTransform(t *testing.T) {
	for _, n := range []int{2, 4, 8, 16, 32, 64, 128} {
		x := newTransform(n)
		serialFFT(x.whole())
		for k, got := range x.out {
			want := complex128(0)
			for j, v := range x.in {
				want += v * cmplx.Rect(1, -2*math.Pi*float64(j*k%n)/float64(n))
			}
			// Each of the log n levels adds a rounding error of 2^-53 or so to numbers of size sqrt n.
			if cmplx.Abs(got-want) > 1e-13*math.Sqrt(float64(n)) {
				t.Fatalf("n %d: number %d is %v, want %v", n, k, got, want)
			}
		}
	}
}
