package task

import "unsafe"

// What does not hold here does not compile: the length of an array must not be
// negative.
type (
	// Lists are allocated one by one. Those of two workers share no cache line.
	_ [0 - unsafe.Sizeof(list{})%128]byte

	// Workers read best before each task by priority; what is before it is written elsewhere.
	_ [unsafe.Offsetof(Pool{}.best) - unsafe.Offsetof(Pool{}.way) - unsafe.Sizeof(way{}) - 128]byte
	_ [unsafe.Offsetof(Pool{}.laden) - unsafe.Offsetof(Pool{}.Global) - unsafe.Sizeof(Queue{}) - 64]byte
	_ [unsafe.Offsetof(Pool{}.Totals) - unsafe.Offsetof(Pool{}.laden) - 128]byte

	// Others load some to spare themselves the lock.
	_ [unsafe.Offsetof(Queue{}.laden) - unsafe.Offsetof(Queue{}.some) - 120]byte
)
