package task

import "sync"

// starts lets workers tell that tasks start in the order in which these left the global queue, in a pool that is
// InOrder. A worker that takes a task out gets the next turn, under the lock of the queue. It waits for its turn before
// it tells that the task starts, and then passes it on. The turn of a task that does not start is passed without a wait,
// also before it has come.
type starts struct {
	last uint64 // the turn that was given last; under the global queue's lock

	mu     sync.Mutex
	passed uint64                   // all turns up to this one were passed
	ahead  map[uint64]bool          // those after it that were passed
	waits  map[uint64]chan struct{} // closed when the turn has come
}

// InTurn calls tell, for the task that w has taken, when all tasks that left the global queue before have told that they
// start, or do not start. It is for w's own goroutine.
func (w *Worker) InTurn(tell func()) {
	if n := w.turn; n != 0 {
		w.Pool.starts.await(n)
		w.telling.Store(n)
		defer w.endTurn()
		defer w.telling.Store(0)
	}
	tell()
}

// endTurn passes the turn of the task that w has taken, if it has one still.
func (w *Worker) endTurn() {
	if w.turn != 0 {
		w.Pool.starts.pass(w.turn)
		w.turn = 0
	}
}

// lendTurn passes the turn of w while what it calls in that waits, perhaps for a task that has a later one.
func (w *Worker) lendTurn() {
	if n := w.telling.Load(); n != 0 {
		w.Pool.starts.pass(n)
	}
}

// give returns the next turn, for a worker that takes a task from the global queue, whose lock the caller holds.
func (o *starts) give() uint64 {
	o.last++
	return o.last
}

// await waits until turn n has come.
func (o *starts) await(n uint64) {
	o.mu.Lock()
	if o.passed >= n-1 {
		o.mu.Unlock()
		return
	}
	come := make(chan struct{})
	if o.waits == nil {
		o.waits = map[uint64]chan struct{}{}
	}
	o.waits[n] = come
	o.mu.Unlock()
	<-come
}

// pass ends turn n, unless that has ended.
func (o *starts) pass(n uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case n <= o.passed:
		return
	case n > o.passed+1:
		if o.ahead == nil {
			o.ahead = map[uint64]bool{}
		}
		o.ahead[n] = true
		return
	}
	for o.passed = n; o.ahead[o.passed+1]; o.passed++ {
		delete(o.ahead, o.passed+1)
	}
	if come := o.waits[o.passed+1]; come != nil {
		delete(o.waits, o.passed+1)
		close(come)
	}
}
