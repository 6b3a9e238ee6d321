package filch

// A joinFrame holds the open forks of Join.
type joinFrame = Frame[forked, any]

// forked is the second function of a Join. It is a func in an interface, which
// takes no memory; its result is wrapped only if another worker computes it.
type forked interface{ call(w *Worker) any }

type plainFork func(w *Worker)

func (b plainFork) call(w *Worker) any { b(w); return nil }

type valueFork[B any] func(w *Worker) B

func (b valueFork[B]) call(w *Worker) any { return b(w) }

var joinFunc = NewFunc(func(f *joinFrame, b forked) any { return b.call(f.w) })

// Join calls a and b, perhaps at the same time, and returns when both have
// returned: b is offered to the other workers while a runs, and runs here
// afterwards if none has taken it. If either panics, Join panics with a
// [*PanicError], that of a if both do, once neither runs any more.
//
// Join costs a few tens of nanoseconds, most of it for the closure b, which
// goes to the heap. Where that matters, see [Func].
func (w *Worker) Join(a, b func(w *Worker)) {
	if a == nil {
		panic("filch: Join: a is nil")
	}
	if b == nil {
		panic("filch: Join: b is nil")
	}
	w.join(a, plainFork(b), b)
}

// Join calls a and b, perhaps at the same time, and returns their results when
// both have returned. It is [Worker.Join] for functions that return something.
func Join[A, B any](w *Worker, a func(w *Worker) A, b func(w *Worker) B) (ra A, rb B) {
	if w == nil {
		panic("filch: Join: w is nil")
	}
	if a == nil {
		panic("filch: Join: a is nil")
	}
	if b == nil {
		panic("filch: Join: b is nil")
	}
	r, elsewhere := w.join(
		func(w *Worker) { ra = a(w) },
		valueFork[B](b),
		func(w *Worker) { rb = b(w) },
	)
	if elsewhere {
		rb, _ = r.(B)
	}
	return ra, rb
}

// join runs a while fork is open. Then it runs here, unless another worker has
// taken the fork; if so it returns the result of that.
func (w *Worker) join(a func(w *Worker), fork forked, here func(w *Worker)) (r any, elsewhere bool) {
	err := w.try(func(w *Worker) {
		f := w.joins
		first := f == nil
		if first {
			f = joinFunc.enter(w)
			w.joins = f
		}
		f.Fork(fork)
		a(w)
		_, mine, result := f.takeBack()
		if mine {
			w.Poll()
			here(w)
		} else {
			r, elsewhere = result, true
		}
		if first {
			f.leave()
		}
	})
	if err != nil {
		panic(err)
	}
	return r, elsewhere
}
