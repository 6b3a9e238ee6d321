package filch

import "github.com/filch-go/filch/internal/engine"

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
// Join costs 40 ns and an allocation on an AMD EPYC, mostly for the closure b, which goes to the heap. Closures that share
// results with their surroundings, as in a recursive fib, cost several allocations per Join. Where that matters, see [Func].
//
//figure:all 40 ns, a Join of closures
func (w *Worker) Join(a, b func(w *Worker)) {
	needs(a != nil, "Join", "a")
	needs(b != nil, "Join", "b")
	j := w.openJoin(plainFork(b))
	defer j.end()
	a(w)
	if here, _ := j.takeBack(); here {
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
	j := w.openJoin(valueFork[B](b))
	defer j.end()
	ra = a(w)
	if here, r := j.takeBack(); here {
		rb = b(w)
	} else {
		rb, _ = r.(B)
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
}

// openJoin forks b, on the frame of the enclosing Join if that is the newest activation.
func (w *Worker) openJoin(b forked) joining {
	j := joining{w: &w.tasks.Engine}
	j.w.CheckUse() // before anything is changed
	if around, ok := w.tasks.Engine.Newest().(*frameForks[forked, any]); ok {
		j.frame = (*joinFrame)(around)
		j.before = w.tasks.Engine.CheckpointAt(int(around.n))
	} else {
		j.first = true
		j.before = w.tasks.Engine.Checkpoint()
		j.frame = joinFunc.enter(j.w)
	}
	j.frame.Fork(b)
	return j
}

// takeBack ends the fork: it must run here, or has run on another worker with the result r.
func (j *joining) takeBack() (here bool, r any) {
	_, here, r = j.frame.takeBack()
	j.told = engine.TookBack(j.w)
	if j.w.Spans != nil {
		_ = j.w.Spans.Join()
	}
	return here, r
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
