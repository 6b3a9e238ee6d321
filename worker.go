package filch

import (
	"sync/atomic"
	"unsafe"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// Worker is a worker of a pool at work. Fork-join functions receive the worker that runs them, and pass it on to what they
// call. Only the call that receives a Worker may use it, on its goroutine, until the call returns. A forked function receives
// its own Worker, and uses that instead of the enclosing function's.
type Worker struct {
	// Its methods stand with what they are about, one concept a file: forks, tasks, yielding.

	tasks task.Worker // and forks

	pool  *Pool
	shown atomic.Pointer[Progress] // the owner writes, Dump loads
	joins bool                     // it is in a Do that waits for asyncs; owner only
}

// A Worker begins with that of internal/task, which begins with the engine's. The code here converts one into another by
// address: as an any in the engine's, its methods and those of all its fields would be in every program.

// A Worker has the same address as the engine's; package strand relies on it too. If not, this does not compile, because no
// uintptr is negative.
const _ uintptr = -(unsafe.Offsetof(Worker{}.tasks) + unsafe.Offsetof(Worker{}.tasks.Engine))

// newWorker returns a worker of p. It hides its stores from the race detector, here and in both Init: with logical races,
// what runs on the worker reads them, and is not ordered after the fork that it was made for.
//
//go:norace
func newWorker(p *Pool, id int) *Worker {
	w := &Worker{pool: p}
	w.tasks.Init(&p.tasks, id)
	return w
}

// asWorker returns w as users see it.
func asWorker(w *engine.Worker) *Worker { return (*Worker)(unsafe.Pointer(w)) }

// Pool returns the pool that w works for.
func (w *Worker) Pool() *Pool { return w.pool }

// Poll answers the demand of other workers and yields to tasks, as forks and joins do; see [ByPriority]. Call it in a long
// computation that does not fork, so that idle workers get earlier forks. Without demand it costs an atomic load.
func (w *Worker) Poll() {
	w.tasks.Engine.CheckUseWithRaces()
	if atomic.LoadUint32(&w.tasks.Engine.Demand) != engine.None {
		w.tasks.Engine.Answer()
	}
}

// Demand reports whether other workers ask for forks. A computation that can be divided anywhere, such as a loop, may go on
// alone until they do, and then fork half of what is left; that fork is published at once. The loops of package par do so.
// Where forks are long, Demand asks for one for each other worker. Like Poll, it lets w yield to tasks. It costs an atomic
// load.
func (w *Worker) Demand() bool {
	w.tasks.Engine.CheckUseWithRaces()
	return atomic.LoadUint32(&w.tasks.Engine.Demand) != engine.None && w.tasks.Engine.HasUnmetDemand()
}

// alias returns the Worker for a goroutine that has entered as w: w, or with logical races an alias.
func (w *Worker) alias() *Worker {
	if !w.pool.tasks.IsLogical() {
		return w
	}
	a := asWorker(engine.GuestAlias(&w.tasks.Engine))
	a.tasks.Lent.Store(w.tasks.Lent.Load())
	return a
}

// base returns the worker that w is an alias of, or w.
func (w *Worker) base() *Worker {
	if !w.tasks.Engine.IsLogical() {
		return w
	}
	return asWorker(engine.LeaveAlias(&w.tasks.Engine))
}

// aliasInTask is alias for the goroutine of a task that uses the task's worker as a Scope.
func (w *Worker) aliasInTask() *Worker {
	a := asWorker(engine.AliasOf(&w.tasks.Engine))
	a.handOut()
	return a
}

// handOut records that the calling goroutine has w from now on, if its pool has checks.
func (w *Worker) handOut() {
	if c := w.pool.tasks.Checks; c != nil {
		w.tasks.Lent.Out(c, 0)
	}
}

// takeIn reverses handOut.
func (w *Worker) takeIn() {
	if w.pool.tasks.Checks != nil {
		w.tasks.Lent.In(nil)
	}
}

// late returns a worker for frames and links of w that are out of use: each use of it panics.
func (w *Worker) late() *engine.Worker {
	h := w.tasks.Lent.Load()
	if h.Late == nil {
		l := &Worker{}
		l.tasks.Engine.Late(&w.pool.tasks.Engine)
		l.tasks.Lent.Store(h.Over())
		h.Late = &l.tasks.Engine
	}
	return h.Late.(*engine.Worker)
}

// Blocking calls f, which may block, and lends the caller's worker slot to another worker meanwhile. Afterwards the caller
// goes on at once, on an extra slot if all are taken; the next worker that searches for work then gives up its slot. It is
// [Blocking] for code that has a Worker and no context.
//
// Before it calls f, Blocking publishes all open forks of w, so that none has to wait for f. Neither f nor what it calls may
// use w: under the race detector that panics. A Blocking inside f just calls its function. While f runs, [Stats].Blocked
// counts it, and [Pool.Close] and [Pool.Shutdown] wait for it. A panic or runtime.Goexit in f reaches the caller.
//
// Do turns a Scope into its Worker, as in a body of par.ForScope:
//
//	s.Do(func(w *filch.Worker) { w.Blocking(f) })
//
// Code with neither, such as code that gets an io.Writer, can use a writer that calls Blocking; see the example.
//
// Blocking costs a few atomic operations, a scan of all workers for work, and a wake-up if there is some. Use it for longer
// calls. It panics if f is nil.
func (w *Worker) Blocking(f func()) {
	needs(f != nil, "Blocking", "f")
	w.tasks.Engine.LendFor(f)
}
