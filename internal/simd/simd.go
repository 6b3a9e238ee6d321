// Package simd does with slices of numbers what is worth assembly: sums, least and greatest
// elements, counts, running sums. On amd64 with AVX2 it takes several elements at a time, and with
// AVX-512 the least and greatest of 64 bits in fewer steps. Elsewhere, under the race detector and with
// the build tag purego, the same is done in Go.
//
// What is done in Go is the twin of the assembly. It returns the same bits, also in floating point,
// where it adds in the same order. (The bits of a NaN are the exception: it is only NaN in both.) So
// which of the two runs is a matter of speed alone, and may depend on anything.
//
// The assembly is generated, by the module in gen.
package simd

import "unsafe"

//go:generate env GOWORK=off go run -C gen . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd

// Number is a type of numbers that vectors have lanes for.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

// The compiler makes code for each underlying type, where what follows is constant.

// isFloat reports whether T is a type of floating-point numbers.
func isFloat[T Number]() bool { return T(1)/T(2) != 0 }

func isSigned[T Number]() bool { return T(0)-1 < 0 }

func sizeOf[T Number]() int { return int(unsafe.Sizeof(T(0))) }

// bytes returns the address of the elements, which the assembly takes as bytes.
func bytes[T Number](x []T) *uint8 { return (*uint8)(unsafe.Pointer(unsafe.SliceData(x))) }
