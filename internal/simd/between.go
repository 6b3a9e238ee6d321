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

// FilterBetween sets dst to the elements v of x with lo <= v and v <= hi, in their order. dst must
// be as long as CountBetween says.
func FilterBetween[T Number](dst, x []T, lo, hi T) {
	if len(dst) == 0 {
		return
	}
	done, kept := filterVectors(dst, x, lo, hi)
	dst, x = dst[kept:], x[done:]
	if lanes := 32 / sizeOf[T](); len(dst) > 0 && len(x) >= lanes {
		// Vectors are written whole, and end before the last elements of dst. So these come from more
		// room. It is never too little: dst is shorter than a vector.
		var room [2 * 32]T
		done, kept := filterVectors(room[:2*lanes], x, lo, hi)
		n := copy(dst, room[:kept])
		dst, x = dst[n:], x[done:]
	}
	filterInGo(dst, x, lo, hi)
}

func filterInGo[T Number](dst, x []T, lo, hi T) {
	kept := 0
	for _, v := range x {
		if kept == len(dst) {
			return
		}
		dst[kept] = v
		if lo <= v && v <= hi {
			kept++
		}
	}
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
