package filch

import (
	"unsafe"

	"github.com/filch-go/filch/internal/policy"
)

// What does not hold here does not compile: the length of an array must not be
// negative.
type (
	// The owner reads demand at each fork, and writes what follows at its leisure.
	_ [unsafe.Offsetof(Worker{}.pool) - unsafe.Offsetof(Worker{}.engine.demand) - 64]byte
	_ [unsafe.Offsetof(Worker{}.engine.demand) - 64]byte

	// Each Do writes the word of places, and takes and gives back the spare worker.
	_ [unsafe.Offsetof(Pool{}.engine.limit) - unsafe.Offsetof(Pool{}.engine.places) - 128]byte
	_ [unsafe.Offsetof(Pool{}.engine.spare) - unsafe.Offsetof(Pool{}.engine.workers) - 128]byte
	_ [unsafe.Offsetof(Pool{}.engine.mu) - unsafe.Offsetof(Pool{}.engine.spare) - 120]byte

	// A credit that was saved up pays for a few milliseconds of work at most.
	_ [100_000_000 - policy.MaxCredit*policy.Price]byte
)
