package span

import (
	"syscall"
	"unsafe"
)

// Idle returns a function for [Recorder.Lost]: it tells for how long this program has run nowhere since it was
// called last. Then another program was in the way, or there was nothing to run.
func Idle() func() int64 {
	wall, processor := readClock(monotonic), readClock(ofProcess)
	return func() int64 {
		w, p := readClock(monotonic), readClock(ofProcess)
		idle := (w - wall) - (p - processor)
		wall, processor = w, p
		return max(0, idle) // less than 0 if several threads have run
	}
}

// Clocks of clock_gettime.
const (
	monotonic = 1
	ofProcess = 2 // the time of all its threads on processors
)

func readClock(id uintptr) int64 {
	var t syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}
