//go:build !amd64 || purego || race

package simd

// Here there is no assembly.

func sumGroups[T Number](x []T, n int) T { return sumGroupsInGo(x, n) }

func minMaxGroups[T Number](x []T, n int) (least, most T) {
	return minMaxInGo(x[:n*lanesOfSum[T]()])
}

func countGroups[T Number](x []T, n int, lo, hi T) int {
	return countInGo(x[:n*lanesOfScan[T]()], lo, hi)
}

func fillGroups[T Bits](x []T, v T) (done int) { return 0 }

func filterVectors[T Number](dst, x []T, lo, hi T) (done, kept int) { return 0, 0 }

func scanGroups[T Number](dst, x []T, n int, before T, exclusive, far bool) T {
	return scanGroupsInGo(dst, x, n, before, exclusive)
}

func totalGroups[T Number](x []T, n int) T { return totalGroupsInGo(x, n) }

func dotGroups[T Float](x, y []T, n int) T { return dotGroupsInGo(x, y, n) }

func axpyGroups[T Float](a T, x, y []T, n int) {
	axpyRest(a, x[:n*lanesOfSum[T]()], y[:n*lanesOfSum[T]()])
}

func addBlock[T Float](c []T, cStride int, x []T, xStride int, p Panel[T], n int, a T) {
	AddRows(RowsOfBlock, c, cStride, x, xStride, p, n, a)
}
