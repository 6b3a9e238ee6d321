//go:build !purego && !race

package simd

import (
	"math/rand/v2"
	"testing"
)

func filtersByVectors[T Number](t *testing.T) {
	t.Helper()
	x := make([]T, 1000)
	if done, kept := filterVectors(make([]T, 500), x, 0, 1); done < 400 || kept != done {
		t.Errorf("%T: vectors have filtered %d elements and kept %d", x, done, kept)
	}
	if done, kept := filterVectors(make([]T, 1), x, 1, 1); done != 0 || kept != 0 {
		t.Errorf("%T: a whole vector was written where there is no room for one: %d, %d", x, done, kept)
	}
	if done, kept := filterVectors(make([]T, 40), x, 1, 1); done < 1000-32 || kept != 0 {
		t.Errorf("%T: vectors have gone through %d elements and kept %d", x, done, kept)
	}
}

// Numbers of all sizes are filtered by vectors, as long as there is room for a whole one.
func TestVectorsFilterAllSizes(t *testing.T) {
	if !hasAVX2 {
		t.Skip("no AVX2")
	}
	filtersByVectors[int8](t)
	filtersByVectors[uint8](t)
	filtersByVectors[int16](t)
	filtersByVectors[uint16](t)
	filtersByVectors[int32](t)
	filtersByVectors[uint64](t)
	filtersByVectors[float32](t)
	filtersByVectors[float64](t)
}

// Without AVX-512, and without AVX2, all comes to the same.
func TestOlderProcessorsComeToTheSame(t *testing.T) {
	defer func(avx2, avx512 bool) { hasAVX2, hasAVX512 = avx2, avx512 }(hasAVX2, hasAVX512)
	for _, off := range []*bool{&hasAVX512, &hasAVX2} {
		*off = false
		r := rand.New(rand.NewPCG(1, 2))
		checkLengths[int64](t, r)
		checkLengths[uint64](t, r)
	}
}
