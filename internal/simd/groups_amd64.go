//go:build !purego && !race

package simd

import (
	"math"
	"unsafe"
)

// Each function takes the first n groups of x, n being 1 at least, by assembly if there is AVX2,
// and else by the twin.

// hasAVX2 never changes: whether processor and operating system have AVX2, and POPCNT. Nor does
// hasAVX512, for what AVX-512 has for vectors of 32 bytes.
var hasAVX2, hasAVX512 = features()

func features() (hasAVX2, hasAVX512 bool) {
	const osxsave, avx, popcnt = 1 << 27, 1 << 28, 1 << 23   // bits of leaf 1, in ECX
	const avx2, avx512f, avx512vl = 1 << 5, 1 << 16, 1 << 31 // of leaf 7, in EBX
	const xmmAndYMM, masksAndZMM = 0x06, 0xe0                // registers that are saved
	if most, _, _, _ := cpuid(0, 0); most < 7 {
		return false, false
	}
	_, _, c, _ := cpuid(1, 0)
	if need := uint32(osxsave | avx | popcnt); c&need != need {
		return false, false
	}
	saved, _ := xgetbv()
	_, b, _, _ := cpuid(7, 0)
	hasAVX2 = b&avx2 != 0 && saved&xmmAndYMM == xmmAndYMM
	hasAVX512 = hasAVX2 && b&avx512f != 0 && b&avx512vl != 0 && saved&masksAndZMM == masksAndZMM
	return hasAVX2, hasAVX512
}

func sumGroups[T Number](x []T, n int) T {
	if !hasAVX2 {
		return sumGroupsInGo(x, n)
	}
	p := bytes(x)
	switch size := sizeOf[T](); {
	case isFloat[T]() && size == 4:
		return T(sum_f4(p, n))
	case isFloat[T]():
		return T(sum_f8(p, n))
	case size == 1:
		return T(sum_u1(p, n))
	case size == 2:
		return T(sum_u2(p, n))
	case size == 4:
		return T(sum_u4(p, n))
	default:
		return T(sum_u8(p, n))
	}
}

// extremes are what minmax_* writes: the least and the greatest of each lane. Of floating-point
// numbers, these are their bits, as integers without signs, and top is the greatest with signs.
type extremes struct{ least, most, top [4]uint64 }

// doubles is what minmax_f8 writes: also where an element was not comparable, the bits that any had,
// and those that all had.
type doubles struct {
	least, most          [4]float64
	odd, anyHas, allHave [4]uint64
}

func minMaxGroups[T Number](x []T, n int) (least, most T) {
	if !hasAVX2 {
		return minMaxInGo(x[:n*lanesOfSum[T]()])
	}
	var e extremes
	p, out := bytes(x), (*uint8)(unsafe.Pointer(&e))
	size := sizeOf[T]()
	switch {
	case isFloat[T]() && size == 4:
		minmax_f4(p, n, out)
		a, b := floats[uint32, int32](&e, math.Float32bits(float32(math.Inf(1))), func(v uint32) float64 { return float64(math.Float32frombits(v)) })
		return T(a), T(b)
	case isFloat[T]() && hasAVX512:
		minmax_f8_512(p, n, out)
		a, b := floats[uint64, int64](&e, math.Float64bits(math.Inf(1)), math.Float64frombits)
		return T(a), T(b)
	case isFloat[T]():
		var d doubles
		minmax_f8(p, n, (*uint8)(unsafe.Pointer(&d)))
		a, b := d.extremes()
		return T(a), T(b)
	case hasAVX512 && size == 8 && isSigned[T]():
		minmax_i8_512(p, n, out)
	case hasAVX512 && size == 8:
		minmax_u8_512(p, n, out)
	case isSigned[T]():
		switch size {
		case 1:
			minmax_i1(p, n, out)
		case 2:
			minmax_i2(p, n, out)
		case 4:
			minmax_i4(p, n, out)
		default:
			minmax_i8(p, n, out)
		}
	case size == 1:
		minmax_u1(p, n, out)
	case size == 2:
		minmax_u2(p, n, out)
	case size == 4:
		minmax_u4(p, n, out)
	default:
		minmax_u8(p, n, out)
	}
	least, _ = minMaxInGo(lanesOf[T](&e.least))
	_, most = minMaxInGo(lanesOf[T](&e.most))
	return least, most
}

func lanesOf[T Number](vector *[4]uint64) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(vector)), 32/sizeOf[T]())
}

// floats finds the least and the greatest among the bits of floating-point numbers. A NaN is beyond the
// infinities.
func floats[U uint32 | uint64, S int32 | int64](e *extremes, infinity U, number func(U) float64) (least, most float64) {
	low, _ := minMaxInGo(lanesOf[U](&e.least))
	_, high := minMaxInGo(lanesOf[U](&e.most))
	_, top := minMaxInGo(lanesOf[S](&e.top))
	sign := ^(^U(0) >> 1)
	if top > S(infinity) || high > sign|infinity {
		return math.NaN(), math.NaN()
	}
	least, most = number(low), number(low)
	if high&sign != 0 {
		least = number(high)
	}
	if top >= 0 {
		most = number(U(top))
	}
	return least, most
}

// extremes says what the least and the greatest do not: an element was NaN, or a zero is negative. If the
// least is zero, all elements with a sign are negative zeros, and so for the greatest.
func (d *doubles) extremes() (least, most float64) {
	if d.odd != [4]uint64{} {
		return math.NaN(), math.NaN()
	}
	least, _ = minMaxInGo(d.least[:])
	_, most = minMaxInGo(d.most[:])
	negative := math.Copysign(0, -1)
	if any := d.anyHas; least == 0 && (any[0]|any[1]|any[2]|any[3])>>63 == 1 {
		least = negative
	}
	if all := d.allHave; most == 0 {
		most = 0
		if (all[0]&all[1]&all[2]&all[3])>>63 == 1 {
			most = negative
		}
	}
	return least, most
}

func countGroups[T Number](x []T, n int, lo, hi T) int {
	if !hasAVX2 {
		return countInGo(x[:n*lanesOfScan[T]()], lo, hi)
	}
	p, size := bytes(x), sizeOf[T]()
	found := 0
	switch {
	case isFloat[T]() && size == 4:
		found = between_f4(p, n, float32(lo), float32(hi))
	case isFloat[T]():
		found = between_f8(p, n, float64(lo), float64(hi))
	case size == 1:
		found = between_u1(p, n, uint8(lo), uint8(hi))
	case size == 2:
		found = between_u2(p, n, uint16(lo), uint16(hi))
	case size == 4:
		found = between_u4(p, n, uint32(lo), uint32(hi))
	default:
		found = between_u8(p, n, uint64(lo), uint64(hi))
	}
	return found / size
}

// fillGroups fills a beginning of x, and returns how long that is.
func fillGroups[T Bits](x []T, v T) (done int) {
	size := sizeOf[T]()
	if !hasAVX2 || len(x)*size < 256 {
		return 0
	}
	word := uint64(v)
	for bits := 8 * size; bits < 64; bits *= 2 {
		word |= word << bits
	}
	for uintptr(unsafe.Pointer(bytes(x[done:])))%32 != 0 {
		x[done] = v
		done++
	}
	n := (len(x) - done) * size / 128
	fill(bytes(x[done:]), n, word)
	return done + n*128/size
}

// filterVectors filters a beginning of x, and returns how long that is, and how many of it are in dst.
func filterVectors[T Number](dst, x []T, lo, hi T) (done, kept int) {
	size := sizeOf[T]()
	if !hasAVX2 {
		return 0, 0
	}
	to, p, room, n := bytes(dst), bytes(x), len(dst), len(x)*size/32
	switch {
	case isFloat[T]() && size == 4:
		done, kept = filter_f4(to, room, p, n, float32(lo), float32(hi))
	case isFloat[T]():
		done, kept = filter_f8(to, room, p, n, float64(lo), float64(hi))
	case size == 1:
		done, kept = filter_u1(to, room, p, n, uint8(lo), uint8(hi))
	case size == 2:
		done, kept = filter_u2(to, room, p, n, uint16(lo), uint16(hi))
	case size == 4:
		done, kept = filter_u4(to, room, p, n, uint32(lo), uint32(hi))
	default:
		done, kept = filter_u8(to, room, p, n, uint64(lo), uint64(hi))
	}
	return done * 32 / size, kept
}

func scanGroups[T Number](dst, x []T, n int, before T, exclusive, far bool) T {
	if !hasAVX2 {
		return scanGroupsInGo(dst, x, n, before, exclusive)
	}
	to, p := bytes(dst), bytes(x)
	far = far && uintptr(unsafe.Pointer(to))%32 == 0
	switch size := sizeOf[T](); {
	case isFloat[T]() && size == 4:
		return T(scan_f4(to, p, n, float32(before), exclusive, far))
	case isFloat[T]():
		return T(scan_f8(to, p, n, float64(before), exclusive, far))
	case size == 1:
		return T(scan_u1(to, p, n, uint8(before), exclusive, far)) - before
	case size == 2:
		return T(scan_u2(to, p, n, uint16(before), exclusive, far)) - before
	case size == 4:
		return T(scan_u4(to, p, n, uint32(before), exclusive, far)) - before
	default:
		return T(scan_u8(to, p, n, uint64(before), exclusive, far)) - before
	}
}

func totalGroups[T Number](x []T, n int) T {
	switch {
	case !hasAVX2 || !isFloat[T]():
		return totalGroupsInGo(x, n)
	case sizeOf[T]() == 4:
		return T(total_f4(bytes(x), n))
	default:
		return T(total_f8(bytes(x), n))
	}
}

func dotGroups[T Float](x, y []T, n int) T {
	switch {
	case !hasAVX2:
		return dotGroupsInGo(x, y, n)
	case sizeOf[T]() == 4:
		return T(dot_f4(bytes(x), bytes(y), n))
	}
	return T(dot_f8(bytes(x), bytes(y), n))
}

func axpyGroups[T Float](a T, x, y []T, n int) {
	switch {
	case !hasAVX2:
		axpyRest(a, x[:n*lanesOfSum[T]()], y[:n*lanesOfSum[T]()])
	case sizeOf[T]() == 4:
		axpy_f4(bytes(y), bytes(x), n, float32(a))
	default:
		axpy_f8(bytes(y), bytes(x), n, float64(a))
	}
}

func addBlock[T Float](c []T, cStride int, x []T, xStride int, p Panel[T], n int, a T) {
	size := sizeOf[T]()
	switch {
	case !hasAVX2:
		AddRows(RowsOfBlock, c, cStride, x, xStride, p, n, a)
	case size == 4:
		block_f4(bytes(c), cStride*size, bytes(x), xStride*size, bytes(p), n, float32(a))
	default:
		block_f8(bytes(c), cStride*size, bytes(x), xStride*size, bytes(p), n, float64(a))
	}
}
