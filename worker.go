package filch

import (
	"sync/atomic"

	"github.com/filch-go/filch/internal/engine"
)

// Worker is one of the places of a pool at work. Fork-join functions are
// handed the worker that runs them, and pass it on to what they call. A Worker
// must be used only by the call it was handed to, on the goroutine of that
// call, until the call returns.
type Worker struct {
	engine engine.Worker

	pool  *Pool
	shown atomic.Pointer[Progress] // the owner writes, Dump loads
	tasks taskQueue
	waits waits // that are made in its seats

	// Only the owner touches these, and they are about tasks.
	context *taskContext // of the tasks that ran last, to be used again
	next    task         // what Look has found
	body    body         // what runs at the bottom of the stack
	ran     int64        // tasks since the queue was told
	taking  int64        // level of the task that was taken last
	guest   bool         // the goroutine of a caller fills the place
	batch   batch
}

// newWorker returns a worker of p.
func newWorker(p *Pool, id int) *Worker {
	w := &Worker{pool: p}
	w.engine.Self = w
	w.engine.Init(&p.engine, id)
	w.tasks.init(p)
	w.batch.q.Chunks = &chunks
	return w
}

// asWorker returns w as its pool knows it.
func asWorker(w *engine.Worker) *Worker { return w.Self.(*Worker) }

// Do calls f, as [Pool.Do] does, on this worker. It lets a function that takes
// a [Scope] be called from inside fork-join work.
func (w *Worker) Do(f func(w *Worker)) {
	needs(f != nil, "Do", "f")
	if err := w.engine.Try(func() { f(w) }); err != nil {
		panic(err)
	}
}

// Pool returns the pool that w works for.
func (w *Worker) Pool() *Pool { return w.pool }

// Poll lets a long computation that does not fork answer the demand of idle
// workers for the forks that were made before it, and give way to tasks, as forks and
// joins do; see [ByPriority]. Without demand it costs an atomic load.
func (w *Worker) Poll() {
	if atomic.LoadUint32(&w.engine.Demand) != engine.None {
		w.engine.Answer()
	}
}

// Demand reports whether other workers ask for forks. A computation that can be divided
// anywhere, such as a loop, may go on alone until they do, and then fork half of
// what is left, which is offered to them at once. The loops of package par do so. Like
// Poll, Demand lets w give way to tasks. It costs an atomic load.
func (w *Worker) Demand() bool {
	return atomic.LoadUint32(&w.engine.Demand) != engine.None && w.engine.Lacks()
}
