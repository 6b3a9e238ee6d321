package filch

import (
	"sync/atomic"
	"unsafe"

	"github.com/filch-go/filch/internal/engine"
	"github.com/filch-go/filch/internal/task"
)

// A Worker begins with that of internal/task, which begins with the engine's. Here one is had from another, by its address: as an
// any in the engine's, its methods and those of all that it has would be in every program.

// A Worker is at the same address as the engine's: package strand relies on it too. What does not hold here
// does not compile, since no uintptr is negative.
const _ uintptr = -(unsafe.Offsetof(Worker{}.tasks) + unsafe.Offsetof(Worker{}.tasks.Engine))

// newWorker returns a worker of p. The race detector does not see what makes it, here and in both Init: what
// runs on it with logical races reads that, and is not ordered after the fork that it was made for.
//
//go:norace
func newWorker(p *Pool, id int) *Worker {
	w := &Worker{pool: p}
	w.tasks.Init(&p.tasks, id)
	return w
}

// asWorker returns w as users know it.
func asWorker(w *engine.Worker) *Worker { return (*Worker)(unsafe.Pointer(w)) }

// poolOf returns p as users know it.
func poolOf(p *task.Pool) *Pool { return (*Pool)(p.Self) }

// made reports whether New has made p.
func (p *Pool) made() bool { return p != nil && p.tasks.Self != nil }

// Pool returns the pool that w works for.
func (w *Worker) Pool() *Pool { return w.pool }

// Poll answers the demand of other workers, and gives way to tasks, as forks and joins
// do; see [ByPriority]. Call it in a long computation that does not fork, so that idle
// workers get the forks that were made before it. Without demand it costs an atomic load.
func (w *Worker) Poll() {
	w.tasks.Engine.CheckUseWithRaces()
	if atomic.LoadUint32(&w.tasks.Engine.Demand) != engine.None {
		w.tasks.Engine.Answer()
	}
}

// Demand reports whether other workers ask for forks. A computation that can be divided
// anywhere, such as a loop, may go on alone until they do, and then fork half of what is
// left. That fork is published at once. The loops of package par do so. Where forks are long, Demand asks
// for one for each other worker. Like Poll, Demand
// lets w give way to tasks. It costs an atomic load.
func (w *Worker) Demand() bool {
	w.tasks.Engine.CheckUseWithRaces()
	return atomic.LoadUint32(&w.tasks.Engine.Demand) != engine.None && w.tasks.Engine.HasUnmetDemand()
}
