package filch

import (
	"github.com/filch-go/filch/internal/policy"
)

// What does not hold here does not compile: the length of an array must not be
// negative.
type (
	// A credit that was saved up pays for a few milliseconds of work at most.
	_ [100_000_000 - policy.MaxCredit*policy.Price]byte
)
