package engine

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/filch-go/filch/deque"
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/span"
)

// Worker is one of the places of a pool at work: what a goroutine is that runs forks
// and looks for work.
type Worker struct {
	// Its methods stand with what they are about, one concept a file, since a worker is what
	// goes through all of them: it searches, steals, forks, publishes, waits and helps. What needs a part of
	// it alone is a method of that part, which stands beside it.

	_ [64]byte

	// Demand is up when another worker has found too little to steal. Thieves
	// raise it. The owner looks at it at each fork and join, publishes forks and lowers
	// it; see Answer. Nothing that is written often shares its cache line. It is no
	// atomic.Uint32, and not in a struct of its own, because either costs the inliner more.
	Demand uint32
	thief  *deque.Thief[*Job] // never written again; others find it beside Demand
	forks  atomic.Bool        // in the pool's forkers; the owner sets it, thieves load it
	Spans  *span.Recorder     // is told of all forks and joins, if it is not nil; written before w forks
	_      [56 - 2*unsafe.Sizeof(uintptr(0))]byte

	// Only the owner touches these.
	pool     *Pool
	Number   uint32 // from 1; no other of the pool's workers has it; never written again
	told     uint32 // publications that hooks were told of
	tookBack Taken  // the fork that w has taken back last
	ID       int    // one less than the number
	own      *deque.Owner[*Job]
	stack        // of what runs here
	helping  int // jobs that run on top of a wait
	flags
	lastSteal int64
	pauses
	fresh  bool // the credit was not counted yet for what runs here
	unpaid int  // forks to publish, whatever the credit
	credit policy.Credit
	seeker *seeker // how w looks at the others, once it has looked
	locating
	figures // the owner writes, anybody loads what is added up
	spending

	company // of what runs here

	User User // the goroutine that has w; see user.go; not in a struct of its own, likewise

	sleeping

	notes // of what w is at

	Hold   place.Hold    // the worker and those that have its tasks' contexts write and load
	runs   atomic.Bool   // a goroutine of the pool fills the place, or is about to, not a guest; it or its waker writes, the watch for stalls loads
	robber atomic.Uint32 // the number of the last that stole from w, or nobody; thieves write, the owner clears it
	Level  atomic.Int64  // how urgent it is what runs, or Nothing; the owner writes, others load; see Source.SetLevel

	alias Alias // see logical.go

	seating // that the goroutine writes which fills the place; others load; see seat.go
}

// flags are what a worker is in the midst of.
type flags struct {
	passed    bool // gave the place to another while helping, and counts as blocked
	searching bool // counted as searching
	unwinding bool // dropping forks after a panic or Goexit
	blocking  bool // in Blocking
	blocked   bool // its goroutine waits at a join: whoever uses it is on another
	checked   bool // the pool has Checks; never written again
}

// Checked reports whether some uses of the worker are.
func (f *flags) Checked() bool { return f.checked }

// InBlocking reports whether it has given up its place for a function that blocks.
func (f *flags) InBlocking() bool { return f.blocking }

// IsSearching reports whether it looks for work, and wakes another when it has found some.
func (f *flags) IsSearching() bool { return f.searching }

// nobody is the number of no worker.
const nobody = 0

// Nothing is the level of a worker that runs nothing that could give way.
const Nothing = math.MinInt64

// Init makes w, which its Source has just made, a worker of p with the given id.
//
//go:norace
func (w *Worker) Init(p *Pool, id int) {
	w.pool, w.Number, w.ID = p, uint32(id)+1, id
	if w.located = p.Stealing.located; w.located != nil {
		w.processor.Store(nowhere)
	}
	w.own, w.thief = deque.NewChaseLev[*Job]()
	w.Hold.Init()
	w.Level.Store(Nothing)
	w.checked = p.Checks != nil
	w.seats = p.Seats
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
	w.company.begin()
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
