package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// productsAreTheTwins compares products of vectors and blocks with what is done in Go.
func productsAreTheTwins[T Float](t *testing.T, r *rand.Rand) {
	t.Helper()
	lanes, wide := lanesOfSum[T](), Wide[T]()
	equal := func(a, b []T) bool { return slices.EqualFunc(a, b, same[T]) }
	for range 200 {
		n := 1 + r.IntN(5)
		x, y := make([]T, n*lanes), make([]T, n*lanes)
		content(x, r)
		content(y, r)
		if got, want := dotGroups(x, y, n), dotGroupsInGo(x, y, n); !same(got, want) {
			t.Errorf("dot of %d groups of %T: %v, not %v", n, got, got, want)
		}
		a, want := T(r.NormFloat64()), slices.Clone(y)
		axpyRest(a, x, want)
		if axpyGroups(a, x, y, n); !equal(y, want) {
			t.Errorf("axpy of %d groups of %T differs", n, a)
		}

		rows, stride := 1+r.IntN(Deep), wide+r.IntN(7)
		c, m, p := make([]T, 3*stride+wide), make([]T, 4*(rows+3)), make(Panel[T], rows*wide)
		content(c, r)
		content(m, r)
		content(p, r)
		block := slices.Clone(c)
		AddRows(RowsOfBlock, block, stride, m, rows+3, p, rows, a)
		if AddBlock(c, stride, m, rows+3, p, rows, a); !equal(c, block) {
			t.Errorf("a block of %d columns of %T differs", rows, a)
		}
	}
}

func TestProductsAreTheTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	productsAreTheTwins[float32](t, r)
	productsAreTheTwins[float64](t, r)
}
