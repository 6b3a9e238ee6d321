package par

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// For calls f for each i of 0 to n-1.
func For(s filch.Scope, n int, f func(i int), opts ...Option) {
	check("For", s)
	checkNumber("For", "n", n)
	checkFunc("For", f == nil)
	b, c := forBody(f), configOf("For", opts, grain)
	c.single = true
	if from := runSerial(n, f, c, b.run); from < n { // each, without an allocation if it is small
		runAdaptive(s, from, n, f, c, b.run)
	}
}

type forBody func(i int)

func (f forBody) run(lo, hi int) {
	for i := lo; i < hi; i++ {
		f(i)
	}
}

// ForScope is [For] for an f that calls other functions of this package, or forks. It passes
// the worker's scope to f. With the pool instead, such calls would also work, but each as a
// new guest of the pool.
//
// If f blocks on a network or a file, let another worker take over meanwhile:
//
//	s.Do(func(w *filch.Worker) { w.Blocking(func() { … }) })
//
// If f makes asyncs, it opens a [filch.Worker.Finish] for them in the same way.
func ForScope(s filch.Scope, n int, f func(s filch.Scope, i int), opts ...Option) {
	check("ForScope", s)
	checkNumber("ForScope", "n", n)
	checkFunc("ForScope", f == nil)
	c := configOf("ForScope", opts, grain)
	c.single = true
	runLoopIn(s, n, f, c, func(s filch.Scope, lo, hi int) {
		for i := lo; i < hi; i++ {
			f(s, i)
		}
	})
}

// ForRange calls f for ranges of indices that together make up 0 to n-1. A range has the
// indices from lo up to but not including hi, and is never empty. That saves a call for each
// index. Without [WithGrain], the length of the ranges depends on time and chance.
func ForRange(s filch.Scope, n int, f func(lo, hi int), opts ...Option) {
	check("ForRange", s)
	checkNumber("ForRange", "n", n)
	checkFunc("ForRange", f == nil)
	c := configOf("ForRange", opts, grain)
	if c.grain == 0 {
		runLoop(s, n, f, c, f)
		return
	}
	runLoop(s, n, f, c, func(lo, hi int) { // the last may be shorter
		for lo < hi {
			end := lo + min(c.grain, hi-lo)
			f(lo, end)
			lo = end
		}
	})
}

// ForTiles calls f once for each rectangle of a grid over [0, width) times [0, height). A tile
// has the columns from x0 up to but not including x1, and the rows from y0 up to but not
// including y1. Tiles are 64 by 64, or smaller at the edges. With [WithGrain] their sides are n.
// So neighbours in both directions are handled together, as in the blocks of a matrix or an
// image. A tile is not divided.
func ForTiles(s filch.Scope, width, height int, f func(x0, y0, x1, y1 int), opts ...Option) {
	check("ForTiles", s)
	checkNumber("ForTiles", "width", width)
	checkNumber("ForTiles", "height", height)
	checkFunc("ForTiles", f == nil)
	c := configOf("ForTiles", opts, grain)
	side := 64
	if c.grain > 0 {
		side = c.grain
	}
	if width == 0 || height == 0 {
		return
	}
	columns, rows := (width-1)/side+1, (height-1)/side+1
	if rows > math.MaxInt/columns {
		panic(fmt.Sprintf("par: ForTiles: %d times %d tiles are too many", columns, rows))
	}
	runLoop(s, columns*rows, f, config{single: true}, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x, y := i%columns*side, i/columns*side
			f(x, y, x+min(side, width-x), y+min(side, height-y))
		}
	})
}

// Each calls f for each element of x and its index.
func Each[T any](s filch.Scope, x []T, f func(i int, v T), opts ...Option) {
	check("Each", s)
	checkFunc("Each", f == nil)
	b, c := eachBody[T]{x, f}, configOf("Each", opts, grain)
	c.single = true
	if from := runSerial(len(x), f, c, b.run); from < len(x) { // as in For
		runAdaptive(s, from, len(x), f, c, b.run)
	}
}

type eachBody[T any] struct {
	x []T
	f func(i int, v T)
}

func (b eachBody[T]) run(lo, hi int) {
	for i, v := range b.x[lo:hi] {
		b.f(lo+i, v)
	}
}

// ForErr calls f for each i of 0 to n-1 until one fails, and returns the error that a serial
// loop would have returned: that of the lowest i. Once an i has failed, f is not called for
// later ones that have not begun. With [AllErrors] it is called for all. With [WithContext] it
// may be stopped. On a closed pool it returns [filch.ErrClosed], unless n is 0.
func ForErr(s filch.Scope, n int, f func(i int) error, opts ...Option) error {
	check("ForErr", s)
	checkNumber("ForErr", "n", n)
	checkFunc("ForErr", f == nil)
	return eachErr(s, n, f, configOf("ForErr", opts, grain|errorsToo|untilDone), f)
}

// eachErr is ForErr, for g, whose cost is that of f.
func eachErr(s filch.Scope, n int, f any, c config, g func(i int) error) error {
	var e failures
	e.limit.Store(int64(n))
	c.limit, c.single = &e.limit, true
	err := tryLoop(s, n, f, c, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if c.ctx != nil && c.ctx.Err() != nil {
				e.stop(c.ctx)
				return
			}
			if int64(i) >= e.limit.Load() {
				return
			}
			if err := g(i); err != nil && !e.add(i, err, c.all) {
				return
			}
		}
	})
	if err != nil {
		e.stopped = err
	}
	return e.err(c.all)
}

// failures are the errors of a loop.
type failures struct {
	limit   atomic.Int64 // what comes from here on does not matter
	mu      sync.Mutex
	first   int
	errs    map[int]error // by index; but for all of them, only the first
	stopped error
}

// add notes an error, and reports whether to go on.
func (e *failures) add(i int, err error, all bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.errs == nil || !all && i < e.first {
		e.errs, e.first = map[int]error{}, i
	}
	if all || i == e.first {
		e.errs[i] = err
	}
	if !all {
		e.limit.Store(min(e.limit.Load(), int64(e.first)))
	}
	return all
}

func (e *failures) stop(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.limit.Store(0)
	e.stopped = context.Cause(ctx)
}

func (e *failures) err(all bool) error {
	if len(e.errs) == 0 {
		return e.stopped
	}
	if !all {
		return e.errs[e.first]
	}
	errs := make([]error, 0, len(e.errs))
	for _, i := range sortedKeys(e.errs) {
		errs = append(errs, e.errs[i])
	}
	return errors.Join(append(errs, e.stopped)...)
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
