package par

import (
	"math"
	"reflect"
	"sync/atomic"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/race"
	parallelism "github.com/filch-go/filch/internal/span"
)

// Costs of elements are in picoseconds.
const (
	ns = 1000
	// chunkTime is about how long a chunk takes: long compared with a clock read, and short for a worker that waits for
	// an answer.
	chunkTime = 10_000 * ns
	// little is the longest total that is not offered to other workers: about the time it takes to wake one.
	little = 4000 * ns
	// watched is about how long elements that may cost more than is known run until the next clock read.
	watched = 1000 * ns
)

const (
	// mostLonger is how many times as long as a chunk one may be that processes a range, if it is no more than
	// a quarter of what is left: a call may have a cost of its own. Reed-Solomon coding of 14 streams of 16 MiB by a
	// library took 1.4 times as long with 1,400 calls as by the library's own goroutines, and 1.0 to 1.1 with 330.
	mostLonger = 8
	// cacheLine is how many bytes a cache line has.
	cacheLine = 64
	// blur is the number of nanoseconds below which a rise in cost cannot be told: a few clock reads take as long.
	blur = 300
	// fastest is the least cost of an element that is believed, for bodies that had nothing to do.
	fastest = ns / 10
	// pieces is the number of pieces of a chunk if the body calls a function for each index: the chunk may end after
	// each, if a worker asks. A piece has at most mostPiece elements, so that many run one after the other if they
	// suddenly take long. (16 cost loops of tiny bodies a fifth.)
	pieces    = 4
	mostPiece = 64
	// tellTime is the interval in nanoseconds after which a worker adds to the shared count of finished elements.
	tellTime = 100_000
	// few is the number of elements up to which a loop on a worker checks Demand instead of the clock: no more than
	// would run one after the other before the clock showed that they had become expensive. Elements known to take
	// longer than tellTime are left to runAdaptive, which Dump sees.
	few = 16
	// mostLogical is about how many pieces a loop is cut into if the race detector sees each as a goroutine of its own;
	// see filch.WithLogicalRaces. Up to that many elements are one piece each.
	mostLogical = 4096
)

// loop is a range of indices to process.
type loop struct {
	config
	filch.Progress
	body  func(lo, hi int)
	with  func(s filch.Scope, lo, hi int)             // replaces body if not nil
	lend  func() (body func(lo, hi int), back func()) // replaces body: each run borrows its own, and gives it back
	of    *cost                                       // remembers the cost of an element
	n     int                                         // the number of elements, for aligned loops
	spare atomic.Int64                                // how many more runs a limit allows: each fork takes one, each run adds one at its end
	ended atomic.Bool                                 // by a panic
}

type span struct {
	l      *loop
	lo, hi int
}

var spans = filch.NewFunc(partOfLoop)

// partOfLoop is named for traces and profiles.
func partOfLoop(f *filch.Frame[span, struct{}], s span) struct{} {
	s.l.run(f, s.lo, s.hi)
	return struct{}{}
}

// runLoop calls body for all of [0, n), in parts. f is the caller's function, by which the cost is remembered.
func runLoop(s filch.Scope, n int, f any, c config, body func(lo, hi int)) {
	if from := runSerial(s, n, f, &c, body); from < n {
		runAdaptive(s, from, n, f, c, body)
	}
}

// runAdaptive processes [from, n), with other workers if they ask.
func runAdaptive(s filch.Scope, from, n int, f any, c config, body func(lo, hi int)) {
	l := &loop{config: c, body: body, of: costOf(f, c.kind)}
	l.call(s, from, n, f)
}

// isWatched reports whether w works under logical races or filch.Measure, where pieces are laid out as if others asked, and nobody asks.
func isWatched(w *filch.Worker) bool { return race.Logical() || parallelism.Of(w) != nil }

// call processes elements from from to n.
func (l *loop) call(s filch.Scope, from, n int, f any) {
	l.n = n
	from, n = l.blocks(from), l.blocks(n)
	l.spare.Store(int64(l.most) - 1)
	// For filch.Pool.Dump:
	l.Name, l.Func, l.Total = "par loop", reflect.ValueOf(f).Pointer(), int64(n)*l.elements()
	l.Done.Store(int64(from) * l.elements())
	spans.Call(s, span{l, from, n})
}

// runLoopIn is runLoop for a body that receives the scope it runs in.
func runLoopIn(s filch.Scope, n int, f any, c config, body func(s filch.Scope, lo, hi int)) {
	if from := runSerial(s, n, f, &c, func(lo, hi int) { body(s, lo, hi) }); from < n {
		runAdaptiveIn(s, from, n, f, c, body)
	}
}

func runAdaptiveIn(s filch.Scope, from, n int, f any, c config, body func(s filch.Scope, lo, hi int)) {
	l := &loop{config: c, with: body, of: costOf(f, c.kind)}
	l.call(s, from, n, f)
}

// runBlocks calls body for each block of size elements. f is the function by which the cost of an element is known.
func runBlocks(s filch.Scope, n, size int, f any, k kind, body func(i, lo, hi int)) {
	runBlocksAs(s, n, size, f, config{kind: k}, body)
}

// runBlocksAs is runBlocks with the caller's limit of workers.
func runBlocksAs(s filch.Scope, n, size int, f any, c config, body func(i, lo, hi int)) {
	if n == 0 {
		return
	}
	runLoop(s, (n-1)/size+1, f, config{unit: int64(size), kind: c.kind, most: c.most, single: true}, func(first, last int) {
		for i := first; i < last; i++ {
			lo := i * size
			body(i, lo, lo+min(size, n-lo))
		}
	})
}

// run processes [lo, hi), and forks halves of it when others ask. Indices are those of blocks in aligned loops.
func (l *loop) run(f *filch.Frame[span, struct{}], lo, hi int) {
	w := f.Worker()
	if spans := parallelism.Of(w); spans != nil {
		l.measure(spans, w, lo, hi)
		return
	}
	var forks [64]filch.Fork // each of half as many as the one before
	n := 0
	// each is a mean over about the last hundred microseconds, since one element in a hundred may take as long as all
	// others.
	grain := l.blocks(l.grain)
	size, each := max(grain, 1), l.of.known()*l.elements()
	first := true
	var spent, gone int64
	if each > 0 && l.grain == 0 {
		size = int(max(1, min(watched/each, math.MaxInt32))) // since the known cost may be that of another function
	}
	done := false
	shown := w.Show(&l.Progress)
	told, at := lo, clock.Now() // for Dump: the last reported index, and when it was reported
	logical := race.Logical()   // then the shared count must not order the pieces
	defer func() {
		if !logical {
			l.Done.Add(int64(lo-told) * l.elements())
		}
		w.Show(shown)
		if !done {
			l.ended.Store(true)
		}
	}()
	body, back := l.body, func() {}
	if l.lend != nil && !l.ended.Load() {
		body, back = l.lend()
	}
	for lo < hi && !l.ended.Load() {
		if l.limit != nil {
			if hi = min(hi, l.blocks(int(l.limit.Load()))); lo >= hi {
				break
			}
		}
		if (race.Logical() || w.Demand()) && l.divisible(hi-lo, each) && l.another() {
			mid := l.middle(lo, hi, grain)
			forks[n] = f.Fork(span{l, mid, hi})
			n++
			hi = mid
			continue
		}
		end := lo + min(size, hi-lo)
		if grain == 0 {
			end = l.longer(lo, end, hi, first)
		}
		first = false
		begin := clock.Now()
		if begin-at > tellTime && !logical {
			l.Done.Add(int64(lo-told) * l.elements())
			told, at = lo, begin
		}
		end = l.chunk(w, body, lo, end)
		if grain == 0 {
			took := clock.Now() - begin - clockCost
			if spent, gone = spent+took, gone+int64(end-lo); spent > 8*chunkTime/ns {
				spent, gone = spent/2, (gone+1)/2
			}
			each = max(1, spent*ns/gone)
			size = int(max(1, min(chunkTime/each, 8*int64(size))))
			if (end == hi || size <= end-lo) && !logical {
				l.of.learn(each/l.elements(), took)
			}
		}
		lo = end
	}
	back() // the forks that are joined take their own
	l.finish()
	for n > 0 {
		n--
		f.Join(forks[n])
	}
	done = true
}

// middle returns where to cut [lo, hi) to fork the second half.
func (l *loop) middle(lo, hi, grain int) int {
	switch {
	case grain > 0:
		chunks := (hi-lo-1)/grain + 1
		return lo + (chunks/2+chunks%2)*grain
	case l.single:
		return hi - (hi-lo)/2
	}
	return atLine(lo, hi-(hi-lo)/2)
}

// longer returns where a chunk of [lo, hi) ends that would end at end: later if it processes a range of cheap elements; see mostLonger.
// The first is not longer, since it tells whether the known cost still holds.
func (l *loop) longer(lo, end, hi int, first bool) int {
	size := end - lo
	if end == hi || l.single || size < 4 || int64(size)*l.elements() < 8*cacheLine {
		return end
	}
	if !first {
		end = max(end, lo+min(size*mostLonger, (hi-lo)/4))
	}
	return atLine(lo, end)
}

// atLine returns where to cut a range that begins at lo, if about at is right. Bodies that receive a range may use vectors: where these
// begin between two cache lines, sums of 14 streams of bytes took 1.35 times as long. So such ranges end at multiples of a line, of
// elements of any size, unless they are short.
func atLine(lo, at int) int {
	if at-lo < 8*cacheLine {
		return at
	}
	return at &^ (cacheLine - 1)
}

// chunk processes [lo, hi), or part of it if others ask meanwhile, and returns how far it got.
func (l *loop) chunk(w *filch.Worker, body func(lo, hi int), lo, hi int) int {
	piece := hi - lo
	if l.single && l.grain == 0 {
		piece = min((piece-1)/pieces+1, mostPiece)
	}
	for {
		end := lo + min(piece, hi-lo)
		l.piece(w, body, lo, end)
		if end == hi || w.Demand() || l.ended.Load() {
			return end
		}
		lo = end
	}
}

// piece processes [lo, hi) without interruption.
func (l *loop) piece(w *filch.Worker, body func(lo, hi int), lo, hi int) {
	if from, to := l.element(lo, l.n), l.element(hi, l.n); l.with != nil {
		l.with(w, from, to)
	} else {
		body(from, to)
	}
}

// elements returns the number of elements per index.
func (c *config) elements() int64 { return max(c.unit, int64(c.align), 1) }

// divisible reports whether n elements of the known cost each are worth halving.
func (l *loop) divisible(n int, each int64) bool {
	if l.grain > 0 {
		return n > l.blocks(l.grain)
	}
	if race.Logical() {
		return n > l.blocks((l.n-1)/mostLogical+1)
	}
	return n > 1 && (each == 0 || int64(n) >= little/each)
}

// cost is the last known cost of an element of some function.
type cost struct {
	of   atomic.Uintptr
	each atomic.Int64 // 0 if it is not known
}

// kind tells apart algorithms that do more with an element than call the function.
type kind uint8

const (
	asIs kind = iota
	toCount
	toRank
	toCompare
	inRanges
	asParts // taken unchanged: the function combines them later
)

// costs are found by the function's address and the kind. Each has two possible entries, and keys that collide in both
// evict each other. Functions at one address, such as all closures of one literal, share a figure.
var costs [1024]cost

func costOf(f any, k kind) *cost {
	if race.Logical() {
		return &cost{} // a shared one would order loops
	}
	p := reflect.ValueOf(f).Pointer() + uintptr(k)
	i := uint64(p) * 0x9e3779b97f4a7c15 >> 54
	c, other := &costs[i], &costs[i^1]
	switch p {
	case c.of.Load():
		return c
	case other.of.Load():
		return other
	}
	if c.of.Load() != 0 && other.of.Load() == 0 {
		c = other
	}
	c.of.Store(p)
	c.each.Store(0)
	return c
}

func (c *cost) known() int64 { return c.each.Load() }

// cheap reports whether n elements are known to be too cheap to ask another worker.
func (c *cost) cheap(n int) bool {
	return isLittle(n, c.known())
}

// isLittle reports whether n elements that cost each, which is 0 if unknown, are too cheap to ask another worker.
func isLittle(n int, each int64) bool {
	return each > 0 && each <= little && n <= little && int64(n)*each <= little // in this order, so that the product does not overflow
}

// learn remembers the cost of an element, measured over took nanoseconds. Small changes are not written, because other
// workers read the entry.
func (c *cost) learn(each, took int64) {
	each, old := max(each, fastest), c.each.Load()
	switch {
	case old > 0 && each > old && took < blur:
	case each < old-old/4:
		c.each.Store((each + old) / 2)
	case each > old+old/4:
		c.each.Store(each)
	}
}

// runSerial processes [0, n) as long as no worker waits for part of it, or if all of it is too cheap to divide. It
// returns how far it got. body does not escape, so small inputs allocate nothing if the caller makes another body for
// runAdaptive.
func runSerial(s filch.Scope, n int, f any, conf *config, body func(lo, hi int)) (from int) {
	switch {
	case n == 0:
		return 0
	case n == 1, n <= conf.grain, n <= conf.align:
		boundary(func() { body(0, n) })
		return n
	case conf.grain > 0, race.Logical():
		return 0
	case conf.align > 1:
		return conf.element(serially(s, conf.blocks(n), f, conf, func(lo, hi int) { body(conf.element(lo, n), conf.element(hi, n)) }), n)
	}
	return serially(s, n, f, conf, body)
}

// serially is the rest of runSerial. In aligned loops, indices are those of blocks.
func serially(s filch.Scope, n int, f any, conf *config, body func(lo, hi int)) (from int) {
	c := costOf(f, conf.kind)
	each := c.known() * conf.elements()
	if w, ok := s.(*filch.Worker); ok && n <= few && each > 0 && each <= tellTime*ns && parallelism.Of(w) == nil {
		if boundary(func() { from = untilAsked(w, n, conf, body) }); from == n {
			return n
		}
	}
	if !isLittle(n-from, each) {
		return from
	}
	boundary(func() {
		size := 1 // the first element tells whether the known cost still holds
		first, begin := from, clock.Now()
		for {
			end := from + min(size, n-from)
			body(from, end)
			from = end
			if conf.limit != nil && conf.blocks(int(conf.limit.Load())) <= from {
				from = n
			}
			if from == n {
				break
			}
			if took := (clock.Now() - begin) * ns; took > little || from == first+1 && took > watched {
				break
			}
			if size *= 16; int64(size)*each > watched {
				size = int(max(1, watched/each))
			}
		}
		// A loop known to take less than a microsecond is timed only now and then: by the lowest digits of the clock.
		if int64(n)*each > watched || from < n || begin%16 == 0 {
			took := clock.Now() - begin - clockCost
			c.learn(took*ns/int64(from-first)/conf.elements(), took)
		}
	})
	return from
}

// untilAsked processes [0, n) until another worker wants work. Until then it does not matter whether elements have
// become expensive, or that those of different recursion levels share a function but not a cost. It checks after each
// element. If the body receives ranges, it checks after each range, which is as long as all before it.
func untilAsked(w *filch.Worker, n int, conf *config, body func(lo, hi int)) (from int) {
	for from < n && !w.Demand() {
		end := from + 1
		if !conf.single {
			end = min(max(1, 2*from), n)
		}
		body(from, end)
		from = end
		if conf.limit != nil && conf.blocks(int(conf.limit.Load())) <= from {
			return n
		}
	}
	return from
}

// boundary calls f. Its panics reach the caller as they would from a worker.
func boundary(f func()) {
	returned := false
	defer func() {
		if !returned {
			rethrow(recover())
		}
	}()
	f()
	returned = true
}

// rethrow continues the panic v, which Do wraps in a filch.PanicError unless it is one; v is nil after runtime.Goexit.
// Call it while the stack of the panic exists: Do runs on the same goroutine. The pool is a new one, because the
// caller's may be closed, and any other that the caller is in would be used inside its own work.
func rethrow(v any) {
	if v != nil {
		filch.New(filch.WithWorkers(1)).Do(func(*filch.Worker) { panic(v) })
	}
}

// clockCost is the cost of a clock read in nanoseconds.
var clockCost = func() int64 {
	least := int64(math.MaxInt64)
	for range 20 {
		begin := clock.Now()
		least = min(least, clock.Now()-begin)
	}
	return least
}()
