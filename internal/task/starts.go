package task

import "sync"

// starts lets workers report starts of tasks in the order in which these left the global queue, in a pool that is InOrder. A
// worker that takes a task out gets the next turn, under the lock of the queue. It waits for its turn before it reports the
// start, and then passes it on. The turn of a task that does not start is passed without a wait, even before it has come.
type starts struct {
	last uint64 // the last turn given; under the global queue's lock

	mu     sync.Mutex
	passed uint64                   // all turns up to this one are passed
	ahead  map[uint64]bool          // later turns already passed
	waits  map[uint64]chan struct{} // closed when the turn has come
}

// InTurn calls tell, for the task that w has taken, once all tasks that left the global queue earlier have reported their
// start, or do not start. Only w's own goroutine calls it.
func (w *Worker) InTurn(tell func()) {
	if n := w.turn; n != 0 {
		w.Pool.starts.await(n)
		w.telling.Store(n)
		defer w.endTurn()
		defer w.telling.Store(0)
	}
	tell()
}

// endTurn passes the turn of the task that w has taken, if it still has one.
func (w *Worker) endTurn() {
	if w.turn != 0 {
		w.Pool.starts.pass(w.turn)
		w.turn = 0
	}
}

// lendTurn passes w's turn while code that it calls in that turn waits, perhaps for a task with a later one.
func (w *Worker) lendTurn() {
	if n := w.telling.Load(); n != 0 {
		w.Pool.starts.pass(n)
	}
}

// give returns the next turn, for a worker that takes a task from the global queue. The caller holds that queue's lock.
func (o *starts) give() uint64 {
	o.last++
	return o.last
}

// await waits for turn n.
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

// pass ends turn n, unless it has ended.
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
