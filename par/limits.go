package par

import (
	"fmt"
	"math"

	"github.com/filch-go/filch/internal/race"
)

// WithMaxWorkers lets at most n workers at once run the functions that are passed to this call. With 1
// the caller does all by itself, in the order of the elements. The calls that such a function makes have
// their own limit, or none. A worker that has finished makes room for another, so it need not always
// be the same ones. Without the option, as many take part as come. A function without options,
// such as [Sort] or [Filter], is limited by its pool: call it on one of n workers. It panics if n is less
// than 1.
func WithMaxWorkers(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("par: WithMaxWorkers(%d): there must be a worker", n))
	}
	return func(c *config) { c.most, c.given = n, c.given|workersAtOnce }
}

// WithAlign lets chunks begin at multiples of n elements only: those of a cache line, a vector or a row.
// So ranges are n elements long or a multiple, but for the last one, which ends where all do. A worker
// gets n elements or more at a time, even if they take long. The length that [WithGrain] gives is
// rounded up to a multiple of n. WithAlign alone does not make ranges long: bodies that stream need a grain as well. It is elements of a slice that are aligned, not addresses in memory. It
// panics if n is less than 1.
func WithAlign(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("par: WithAlign(%d): a chunk must have an element", n))
	}
	return func(c *config) { c.align, c.given = n, c.given|aligned }
}

// Elements that are aligned are gone through by blocks, each of which has an index.

// roundUp returns the least multiple of the alignment that is n or more, if that is an int.
func (c *config) roundUp(n int) int {
	if c.align <= 1 || n == 0 {
		return n
	}
	return min((n-1)/c.align+1, math.MaxInt/c.align) * c.align
}

// blocks returns how many there are in n elements, counting one that is not full.
func (c *config) blocks(n int) int {
	if c.align <= 1 || n == 0 {
		return n
	}
	return (n-1)/c.align + 1
}

// element returns where the i-th block of n elements begins, or n if it is the one after the last.
func (c *config) element(i, n int) int {
	if c.align <= 1 {
		return i
	}
	if i >= c.blocks(n) {
		return n
	}
	return i * c.align
}

// another reports whether a part may be given away: it then counts as one that runs.
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

// finish ends what another began.
func (l *loop) finish() {
	if l.most > 0 {
		if race.Logical() {
			race.Disable()
			defer race.Enable()
		}
		l.spare.Add(1)
	}
}
