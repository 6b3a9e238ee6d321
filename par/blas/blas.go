// Package blas has the operations of the Basic Linear Algebra Subprograms that parallel programs need most, for float32 and
// float64: the inner product of two vectors, the sum of a vector and a multiple of another, and the product of matrices.
//
// Results have the same bits on any number of workers and on any processor, but for those of a NaN: each product is rounded before it
// is added, and the order of additions depends on lengths alone. On amd64 with AVX2 the work is done by assembly; with the build tag
// purego, under the race detector and elsewhere, by its twin in Go.
//
// Functions panic if their scope is nil, or if shapes do not fit. They do not block; on a worker they use what other workers
// have no use for, see package par.
package blas

import (
	"fmt"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/simd"
	"github.com/filch-go/filch/par"
)

// Float is a type of floating-point numbers.
type Float interface{ ~float32 | ~float64 }

// piece is how many bytes of a vector are added up apart.
const piece = 64 << 10

// Dot returns the sum of x[i] * y[i]. x and y must be as long. It is the level-1 operation dot.
//
// Sums of pieces of 64 KiB are added in pairs, as [par.ReduceRange] does. In a piece, 128 bytes of products are added to the next
// 128, for 4 KiB; then these sums are added in pairs. So the error grows with the logarithm of the length.
//
// On an AMD EPYC, 10^7 float64 took 0.82 of the time of a loop on one worker, and 0.52 on two.
func Dot[T Float](s filch.Scope, x, y []T) T {
	checkScope("Dot", s)
	if len(x) != len(y) {
		panic(fmt.Sprintf("par/blas: Dot: x has length %d, y has length %d", len(x), len(y)))
	}
	n := pieceOf[T]()
	if len(x) <= n {
		return simd.Dot(x, y)
	}
	return par.ReduceRange(s, len(x), 0, func(lo, hi int) T { return simd.Dot(x[lo:hi], y[lo:hi]) }, func(a, b T) T { return a + b }, par.WithGrain(n))
}

// Axpy adds a * x[i] to y[i]. x and y must be as long, and may be the same but not overlap otherwise. It is the level-1
// operation axpy.
func Axpy[T Float](s filch.Scope, a T, x, y []T) {
	checkScope("Axpy", s)
	if len(x) != len(y) {
		panic(fmt.Sprintf("par/blas: Axpy: x has length %d, y has length %d", len(x), len(y)))
	}
	if len(x) <= pieceOf[T]() {
		simd.Axpy(a, x, y)
		return
	}
	par.ForRange(s, len(x), func(lo, hi int) { simd.Axpy(a, x[lo:hi], y[lo:hi]) })
}

func pieceOf[T Float]() int { return piece / 64 * simd.Wide[T]() }

func checkScope(op string, s filch.Scope) {
	isNil := s == nil
	switch s := s.(type) {
	case *filch.Pool:
		isNil = s == nil
	case *filch.Worker:
		isNil = s == nil
	}
	if isNil {
		panic(fmt.Sprintf("par/blas: %s: s is nil", op))
	}
}
