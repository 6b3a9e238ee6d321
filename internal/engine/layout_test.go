package engine

import "unsafe"

// What does not hold here does not compile: the length of an array must not be
// negative.
type (
	// The owner reads demand at each fork, and writes what follows at its leisure.
	_ [unsafe.Offsetof(Worker{}.pool) - unsafe.Offsetof(Worker{}.Demand) - 64]byte
	_ [unsafe.Offsetof(Worker{}.Demand) - 64]byte

	// Each Do writes the word of places, and takes and gives back the spare worker.
	_ [unsafe.Offsetof(Pool{}.limit) - unsafe.Offsetof(Pool{}.Places) - 128]byte
	_ [unsafe.Offsetof(Pool{}.spare) - unsafe.Offsetof(Pool{}.Workers) - 128]byte
	_ [unsafe.Offsetof(Pool{}.mu) - unsafe.Offsetof(Pool{}.spare) - 120]byte
)
