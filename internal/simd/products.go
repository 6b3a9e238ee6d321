package simd

import "unsafe"

// Products of vectors and matrices. Each product is rounded before it is added, also where the processor has an instruction for both, so
// that all processors come to the same bits. The conversions to T keep compilers from using such instructions.

// Float is a type of floating-point numbers.
type Float interface{ ~float32 | ~float64 }

// Dot returns the sum of the products of x and y, which is as long, added in the order of [Sum].
func Dot[T Float](x, y []T) T {
	lanes := lanesOfSum[T]()
	if block := inRow * lanes; len(x) > block {
		mid := (len(x)/2 + block - 1) / block * block
		return Dot(x[:mid], y[:mid]) + Dot(x[mid:], y[mid:])
	}
	n := len(x) / lanes
	if n == 0 {
		return dotRest(x, y)
	}
	return dotGroups(x, y, n) + dotRest(x[n*lanes:], y[n*lanes:])
}

// dotRest adds what is less than a group.
func dotRest[T Float](x, y []T) T {
	var a, b, c, d T
	for ; len(x) >= 4; x, y = x[4:], y[4:] {
		a += T(x[0] * y[0])
		b += T(x[1] * y[1])
		c += T(x[2] * y[2])
		d += T(x[3] * y[3])
	}
	for i, v := range x {
		a += T(v * y[i])
	}
	return (a + b) + (c + d)
}

// dotGroupsInGo is the twin of dot_*.
func dotGroupsInGo[T Float](x, y []T, n int) T {
	lanes := lanesOfSum[T]()
	x, y = x[:n*lanes], y[:n*lanes]
	var all [32]T
	sum := all[:lanes]
	for ; len(x) > 0; x, y = x[lanes:], y[lanes:] {
		for i := range sum {
			sum[i] += T(x[i] * y[i])
		}
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			sum[i] += sum[i+half]
		}
	}
	return sum[0]
}

// Axpy adds a times x to y, which is as long.
func Axpy[T Float](a T, x, y []T) {
	n := len(x) / lanesOfSum[T]()
	if n > 0 {
		axpyGroups(a, x, y, n)
	}
	axpyRest(a, x[n*lanesOfSum[T]():], y[n*lanesOfSum[T]():])
}

func axpyRest[T Float](a T, x, y []T) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += T(a * v)
	}
}

// A Panel is what a block is multiplied by: Deep rows of 64 bytes.
type Panel[T Float] []T

// Deep is how many rows of a panel there are at most, and RowsOfBlock how many rows a block has.
const (
	Deep        = 64
	RowsOfBlock = 4
)

// Wide returns how many columns a panel and a block have.
func Wide[T Float]() int { return 64 / int(unsafe.Sizeof(T(0))) }

// AddBlock adds a times the product of four rows of x and the panel p, which has n rows, to four rows of c. x and c begin with their
// first row, and have so many numbers from one row to the next. Each sum begins with zero, and is added up in the order of the rows of
// p; then it is multiplied by a, and added to c.
func AddBlock[T Float](c []T, cStride int, x []T, xStride int, p Panel[T], n int, a T) {
	if n == 0 {
		return
	}
	_, _, _ = c[3*cStride+Wide[T]()-1], x[3*xStride+n-1], p[n*Wide[T]()-1]
	addBlock(c, cStride, x, xStride, p, n, a)
}

// AddRows is AddBlock for so many rows, in Go: for what is left of a matrix, and as the twin of block_*.
func AddRows[T Float](rows int, c []T, cStride int, x []T, xStride int, p Panel[T], n int, a T) {
	const most = 4 // sums at a time, as many as stay in registers with what they are made of
	wide := Wide[T]()
	for i := range rows {
		row := x[i*xStride:][:n]
		for j := 0; j < wide; j += most {
			var s0, s1, s2, s3 T
			for k, v := range row {
				q := (*[most]T)(p[k*wide+j:])
				s0 += T(v * q[0])
				s1 += T(v * q[1])
				s2 += T(v * q[2])
				s3 += T(v * q[3])
			}
			to := (*[most]T)(c[i*cStride+j:])
			to[0] += T(a * s0)
			to[1] += T(a * s1)
			to[2] += T(a * s2)
			to[3] += T(a * s3)
		}
	}
}
