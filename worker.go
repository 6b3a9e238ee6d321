package filch

import (
	"context"
	"sync/atomic"

	"github.com/filch-go/filch/deque"
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/policy"
)

// Worker is one of the places of a pool at work. Fork-join functions are
// handed the worker that runs them, and pass it on to what they call. A Worker
// must be used only by the call it was handed to, on the goroutine of that
// call, until the call returns.
type Worker struct {
	_ [64]byte

	// demand is up when another worker has found too little to steal. Thieves
	// raise it. The owner looks at it at each fork and join, publishes forks and lowers
	// it; see answer. Nothing that is written often shares its cache line. It is no
	// atomic.Uint32 because that type's methods cost the inliner more.
	demand uint32
	thief  *deque.Thief[*job] // never written again; others find it beside demand
	forks  atomic.Bool        // in the pool's forkers; the owner sets it, thieves load it
	_      [52]byte

	// Only the owner touches these.
	pool      *Pool
	number    uint32 // from 1; no other of the pool's workers has it; never written again
	id        int    // one less
	own       *deque.Owner[*job]
	acts      []activation // what runs here, the oldest first
	first     int          // no activation below it has private forks
	joins     *joinFrame   // the newest activation, if it is of joins
	helping   int          // jobs that run on top of a wait
	passed    bool         // gave the place to another while helping, and counts as blocked
	searching bool         // counted as searching
	unwinding bool         // dropping forks after a panic or Goexit
	blocking  bool         // in Blocking
	lastSteal int64
	fresh     bool // the credit was not counted yet for what runs here
	owed      int  // forks to publish, whatever the credit
	credit    policy.Credit
	victims   policy.Victims
	index     int // where w was in the pool's workers when it last looked
	forker    int // where it was in the pool's forkers
	count     counters

	client context.Context  // what runs here has its labels, if they were not asked for yet; see labels.go
	labels *context.Context // the same once they were; nil if there are none

	wakeup chan struct{} // closed by the worker that finished the awaited job, or lets w go on, and has seen to a place for w
	stats  stats         // the owner writes, anybody loads

	doing note                     // what w is at, as makeDoing returns it; the owner writes, or the goroutine that hires it; Dump loads
	since note                     // of a stolen fork, when it was taken; the same
	shown atomic.Pointer[Progress] // the same

	hold  place.Hold   // the worker and those that have its tasks' contexts write and load
	runs  atomic.Bool  // a goroutine of the pool fills the place, or is about to, not a guest; it or its waker writes, the watch for stalls loads
	level atomic.Int64 // how urgent it is what runs, or nothing; the owner writes, others load; see way
	tasks taskQueue
	waits waits // that are made in its seats

	// Only the owner touches these, and they are about tasks.
	context *taskContext // of the tasks that ran last, to be used again
	body    body         // what runs at the bottom of the stack
	ran     int64        // tasks since the queue was told
	taking  int64        // level of the task that was taken last
	guest   bool         // the goroutine of a caller fills the place
	batch   batch

	unparked chan bool // whether to go on, or to leave
}

func newWorker(p *Pool, id int) *Worker {
	w := &Worker{pool: p, number: uint32(id) + 1, id: id, victims: policy.RandomStart(uint64(id))}
	w.own, w.thief = deque.NewChaseLev[*job]()
	w.hold.Init()
	w.level.Store(nothing)
	w.tasks.init(p)
	w.batch.q.Chunks = &chunks
	return w
}

// Do calls f, as [Pool.Do] does, on this worker. It lets a function that takes
// a [Scope] be called from inside fork-join work.
func (w *Worker) Do(f func(w *Worker)) {
	if f == nil {
		panic("filch: Do: f is nil")
	}
	if err := w.try(f); err != nil {
		panic(err)
	}
}

// Pool returns the pool that w works for.
func (w *Worker) Pool() *Pool { return w.pool }

// Poll lets a long computation that does not fork answer the demand of idle
// workers for the forks that were made before it, and give way to tasks, as forks and
// joins do; see [ByPriority]. Without demand it costs an atomic load.
func (w *Worker) Poll() {
	if atomic.LoadUint32(&w.demand) != none {
		w.answer()
	}
}

// Demand reports whether other workers ask for forks. A computation that can be divided
// anywhere, such as a loop, may go on alone until they do, and then fork half of
// what is left, which is offered to them at once. The loops of package par do so. Like
// Poll, Demand lets w give way to tasks. It costs an atomic load.
func (w *Worker) Demand() bool { return atomic.LoadUint32(&w.demand) != none && w.lacks() }

// start is called before something new runs on w. Demand from before, when
// there was nothing to publish, is replaced by what there is now.
func (w *Worker) start() {
	w.fresh = true
	w.owed = 0
	p := w.pool
	if !w.forks.Load() {
		p.addForker(w)
	}
	limit := p.limit.Load()
	if limit == 1 {
		return
	}
	if p.idlers() > 0 { // (R10)
		w.raise(hunger)
		return
	}
	// Nobody waits, but everybody will be idle some time. A (W12) that this overwrites
	// is answered nonetheless: what is owed is published first, which wakes a worker.
	w.owed = int(limit) - 1
	if level := atomic.LoadUint32(&w.demand); level == none || level == hunger {
		atomic.CompareAndSwapUint32(&w.demand, level, supply)
	}
}

// addForker lets those see w that look for forks, or ask for them.
func (p *Pool) addForker(w *Worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.forks.Store(true)
	all := append(*p.forkers.Load(), w) // see hireSlow
	p.forkers.Store(&all)               // (W13)
}

// An activation is a run of forks of one function on one worker. Forks of
// different activations never mix in age: those of a newer activation are all
// younger.
type activation interface {
	// publish makes a job of the oldest private fork; nil if there is none.
	publish() *job
	// mark returns what drop takes to leave the forks alone that are open now.
	mark() int
	// drop forgets the forks above mark, all if it is 0: it clears private ones,
	// and takes back published ones or waits for them.
	drop(mark int)
	// close lets go of an activation without open forks.
	close()
}

func (w *Worker) push(a activation) { w.acts = append(w.acts, a) }

func (w *Worker) pop() {
	n := len(w.acts) - 1
	w.acts[n] = nil
	w.acts = w.acts[:n]
	w.first = max(0, min(w.first, n-1))
}
