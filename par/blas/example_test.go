package blas_test

import (
	"fmt"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/par/blas"
)

func ExampleDot() {
	fmt.Println(blas.Dot(filch.Default(), []float64{1, 2, 3}, []float64{4, 5, 6}))
	// Output: 32
}

func ExampleAxpy() {
	y := []float32{1, 1, 1}
	blas.Axpy(filch.Default(), 2, []float32{1, 2, 3}, y)
	fmt.Println(y)
	// Output: [3 5 7]
}

func ExampleGemm() {
	a, b, c := blas.NewMatrix[float64](2, 3), blas.NewMatrix[float64](3, 2), blas.NewMatrix[float64](2, 2)
	for i := range 6 {
		a.Data[i], b.Data[i] = float64(i), float64(i)
	}
	blas.Gemm(filch.Default(), 1, a, b, 0, c)
	fmt.Println(c.Row(0), c.Row(1))
	// Output: [10 13] [28 40]
}

func ExampleNewMatrix() {
	fmt.Println(len(blas.NewMatrix[float32](3, 4).Data))
	// Output: 12
}

// Part of a matrix is a matrix that shares its elements.
func ExampleMatrix() {
	m := blas.NewMatrix[float64](4, 4)
	middle := blas.Matrix[float64]{Rows: 2, Cols: 2, Stride: m.Stride, Data: m.Data[m.Stride+1:]}
	middle.Row(0)[0] = 1
	fmt.Println(m.Row(1))
	// Output: [0 1 0 0]
}

func ExampleMatrix_Row() {
	m := blas.NewMatrix[float64](2, 3)
	m.Row(1)[2] = 5
	fmt.Println(m.Data)
	// Output: [0 0 0 0 0 5]
}

// weight is a type of one's own.
type weight float32

func ExampleFloat() {
	fmt.Println(blas.Dot(filch.Default(), []weight{0.5}, []weight{2}))
	// Output: 1
}
