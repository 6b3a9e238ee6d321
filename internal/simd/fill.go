package simd

// Bits are as many as a number has: what is filled is not looked at.
type Bits interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Fill sets all elements of x to v. What is written goes around the caches, where the processor can do
// so. (For what stays in the caches, copying a beginning over and over is as fast as vectors.)
func Fill[T Bits](x []T, v T) {
	x = x[fillGroups(x, v):]
	for i := range x {
		x[i] = v
	}
}
