package filch

import (
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/task"
)

// What does not hold here does not compile: the length of an array must not be
// negative.
type (
	// A credit that was saved up pays for a few milliseconds of work at most.
	_ [100_000_000 - policy.MaxCredit*policy.Price]byte
	// The orders of pools are those of their tasks.
	_ [LIFO - Order(task.LIFO)]byte
	_ [Order(task.LIFO) - LIFO]byte
	_ [FIFO - Order(task.FIFO)]byte
	_ [Order(task.FIFO) - FIFO]byte
	_ [ByPriority - Order(task.ByPriority)]byte
	_ [Order(task.ByPriority) - ByPriority]byte
)
