package simd

// A group of elements to sum is four vectors, 128 bytes. Each of its elements is a lane.
func lanesOfSum[T Number]() int { return 128 / sizeOf[T]() }

// inRow is how many floating-point numbers a lane adds one after the other.
const inRow = 32

// Sum returns the sum of x. Integers wrap around. Floating-point numbers are added in blocks, and
// these in pairs: in a block of 4,096 bytes, each of the lanes adds 32 elements, and then the lanes are
// added in pairs.
func Sum[T Number](x []T) T {
	lanes := lanesOfSum[T]()
	if block := inRow * lanes; isFloat[T]() && len(x) > block {
		mid := (len(x)/2 + block - 1) / block * block
		return Sum(x[:mid]) + Sum(x[mid:])
	}
	n := len(x) / lanes
	if n == 0 {
		return sumRest(x)
	}
	return sumGroups(x, n) + sumRest(x[n*lanes:])
}

// sumRest adds what is less than a group.
func sumRest[T Number](x []T) T {
	var a, b, c, d T
	for ; len(x) >= 4; x = x[4:] {
		a += x[0]
		b += x[1]
		c += x[2]
		d += x[3]
	}
	for _, v := range x {
		a += v
	}
	return (a + b) + (c + d)
}

// sumGroupsInGo is the twin of sum_*: it sums the first n groups of x.
func sumGroupsInGo[T Number](x []T, n int) T {
	lanes := lanesOfSum[T]()
	x = x[:n*lanes]
	if !isFloat[T]() {
		return sumRest(x)
	}
	var all [128]T
	sum := all[:lanes]
	for ; len(x) > 0; x = x[lanes:] {
		for i, v := range x[:len(sum)] {
			sum[i] += v
		}
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for i := range half {
			sum[i] += sum[i+half]
		}
	}
	return sum[0]
}
