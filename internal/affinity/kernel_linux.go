package affinity

import (
	"syscall"
	"unsafe"
)

type system struct{}

// Thread returns what gettid does, in about 0.1 us.
func (system) Thread() int { return syscall.Gettid() }

// Mask is sched_getaffinity, which refuses a mask that has not room for all processors there may be.
func (system) Mask(number int) (Mask, error) {
	for words := 16; ; words *= 2 {
		m := make(Mask, words)
		// unsafe: the kernel is given the address of the words, of which it writes as many bytes as it is told.
		n, _, errno := syscall.Syscall(syscall.SYS_SCHED_GETAFFINITY, uintptr(number), m.bytes(), uintptr(unsafe.Pointer(&m[0])))
		switch {
		case errno == 0:
			return m[:n/unsafe.Sizeof(m[0])], nil
		case errno != syscall.EINVAL || words > 1<<12:
			return nil, errno
		}
	}
}

// SetMask is sched_setaffinity.
func (system) SetMask(number int, m Mask) error {
	// unsafe: as in Mask, but the kernel reads.
	_, _, errno := syscall.Syscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(number), m.bytes(), uintptr(unsafe.Pointer(&m[0])))
	if errno != 0 {
		return errno
	}
	return nil
}

// bytes returns how long m is.
func (m Mask) bytes() uintptr { return uintptr(len(m)) * unsafe.Sizeof(m[0]) }
