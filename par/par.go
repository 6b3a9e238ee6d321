// Package par holds parallel algorithms on slices, ranges and sequences. Each takes a [filch.Scope] first: a pool, or
// the worker of the surrounding fork-join code.
//
// # How work is divided
//
// A loop runs on the calling goroutine, in chunks of some microseconds. Between chunks it checks whether another worker
// wants work, and if so forks half of the rest. There is no grain to tune: a loop that no worker asks is not divided,
// and long elements are divided one by one. This is lazy binary splitting (Tzannes, Caragea, Barua, Vishkin, PPoPP
// 2010), driven by demand instead of an empty deque.
//
// The package remembers the cost of each body by function; all closures of one literal count as one. A loop known to
// take no more than some microseconds runs serially with a few clock reads, and is not offered to other workers. If
// elements suddenly take long, some run one after the other before the loop notices: at most 64, or in such a small
// loop as many as took about a microsecond before. In functions that pass ranges, or keep state between elements, it is
// as many as took ten microseconds before, or eighty if elements are cheap.
//
// Empty inputs return at once, and a single element costs one call. Small loops, maps, reductions, counts and searches
// allocate only their result. On a [filch.Worker], up to 16 elements run without a clock read until another worker
// asks, and one more if they seemed cheap, so nested loops cost little.
//
// # Tiny bodies
//
// The compiler inlines nothing into the loop over a body, a function value. If an element takes next to nothing, the
// call dominates: on one worker of an Intel Xeon, 10^6 elements ran at 0.26 to 0.45 of the speed of a plain loop. Many
// functions state their figure. Functions that pass ranges of indices leave the loop to the body, and ran at 0.92 to
// 1.0:
//
//   - [ForRange] for [For], [Each], [EachPtr], [Map], [MapPtr] and [MapInto]; in [ForRange], set dst[i].
//   - [ReduceRange] for [Reduce], [MapReduce], [MinBy] and [MaxBy]; to add numbers, [Sum].
//   - [ReduceIntoRange] for [ReduceInto], [ForRangeInit] for [ForInit], [Collect] for [FlatMap] and [Indices].
//   - [CountRange] for [Count]; to compare numbers, [CountBetween].
//   - [IndexRange] for [IndexFunc]; [AllRange] for [All]; [AnyRange] for [Any].
//   - [FilterBetween] for [Filter], [PrefixSum] for [Scan], [MinMax] for [MinMaxFunc]: these take numbers.
//
// # Contract
//
//   - A function returns when all its work is done.
//   - Bodies may run at the same time, on any goroutine. A body must not wait for another of the same call.
//   - A panic in a body reaches the caller once, as a [*filch.PanicError], after all bodies of the call have ended.
//     Other workers first finish what they have begun: an element, several cheap ones, or a chunk of [WithGrain].
//     runtime.Goexit in a body ends the caller likewise. Slices being written may then be half-written, unless stated
//     otherwise.
//   - With pure functions, results do not depend on timing or the number of workers, unless stated otherwise.
//   - Only the result allocates per element, unless stated otherwise.
//   - A nil function or Scope panics, as does a negative length.
//
// # Closed pools
//
// On a closed [filch.Pool], functions that return an error return [filch.ErrClosed] for any non-empty input. They also
// do so if the pool is closed after the call has begun but before it needs workers; some elements are done then. Once
// it runs on workers, it runs to the end. Other functions panic, unless the input is so small that they need no pool.
//
// This concerns the Scope that is passed. A *[filch.Worker] is inside the pool, so its work continues while the pool
// closes. Work on the Scope of a task, from [filch.ScopeOf], continues until the pool has ended. Any other Scope
// decides for itself. For a sequence of calls that cannot be refused halfway, make them all on one Worker: inside a
// single Do, TryDo or DoContext.
package par

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// Option configures a call. A function panics on an option that does not apply: [AllErrors] is for [ForErr] and
// [MapErr], [WithContext] for functions that return an error, [InFlight] for pipelines, streams and lines, and
// [WithAlign] for functions over the indices of a range or a slice.
type Option func(*config)

type config struct {
	grain    int // 0: adaptive
	inFlight int // 0: by the number of workers
	most     int // workers at once; 0: no limit
	align    int // chunks begin at its multiples; 0 means 1
	all      bool
	ctx      context.Context
	given    which

	// Not set by options.
	kind   kind
	single bool          // the body calls the user's function for each index
	unit   int64         // elements per index, if more than one
	limit  *atomic.Int64 // indices from here on may be skipped; nil if none may
}

// WithGrain sets the size of chunks, which are not divided, to n elements; the last may be shorter. In [ForTiles] n is
// the side of a tile, in [ReduceLines] and [ForLines] the bytes in a block. It panics if n is less than 1.
//
// Without it, a chunk takes about 10 us, or up to eight times that if the body takes a range of cheap elements. That suits
// most bodies. Set a grain if a call has a fixed cost, if it interrupts a stream through long memory, or if the grouping of
// elements matters. 14 streams of 16 MiB ran at 0.9 to 1.0 of the speed of plain goroutines in 330 calls, and at 1.0 with a
// grain of 1 MiB.
//
//figure:set 10 us
func WithGrain(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("par: WithGrain(%d): a chunk must have an element", n))
	}
	return func(c *config) { c.grain, c.given = n, c.given|grain }
}

// InFlight limits the values in a [Pipeline]: taken from the source, and not yet returned from the sink. For its
// meaning elsewhere, see [NewStream] and [ReduceLines]. The default is 4 for each worker of the pool when Run begins.
// Each stage has memory for all of them. It panics if n is less than 1 or more than a million.
func InFlight(n int) Option {
	if n < 1 || n > 1_000_000 {
		panic(fmt.Sprintf("par: InFlight(%d): the number of values must be from 1 to 1000000", n))
	}
	return func(c *config) { c.inFlight, c.given = n, c.given|inFlight }
}

// AllErrors makes a function continue after an error, and return all errors joined, in the order of the elements.
func AllErrors() Option { return func(c *config) { c.all, c.given = true, c.given|errorsToo } }

// WithContext makes a function stop when ctx ends. It then returns the error of a failed element, or else context.Cause
// of ctx. It panics if ctx is nil.
func WithContext(ctx context.Context) Option {
	if ctx == nil {
		panic("par: WithContext: ctx is nil")
	}
	return func(c *config) { c.ctx, c.given = ctx, c.given|untilDone }
}

// which is a set of options.
type which uint8

const (
	grain which = 1 << iota
	inFlight
	errorsToo
	untilDone
	workersAtOnce
	aligned
)

var optionNames = map[which]string{
	grain: "WithGrain", inFlight: "InFlight", errorsToo: "AllErrors", untilDone: "WithContext",
	workersAtOnce: "WithMaxWorkers", aligned: "WithAlign",
}

// ofLoops are the options of functions over indices.
const ofLoops = grain | workersAtOnce | aligned

// configOf applies opts, which must all be in known. Without options it is inlined.
func configOf(op string, opts []Option, known which) (c config) {
	if len(opts) > 0 {
		c = configured(op, opts, known)
	}
	return c
}

func configured(op string, opts []Option, known which) config {
	c := &config{}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("par: %s: option %d is nil", op, i))
		}
		opt(c)
		if more := c.given &^ known; more != 0 {
			panic(fmt.Sprintf("par: %s: there is nothing for %s to do", op, optionNames[more]))
		}
	}
	c.grain = c.roundUp(c.grain)
	return *c
}

func check(op string, s filch.Scope) {
	isNil := s == nil
	switch s := s.(type) {
	case *filch.Pool:
		isNil = s == nil
	case *filch.Worker:
		isNil = s == nil
	}
	if isNil {
		panic("par: " + op + ": s is nil")
	}
}

func checkNumber(op, name string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("par: %s: %s is %d, which is negative", op, name, n))
	}
}

func checkFunc(op string, isNil bool) {
	if isNil {
		panic("par: " + op + ": the function is nil")
	}
}
