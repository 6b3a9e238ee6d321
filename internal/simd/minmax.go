package simd

// MinMax returns the least and the greatest element of x, which must not be empty, as the built-in
// min and max do: both are NaN if an element is, and -0 is less than 0.
func MinMax[T Number](x []T) (least, most T) {
	lanes := lanesOfSum[T]() // the groups are as long
	n := len(x) / lanes
	if n == 0 {
		return minMaxInGo(x)
	}
	least, most = minMaxGroups(x, n)
	for _, v := range x[n*lanes:] {
		least, most = min(least, v), max(most, v)
	}
	return least, most
}

func minMaxInGo[T Number](x []T) (least, most T) {
	least, most = x[0], x[0]
	for _, v := range x[1:] {
		least, most = min(least, v), max(most, v)
	}
	return least, most
}
