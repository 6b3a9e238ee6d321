package par

import (
	"fmt"
	"math"

	"github.com/filch-go/filch/internal/race"
)

// WithMaxWorkers lets at most n workers at once run the functions passed to this call. With 1, the caller does
// everything, in order. Nested calls have their own limit, or none. When a worker has finished, another may take its
// turn. Without the option, there is no limit. Functions without options, such as [Sort] or [Filter], are limited by
// the pool: call them on one of n workers. It panics if n is less than 1.
func WithMaxWorkers(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("par: WithMaxWorkers(%d): there must be a worker", n))
	}
	return func(c *config) { c.most, c.given = n, c.given|workersAtOnce }
}

// WithAlign makes chunks begin only at multiples of n elements, such as those of a cache line, a vector or a row. Each
// range is a multiple of n long, except the last. A worker takes at least n elements at a time, even if they are
// expensive. [WithGrain] is rounded up to a multiple of n. WithAlign alone does not make ranges long, so bodies that
// stream need a grain as well. It aligns indices of a slice, not addresses in memory. It panics if n is less than 1.
func WithAlign(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("par: WithAlign(%d): a chunk must have an element", n))
	}
	return func(c *config) { c.align, c.given = n, c.given|aligned }
}

// Aligned loops run over blocks of elements: their indices are those of blocks.

// roundUp returns the least multiple of the alignment that is at least n, if it is an int.
func (c *config) roundUp(n int) int {
	if c.align <= 1 || n == 0 {
		return n
	}
	return min((n-1)/c.align+1, math.MaxInt/c.align) * c.align
}

// blocks returns the number of blocks in n elements, counting a partial one.
func (c *config) blocks(n int) int {
	if c.align <= 1 || n == 0 {
		return n
	}
	return (n-1)/c.align + 1
}

// element returns where the i-th block of n elements begins, or n for the block after the last.
func (c *config) element(i, n int) int {
	if c.align <= 1 {
		return i
	}
	if i >= c.blocks(n) {
		return n
	}
	return i * c.align
}

// another reports whether a part may be forked; if so, it counts as running.
func (l *loop) another() bool {
	if l.most == 0 {
		return true
	}
	if race.Logical() {
		race.Disable() // the count orders no pieces
		defer race.Enable()
	}
	for n := l.spare.Load(); n > 0; n = l.spare.Load() {
		if l.spare.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// finish undoes another.
func (l *loop) finish() {
	if l.most > 0 {
		if race.Logical() {
			race.Disable()
			defer race.Enable()
		}
		l.spare.Add(1)
	}
}
