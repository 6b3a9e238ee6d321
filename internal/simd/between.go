package simd

// CountBetween returns how many elements v of x have lo <= v and v <= hi.
func CountBetween[T Number](x []T, lo, hi T) int {
	if !(lo <= hi) { // or one is NaN
		return 0
	}
	lanes := 64 / sizeOf[T]()
	n := len(x) / lanes
	if n == 0 {
		return countInGo(x, lo, hi)
	}
	return countGroups(x, n, lo, hi) + countInGo(x[n*lanes:], lo, hi)
}

func countInGo[T Number](x []T, lo, hi T) int {
	n := 0
	for _, v := range x {
		if lo <= v && v <= hi {
			n++
		}
	}
	return n
}
