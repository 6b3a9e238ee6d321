// Package par holds parallel algorithms on slices, ranges and sequences. Each takes a
// [filch.Scope] first: a pool, or the worker of the fork-join code around it.
//
// # How work is divided
//
// A loop runs on the calling goroutine, in chunks that take some microseconds. Between chunks it
// checks whether other workers want work, and if so forks half of what remains. So there is no
// grain to tune: a loop that no worker asks is not divided, and elements that take long are
// divided one by one. This is lazy binary splitting (Tzannes, Caragea, Barua, Vishkin, PPoPP
// 2010), with demand instead of an empty deque.
//
// The package remembers the cost of each body, by function. All closures of one literal count as
// one function. Inputs that take no more than some microseconds in all are not offered to other
// workers: they run like a serial loop, with a look at the clock. If elements suddenly take
// long, some run one after the other before the loop notices: 64 of them, or in such a small
// loop sixteen times as many as fitted into that time before. In functions that get ranges, or
// keep something between elements, as many run as took ten microseconds before.
//
// Nothing to do returns at once, and one element is a call. Loops, maps, reductions, counts and searches
// of little allocate nothing but their result. On a [filch.Worker], up to 16 elements run without a look
// at the clock until another worker asks, and one more if they seemed to take little. So loops in loops
// cost little.
//
// # Tiny bodies
//
// A function value is called for each element, and the compiler inlines nothing there. If an element
// takes next to nothing, the call is most of it: on one worker of an Intel Xeon, 10^6 elements ran at
// 0.26 to 0.45 of the speed of a plain loop. Many functions say their figure. What gets ranges of
// indices has a plain loop inside, and ran at 0.92 to 1.0. There is such a form of each:
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
//   - Bodies may run at the same time, on any goroutine; a body must not wait for another
//     one of the same call.
//   - A panic in a body arrives at the caller, once, as a [*filch.PanicError], when no body of
//     the call runs any more. Other workers finish what they have begun by then: an element, or
//     some more if they take little, or a chunk with [WithGrain]. runtime.Goexit in a body ends
//     the caller in the same way. Slices that were being written may be half-written then,
//     unless stated otherwise.
//   - If the functions passed are pure, results do not depend on the number of workers or on
//     timing, unless stated otherwise.
//   - Apart from the result, nothing is allocated for each element, unless stated otherwise.
//   - A nil function or Scope panics, as does a negative length.
//
// # Closed pools
//
// On a closed [filch.Pool], functions that return an error return [filch.ErrClosed] for any input
// that is not empty, however small it is. They also return it if the pool is closed after they
// have begun, but before they need its workers: then some elements are done. Once they run on
// workers, they run to the end. The other functions panic, unless the input is so small that
// they need no pool.
//
// This concerns the Scope that is passed. A *[filch.Worker] is inside the pool already, so work
// on it goes on while the pool is being closed. So does work on the Scope of a task, from
// [filch.ScopeOf], until the pool has ended. Any other Scope decides for itself.
// To make several calls in a row that cannot be refused halfway, make them all on one Worker:
// inside a single Do, TryDo or DoContext of the pool.
package par

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch"
)

// Option is an option of a loop. A function panics if an option has no meaning for it:
// [AllErrors] is for [ForErr] and [MapErr], [WithContext] for functions that return an error, [InFlight] for
// pipelines, streams and lines, and [WithAlign] for what goes through the indices of a range or a slice.
type Option func(*config)

type config struct {
	grain    int // 0: as it turns out
	inFlight int // 0: as the workers
	most     int // workers at once; 0: as many as there are
	align    int // borders of chunks are at multiples of it; 0 is 1
	all      bool
	ctx      context.Context
	given    which

	// Not the caller's to set.
	kind   kind
	single bool          // the body calls a function for each index
	unit   int64         // elements of an index, if more than one
	limit  *atomic.Int64 // nothing from here on need be done any more; nil if all must
}

// WithGrain makes chunks of n elements, or fewer at the end. A chunk is not divided. In [ForTiles] it
// is tiles of n by n, in [ReduceLines] and [ForLines] blocks of n bytes. It panics if n is less than 1.
//
// Without it, a chunk takes about 10 us, which suits most bodies. Give a grain if the body streams through long memory,
// since each call interrupts the stream: about 1 MiB of each stream, and at least four chunks for each worker. 14 streams
// of 16 MiB ran at 0.6 to 0.7 of the speed of plain goroutines in 1,350 calls, and at 1.0 to 1.1 with a grain of 1 MiB.
// Give one also if a call has a fixed cost, or if the grouping of elements matters.
//
//figure:set 10 us
func WithGrain(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("par: WithGrain(%d): a chunk must have an element", n))
	}
	return func(c *config) { c.grain, c.given = n, c.given|grain }
}

// InFlight limits how many values are under way in a [Pipeline]: taken from the source, and not
// yet returned from the sink. [NewStream] and [ReduceLines] say what it limits there. Without it, there are up to 4 for each worker that the pool has
// when Run begins. Each stage has memory for all of them. It panics if n is less than 1, or more
// than a million.
func InFlight(n int) Option {
	if n < 1 || n > 1_000_000 {
		panic(fmt.Sprintf("par: InFlight(%d): the number of values must be from 1 to 1000000", n))
	}
	return func(c *config) { c.inFlight, c.given = n, c.given|inFlight }
}

// AllErrors makes functions that return an error go on after the first one, and return all of
// them, joined, in the order of the elements.
func AllErrors() Option { return func(c *config) { c.all, c.given = true, c.given|errorsToo } }

// WithContext makes functions that return an error stop when ctx ends. They then return the
// error of an element that has failed, or else the context's, as by context.Cause. It panics if
// ctx is nil.
func WithContext(ctx context.Context) Option {
	if ctx == nil {
		panic("par: WithContext: ctx is nil")
	}
	return func(c *config) { c.ctx, c.given = ctx, c.given|untilDone }
}

// which are the options, as bits.
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

// ofLoops are the options of what goes through indices.
const ofLoops = grain | workersAtOnce | aligned

// configOf returns what the options say. op takes those that are known. Without options it is inlined.
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
