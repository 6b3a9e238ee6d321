package engine

import (
	"context"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/filch-go/filch/deque"
	"github.com/filch-go/filch/internal/affinity"
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/span"
	"github.com/filch-go/filch/internal/views"
)

// Worker is one of the places of a pool at work: what a goroutine is that runs forks
// and looks for work.
type Worker struct {
	// Its methods stand with what they are about, one concept a file, since a worker is what
	// goes through all of them: it searches, steals, forks, publishes, waits and helps.

	_ [64]byte

	// Demand is up when another worker has found too little to steal. Thieves
	// raise it. The owner looks at it at each fork and join, publishes forks and lowers
	// it; see Answer. Nothing that is written often shares its cache line. It is no
	// atomic.Uint32 because that type's methods cost the inliner more.
	Demand uint32
	thief  *deque.Thief[*Job] // never written again; others find it beside Demand
	forks  atomic.Bool        // in the pool's forkers; the owner sets it, thieves load it
	Spans  *span.Recorder     // is told of all forks and joins, if it is not nil; written before w forks
	_      [56 - 2*unsafe.Sizeof(uintptr(0))]byte

	// Only the owner touches these.
	pool        *Pool
	Number      uint32 // from 1; no other of the pool's workers has it; never written again
	told        uint32 // publications that hooks were told of
	tookBack    Taken  // the fork that w has taken back last
	ID          int    // one less than the number
	own         *deque.Owner[*Job]
	activations []activation // what runs here, the oldest first
	first       int          // no activation below it has private forks
	helping     int          // jobs that run on top of a wait
	passed      bool         // gave the place to another while helping, and counts as blocked
	searching   bool         // counted as searching
	unwinding   bool         // dropping forks after a panic or Goexit
	blocking    bool         // in Blocking
	blocked     bool         // its goroutine waits at a join: whoever uses it is on another
	checked     bool         // the pool has Checks; never written again
	lastSteal   int64
	noise       int  // so that a pause is not optimized away
	fresh       bool // the credit was not counted yet for what runs here
	unpaid      int  // forks to publish, whatever the credit
	credit      policy.Credit
	seeker      *seeker      // how w looks at the others, once it has looked
	processor   atomic.Int32 // where w was when it last looked for work, or published; for an order by distance; thieves load
	count       counters
	began       int64 // when the search began that is under way, or else what w does since it found something
	worth       int64 // of what w did before, for the budget

	client context.Context  // what runs here has its labels, if they were not asked for yet; see labels.go
	labels *context.Context // the same once they were; nil if there are none

	user User // the goroutine that has w; see user.go

	Views *views.Table // of what runs here, since it was begun on this worker; nil if there are none

	wakeup   chan struct{} // closed by the worker that finished the awaited job, or lets w go on, and has seen to a place for w
	unparked chan bool     // whether to go on, or to leave
	stats    stats         // the owner writes, anybody loads

	doing note // what w is at, as makeDoing returns it; the owner writes, or the goroutine that hires it; Dump loads
	since note // of a stolen fork, when it was taken; the same

	Hold   place.Hold    // the worker and those that have its tasks' contexts write and load
	runs   atomic.Bool   // a goroutine of the pool fills the place, or is about to, not a guest; it or its waker writes, the watch for stalls loads
	robber atomic.Uint32 // the number of the last that stole from w, or nobody; thieves write, the owner clears it
	Level  atomic.Int64  // how urgent it is what runs, or Nothing; the owner writes, others load; see Source.SetLevel

	alias Alias // see logical.go

	seat atomic.Pointer[affinity.Seat] // of the goroutine that fills the place, or nil; that writes, others load; see seat.go

}

// nobody is the number of no worker.
const nobody = 0

// Nothing is the level of a worker that runs nothing that could give way.
const Nothing = math.MinInt64

// Init makes w, which its Source has just made, a worker of p with the given id.
//
//go:norace
func (w *Worker) Init(p *Pool, id int) {
	w.pool, w.Number, w.ID = p, uint32(id)+1, id
	if p.Stealing.located != nil {
		w.processor.Store(nowhere)
	}
	w.own, w.thief = deque.NewChaseLev[*Job]()
	w.Hold.Init()
	w.Level.Store(Nothing)
	w.checked = p.Checks != nil
	w.roam()
}

// Pool returns the pool that w works for.
func (w *Worker) Pool() *Pool { return w.pool }

// Poll answers demand, if there is any.
func (w *Worker) Poll() {
	if atomic.LoadUint32(&w.Demand) != None {
		w.Answer()
	}
}

// PollPublic is Poll when no fork of w is private, so that there is nothing to publish: its
// newest fork was public, and w has taken it back.
func (w *Worker) PollPublic() {
	if atomic.LoadUint32(&w.Demand) == GiveWay {
		w.Answer()
	}
}

// Start is called before something new runs on w. Demand from before, when
// there was nothing to publish, is replaced by what there is now.
func (w *Worker) Start() {
	w.fresh = true
	w.unpaid = 0
	w.Views = nil // of what has failed here before
	p := w.pool
	if !w.forks.Load() {
		p.addForker(w)
	}
	limit := p.limit.Load()
	if limit == 1 {
		w.startAlone()
		return
	}
	if !p.held.Load() && p.Idlers() > 0 { // (R17), (R10)
		w.Raise(Hunger)
		return
	}
	// No worker waits, or none is to be woken now, but each will be idle some time. What is owed is published all the
	// same: what runs may block before its next fork, and then it answers nobody. A (W12) that this overwrites
	// is answered nonetheless: what is owed is published first, which wakes a worker.
	w.unpaid = int(limit) - 1
	if level := atomic.LoadUint32(&w.Demand); level == None || level == Hunger {
		atomic.CompareAndSwapUint32(&w.Demand, level, supply)
	}
}

// startAlone is the rest of Start for the only worker. Demand that was raised while its
// place was free would have it publish forks for nobody.
func (w *Worker) startAlone() {
	if atomic.LoadUint32(&w.Demand) == Hunger {
		atomic.CompareAndSwapUint32(&w.Demand, Hunger, None)
	}
	if w.pool.Idlers() > 0 { // (R10) an extra place, for a blocked task
		w.Raise(Hunger)
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
	// Publish makes a job of the oldest private fork; nil if there is none.
	Publish() *Job
	// Forks returns what Drop takes to leave the forks alone that are open now.
	Forks() int
	// Drop forgets all but the first n forks: it clears private ones, and takes back
	// published ones or waits for them.
	Drop(n int)
	// Close lets go of an activation without open forks.
	Close()
}

// Newest returns the newest activation, or nil if there is none.
func (w *Worker) Newest() activation {
	if n := len(w.activations); n > 0 {
		return w.activations[n-1]
	}
	return nil
}

func (w *Worker) Push(a activation) { w.activations = append(w.activations, a) }

func (w *Worker) Pop() {
	n := len(w.activations) - 1
	w.activations[n] = nil
	w.activations = w.activations[:n]
	w.first = max(0, min(w.first, n-1))
}
