// Package goroutine tells goroutines apart, for the checks that look for a Worker on a goroutine
// that it was not handed to. Nothing that decides what runs where may use it: Go hides what a
// goroutine is for good reasons.
package goroutine

import "runtime"

// Number returns the number of the calling goroutine, as its traceback begins with it. No other
// goroutine of the program ever has it. It costs some microseconds: the runtime walks the stack,
// however little of it is asked for.
func Number() uint64 {
	var text [64]byte
	return numberIn(text[:runtime.Stack(text[:], false)])
}

// numberIn returns the number that a traceback begins with.
func numberIn(text []byte) (n uint64) {
	const before = len("goroutine ")
	for i := before; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		n = n*10 + uint64(text[i]-'0')
	}
	return n
}

// IsCoroutine reports whether the calling goroutine is that of an iter.Pull, which runs only while its caller waits. It
// takes time in proportion to the depth of the stack, at whose bottom this shows.
func IsCoroutine() bool {
	pcs := make([]uintptr, 64)
	n := runtime.Callers(1, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 2*n)
		n = runtime.Callers(1, pcs)
	}
	frames := runtime.CallersFrames(pcs[max(0, n-4):n])
	for more := n > 0; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == "runtime.corostart" {
			return true
		}
	}
	return false
}
