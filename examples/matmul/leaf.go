package main

import "unsafe"

// addBlockInGo adds the product of four rows of b and a panel to a block of a, of four rows and eight
// columns. a and b are where these begin, in matrices n wide. It keeps eight sums at a time, each of
// which is added in the order of the panel's rows. The conversions to float64 round each product
// before it is added, which some compilers would not do otherwise.
func addBlockInGo(a, b *float64, n int, c *panel) {
	to, from := unsafe.Slice(a, 3*n+8), unsafe.Slice(b, 3*n+tile)
	for i := 0; i < 4; i += 2 {
		x, y := (*[tile]float64)(from[i*n:]), (*[tile]float64)(from[(i+1)*n:])
		for j := 0; j < 8; j += 4 {
			var s0, s1, s2, s3, t0, t1, t2, t3 float64
			for k := range c {
				c := (*[4]float64)(c[k][j:])
				s0 += float64(x[k] * c[0])
				s1 += float64(x[k] * c[1])
				s2 += float64(x[k] * c[2])
				s3 += float64(x[k] * c[3])
				t0 += float64(y[k] * c[0])
				t1 += float64(y[k] * c[1])
				t2 += float64(y[k] * c[2])
				t3 += float64(y[k] * c[3])
			}
			add((*[4]float64)(to[i*n+j:]), s0, s1, s2, s3)
			add((*[4]float64)(to[(i+1)*n+j:]), t0, t1, t2, t3)
		}
	}
}

func add(to *[4]float64, s0, s1, s2, s3 float64) {
	to[0] += s0
	to[1] += s1
	to[2] += s2
	to[3] += s3
}
