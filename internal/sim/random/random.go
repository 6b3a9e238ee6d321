// Package random has random numbers that are the same on every platform, without a state that is hidden.
package random

// Mix is the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Below returns a number below n, which is 1<<32 at most, and moves the state on. The state is that of the linear congruential
// generator of MMIX (Knuth, The Art of Computer Programming 2, 1997), of which the upper half counts.
func Below(state *uint64, n int) int {
	*state = *state*6364136223846793005 + 1442695040888963407
	return int((*state >> 32) * uint64(n) >> 32)
}
