// Package random has random numbers that are the same on every platform, without a state that is hidden.
package sim

// mix is the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number below n, at most 1<<32, and moves the state on.
func below(state *uint64, n int) int {
	*state = *state*6364136223846793005 + 1442695040888963407
	return int((*state >> 32) * uint64(n) >> 32)
}
