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

// For calls f for each i from 0 to n-1. With a tiny f, such as a multiplication, it runs at about 0.36 of the speed of
// a plain loop on each worker, and [ForRange] at 1.0; see "Tiny bodies".
func For(s filch.Scope, n int, f func(i int), opts ...Option) {
	check("For", s)
	checkNumber("For", "n", n)
	checkFunc("For", f == nil)
	c := configOf("For", opts, ofLoops)
	if n <= 1 {
		if n == 1 {
			boundary(func() { f(0) })
		}
		return
	}
	b := forBody(f)
	c.single = true
	if from := runSerial(s, n, f, &c, b.run); from < n { // b.run is allocated only for this call
		runAdaptive(s, from, n, f, c, b.run)
	}
}

// forBody is inlined up to the call of f. A type parameter with a method, in place of f, would not be: the compiler
// makes one loop for all types of a shape, and calls the method through a dictionary. For y[i] += x[i], a struct of two
// slices took 5.0 ns an element, a pointer to it 10.0, a function value 5.1, and the plain loop 2.3.
type forBody func(i int)

func (f forBody) run(lo, hi int) {
	for i := lo; i < hi; i++ {
		f(i)
	}
}

// ForScope is [For] for an f that calls other functions of this package, or forks. It passes the running
// *[filch.Worker] to f; on the pool, each such call would enter as a new guest. ForScope needs the pool even for one
// index, unless s is a Worker.
//
// If f blocks on a network or a file, let another worker take over meanwhile:
//
//	s.Do(func(w *filch.Worker) { w.Blocking(func() { … }) })
//
// If f makes asyncs, it opens a [filch.Worker.Finish] for them in the same way.
//
// While all workers have work, a small nested ForScope costs little more than its calls, and allocates nothing if f
// exists already. A function literal that captures allocates at each evaluation, so keep f in the data it works on,
// such as a node of a tree.
func ForScope(s filch.Scope, n int, f func(s filch.Scope, i int), opts ...Option) {
	check("ForScope", s)
	checkNumber("ForScope", "n", n)
	checkFunc("ForScope", f == nil)
	c := configOf("ForScope", opts, ofLoops)
	if n == 0 {
		return
	}
	if w, ok := s.(*filch.Worker); ok {
		forScope(w, n, f, c)
		return
	}
	s.Do(func(w *filch.Worker) { forScope(w, n, f, c) })
}

func forScope(s *filch.Worker, n int, f func(s filch.Scope, i int), c config) {
	if n == 1 {
		boundary(func() { f(s, 0) })
		return
	}
	b := scopeBody(f)
	c.single = true
	if from := runSerial(s, n, f, &c, func(lo, hi int) { b.run(s, lo, hi) }); from < n {
		runAdaptiveIn(s, from, n, f, c, b.run)
	}
}

type scopeBody func(s filch.Scope, i int)

func (f scopeBody) run(s filch.Scope, lo, hi int) {
	for i := lo; i < hi; i++ {
		f(s, i)
	}
}

// ForRange calls f(lo, hi) for non-empty ranges [lo, hi) that together make up 0 to n-1, which saves a call for each
// index. Without [WithGrain], their length depends on timing and chance; a body that streams through long memory needs
// a grain.
func ForRange(s filch.Scope, n int, f func(lo, hi int), opts ...Option) {
	check("ForRange", s)
	checkNumber("ForRange", "n", n)
	checkFunc("ForRange", f == nil)
	c := configOf("ForRange", opts, ofLoops)
	switch {
	case n == 0:
	case n == 1:
		boundary(func() { f(0, 1) })
	case c.grain == 0:
		runLoop(s, n, f, c, f)
	default:
		b := grainBody{c.grain, f}
		runLoop(s, n, f, c, b.run)
	}
}

type grainBody struct {
	grain int
	f     func(lo, hi int)
}

func (b grainBody) run(lo, hi int) { // the last chunk may be shorter
	for lo < hi {
		end := lo + min(b.grain, hi-lo)
		b.f(lo, end)
		lo = end
	}
}

// ForTiles calls f once for each tile of a grid over [0, width) times [0, height): the columns [x0, x1) of the rows
// [y0, y1). f so handles neighbours in both directions together, as in blocks of a matrix or an image. Tiles are 64 by
// 64, or n by n with [WithGrain](n), and may be smaller at the edges. A tile is not divided.
func ForTiles(s filch.Scope, width, height int, f func(x0, y0, x1, y1 int), opts ...Option) {
	check("ForTiles", s)
	checkNumber("ForTiles", "width", width)
	checkNumber("ForTiles", "height", height)
	checkFunc("ForTiles", f == nil)
	c := configOf("ForTiles", opts, grain|workersAtOnce)
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
	b, n := tileBody{width, height, side, columns, f}, columns*rows
	c = config{single: true, most: c.most}
	if from := runSerial(s, n, f, &c, b.run); from < n {
		runAdaptive(s, from, n, f, c, b.run)
	}
}

type tileBody struct {
	width, height, side, columns int
	f                            func(x0, y0, x1, y1 int)
}

func (b tileBody) run(lo, hi int) {
	for i := lo; i < hi; i++ {
		x, y := i%b.columns*b.side, i/b.columns*b.side
		b.f(x, y, x+min(b.side, b.width-x), y+min(b.side, b.height-y))
	}
}

// Each calls f for each element of x with its index. With a tiny f, it runs at about 0.34 of the speed of a plain loop
// on each worker, and [ForRange] with a loop over x[lo:hi] at 1.0.
func Each[T any](s filch.Scope, x []T, f func(i int, v T), opts ...Option) {
	check("Each", s)
	checkFunc("Each", f == nil)
	c := configOf("Each", opts, ofLoops)
	if len(x) <= 1 {
		if len(x) == 1 {
			boundary(func() { f(0, x[0]) })
		}
		return
	}
	b := eachBody[T]{x, f}
	c.single = true
	if from := runSerial(s, len(x), f, &c, b.run); from < len(x) { // as in For
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

// ForErr calls f for each i from 0 to n-1 until one fails, and returns the error of the lowest i that fails, as a
// serial loop would. After a failure, f is not called for later indices that have not begun. With [AllErrors], f is
// called for all. [WithContext] may stop it early. On a closed pool it returns [filch.ErrClosed], unless n is 0.
func ForErr(s filch.Scope, n int, f func(i int) error, opts ...Option) error {
	check("ForErr", s)
	checkNumber("ForErr", "n", n)
	checkFunc("ForErr", f == nil)
	c := configOf("ForErr", opts, ofLoops|errorsToo|untilDone)
	if n == 0 {
		return nil
	}
	from, first := someErr(s, n, f, c, f)
	if from == n {
		return first.err(c.all)
	}
	return restErr(s, from, n, f, c, f, first)
}

// someErr runs ForErr while g, whose cost is that of f, is known to be cheap. It does not allocate. It returns how far
// it got: n if nothing remains to be done.
func someErr(s filch.Scope, n int, f any, c config, g func(i int) error) (from int, e failures) {
	if closed(s) {
		e.stopped = filch.ErrClosed
		return n, e
	}
	var limit atomic.Int64
	limit.Store(int64(n))
	ctx, all := c.ctx, c.all
	alone := config{grain: c.grain, align: c.align, single: true, limit: &limit} // c would keep limit alive beyond this call
	from = runSerial(s, n, f, &alone, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if ctx != nil && ctx.Err() != nil {
				e.stopped = context.Cause(ctx)
				limit.Store(0)
				return
			}
			if err := g(i); err != nil && !e.add(i, err, all) {
				limit.Store(0)
				return
			}
		}
	})
	return from, e
}

// restErr continues ForErr from an index with the other workers, after the errors in first.
func restErr(s filch.Scope, from, n int, f any, c config, g func(i int) error, first failures) error {
	e := sharedFailures{failures: first}
	e.limit.Store(int64(n))
	c.limit, c.single = &e.limit, true
	ctx, all := c.ctx, c.all
	err := tryAdaptive(s, from, n, f, c, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if ctx != nil && ctx.Err() != nil {
				e.stop(ctx)
				return
			}
			if int64(i) >= e.limit.Load() {
				return
			}
			if err := g(i); err != nil && !e.add(i, err, all) {
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
	first   int
	errs    map[int]error // by index; without AllErrors, only the first
	stopped error
}

// add records an error, and reports whether to continue.
func (e *failures) add(i int, err error, all bool) bool {
	if e.errs == nil || !all && i < e.first {
		e.errs, e.first = map[int]error{}, i
	}
	if all || i == e.first {
		e.errs[i] = err
	}
	return all
}

// sharedFailures are the failures of a loop on several workers.
type sharedFailures struct {
	limit atomic.Int64 // indices from here on do not matter
	mu    sync.Mutex
	failures
}

func (e *sharedFailures) add(i int, err error, all bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.failures.add(i, err, all) {
		e.limit.Store(min(e.limit.Load(), int64(e.first)))
	}
	return all
}

func (e *sharedFailures) stop(ctx context.Context) {
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
