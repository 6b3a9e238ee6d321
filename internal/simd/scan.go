package simd

// A group of elements to scan is two vectors, 64 bytes. Its floating-point numbers are added in
// steps, as the vectors do: neighbours, then pairs of neighbours, then the halves of a vector, then
// the two vectors. Then the sum of all groups before is added, and last what comes before x. So
// what comes before x does not change how the sums of x are rounded.

// PrefixSum sets dst[i] to before plus the sum of x[0] to x[i], and returns the last, or before if x
// is empty. That is before + Total(x). dst must be as long as x, and may be x. If far, what is
// written goes around the caches, where the processor can do so.
func PrefixSum[T Number](dst, x []T, before T, far bool) T {
	done, sum := scanWhole(dst, x, before, false, far)
	dst, x = dst[done:len(x)], x[done:]
	for i, v := range x {
		sum += v
		dst[i] = before + sum
	}
	return before + sum
}

// PrefixSumExclusive sets dst[i] to before plus the sum of x[0] to x[i-1], and returns before plus the
// sum of x. It has the sums that PrefixSum has, one element later.
func PrefixSumExclusive[T Number](dst, x []T, before T, far bool) T {
	done, sum := scanWhole(dst, x, before, true, far)
	dst, x = dst[done:len(x)], x[done:]
	for i, v := range x {
		dst[i] = before + sum
		sum += v
	}
	return before + sum
}

// scanWhole scans the whole groups of x, and returns how many elements they have, and their sum.
func scanWhole[T Number](dst, x []T, before T, exclusive, far bool) (done int, sum T) {
	lanes := lanesOfScan[T]()
	n := len(x) / lanes
	if n == 0 {
		return 0, 0
	}
	return n * lanes, scanGroups(dst[:len(x)], x, n, before, exclusive, far)
}

// Total returns the sum of x, in the order in which PrefixSum adds.
func Total[T Number](x []T) T {
	if !isFloat[T]() {
		return Sum(x)
	}
	n := len(x) / lanesOfScan[T]()
	sum := totalGroups(x, n)
	for _, v := range x[n*lanesOfScan[T]():] {
		sum += v
	}
	return sum
}

func lanesOfScan[T Number]() int { return 64 / sizeOf[T]() }

// scanGroupsInGo is the twin of scan_*: it scans the first n groups
// of x, and returns what they come to without before.
func scanGroupsInGo[T Number](dst, x []T, n int, before T, exclusive bool) (sum T) {
	lanes := lanesOfScan[T]()
	dst, x = dst[:n*lanes], x[:n*lanes]
	if !isFloat[T]() { // the order makes no difference
		return scanInGo(dst, x, before, exclusive) - before
	}
	for ; len(x) > 0; dst, x = dst[lanes:], x[lanes:] {
		var z [16]T // the running sums of the group alone
		if sizeOf[T]() == 8 {
			running8((*[8]T)(x), (*[8]T)(z[:]))
		} else {
			running16((*[16]T)(x), &z)
		}
		to := dst[:lanes]
		if exclusive {
			to[0], to = before+sum, to[1:]
		}
		for i := range to {
			to[i] = before + (sum + z[i])
		}
		sum += z[lanes-1]
	}
	return sum
}

func scanInGo[T Number](dst, x []T, sum T, exclusive bool) T {
	dst = dst[:len(x)]
	if exclusive {
		for i, v := range x {
			dst[i] = sum
			sum += v
		}
		return sum
	}
	for i, v := range x {
		sum += v
		dst[i] = sum
	}
	return sum
}

// totalGroupsInGo is the twin of total_*.
func totalGroupsInGo[T Number](x []T, n int) (sum T) {
	lanes := lanesOfScan[T]()
	for x = x[:n*lanes]; len(x) > 0; x = x[lanes:] {
		if sizeOf[T]() == 8 {
			sum += ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
			continue
		}
		var of [2]T // a vector
		for i := range of {
			v := x[8*i : 8*i+8]
			of[i] = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]))
		}
		sum += of[0] + of[1]
	}
	return sum
}

// running8 sets z to the running sums of a group of two vectors of 4 elements.
func running8[T Number](x, z *[8]T) {
	z[0], z[1] = x[0], x[0]+x[1]
	z[2], z[3] = z[1]+x[2], z[1]+(x[2]+x[3])
	low := x[4] + x[5]
	z[4], z[5] = z[3]+x[4], z[3]+low
	z[6], z[7] = z[3]+(low+x[6]), z[3]+(low+(x[6]+x[7]))
}

// running16 sets z to those of a group of two vectors of 8 elements.
func running16[T Number](x, z *[16]T) {
	for i := 0; i < 16; i += 4 { // half a vector
		two := x[i] + x[i+1]
		z[i], z[i+1] = x[i], two
		z[i+2], z[i+3] = x[i]+(x[i+1]+x[i+2]), two+(x[i+2]+x[i+3])
	}
	for i := 0; i < 16; i += 8 {
		for k := i + 4; k < i+8; k++ {
			z[k] += z[i+3]
		}
	}
	for k := 8; k < 16; k++ {
		z[k] += z[7]
	}
}
