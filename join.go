package filch

import (
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
)

// Join of two closures: forks of one Func, whose argument is the second closure.

// A joinFrame holds the open forks of Join.
type joinFrame = Frame[forked, any]

// forked is the second function of a Join. A func in an interface takes no memory; its result is wrapped only if another
// worker computes it.
type forked interface{ call(w *Worker) any }

type plainFork func(w *Worker)

func (b plainFork) call(w *Worker) any { b(w); return nil }

type valueFork[B any] func(w *Worker) B

func (b valueFork[B]) call(w *Worker) any { return b(w) }

var joinFunc = NewFunc(func(f *joinFrame, b forked) any { return b.call(asWorker(f.w)) })

// Join calls a and b, perhaps in parallel, and returns when both have returned. It offers b to other workers while a runs,
// and runs b itself afterwards if none has taken it. If either panics, Join panics with a [*PanicError] once neither runs any
// more; if both do, with that of a. If a panics before b has begun, b does not run. If one panics and the other calls
// runtime.Goexit, Join does either.
//
// Join costs 36 ns and an allocation on an AMD EPYC, mostly for the closure b, which goes to the heap. Closures that share
// results with their surroundings, as in a recursive fib, cost several allocations per Join. Where that matters, see [Func].
//
//figure:all 36 ns, a Join of closures
func (w *Worker) Join(a, b func(w *Worker)) {
	needs(a != nil, "Join", "a")
	needs(b != nil, "Join", "b")
	var j joining
	j.open(w, plainFork(b))
	defer j.end()
	a(w)
	if j.isHere() {
		b(w)
	}
	j.returned = true
}

// Join is [Worker.Join] for functions with results: it calls a and b, perhaps in parallel, and returns their results when
// both have returned.
func Join[A, B any](w *Worker, a func(w *Worker) A, b func(w *Worker) B) (ra A, rb B) {
	needs(w != nil, "Join", "w")
	needs(a != nil, "Join", "a")
	needs(b != nil, "Join", "b")
	var j joining
	j.open(w, valueFork[B](b))
	defer j.end()
	ra = a(w)
	if j.isHere() {
		rb = b(w)
	} else {
		rb, _ = j.result.(B)
	}
	j.returned = true
	return ra, rb
}

// joining is a Join in progress. Its end is the boundary of both functions.
type joining struct {
	w        *engine.Worker
	frame    *joinFrame
	before   engine.Checkpoint
	first    bool // this Join must leave the frame
	returned bool // both functions have returned
	told     engine.Taken
	result   any // of the second function, if another worker has run it
}

// open forks b, on the frame of the enclosing Join if that is the newest activation.
func (j *joining) open(w *Worker, b forked) {
	e := &w.tasks.Engine
	e.CheckUse() // before anything is changed
	j.w = e
	if around, ok := e.Newest().(*frameForks[forked, any]); ok {
		j.frame = (*joinFrame)(around)
		j.before = e.CheckpointAt(int(around.n))
	} else {
		j.first = true
		j.before = e.Checkpoint()
		j.frame = joinFunc.enter(e)
	}
	j.frame.Fork(b)
}

// isHere ends the fork, and reports whether it must run here; otherwise it has run on another worker.
func (j *joining) isHere() bool {
	// Most forks are private, and nobody has asked for any. This and open work in place: a joining that a function
	// returns is eleven words to copy, and made a Join 38 ns where it is 16.
	f := j.frame
	if n := f.n; n > f.public && atomic.LoadUint32(f.demand) == engine.None {
		f.args[n], f.n = nil, n-1
		return true
	}
	return j.takeBack()
}

func (j *joining) takeBack() (here bool) {
	_, here, j.result = j.frame.takeBack()
	j.told = engine.TookBack(j.w)
	if j.w.Spans != nil {
		_ = j.w.Spans.Join()
	}
	return here
}

// end is deferred.
func (j *joining) end() {
	if !j.returned {
		if err := j.w.Caught(j.before, recover()); err != nil {
			panic(err)
		}
		return
	}
	j.told.TellJoined(j.w)
	if j.w.Spans != nil {
		j.w.Spans.End(j.before.Spans)
	}
	if j.first {
		j.frame.leave()
	}
}
