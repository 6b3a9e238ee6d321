package filch

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/filch-go/filch/deque"
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

	hold  hold         // the worker and those that have its tasks' contexts write and load
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
	w.hold.init()
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

// lacks reports whether there is demand that the forks that are public do not meet. It is not
// inlined, so that Demand is.
//
//go:noinline
func (w *Worker) lacks() bool {
	if atomic.LoadUint32(&w.demand) == giveWay {
		w.giveWay()
	}
	return atomic.LoadUint32(&w.demand) == hunger || w.own.Len() == 0
}

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

// The levels of demand.
const (
	none    = policy.NoDemand
	supply  = policy.Supply
	hunger  = policy.Hunger
	giveWay = policy.GiveWay
)

// raise asks w to publish forks, or to give way. It is cheap to repeat. It must not
// overwrite a higher level that is raised meanwhile.
func (w *Worker) raise(level uint32) {
	for {
		old := atomic.LoadUint32(&w.demand)
		if old >= level || atomic.CompareAndSwapUint32(&w.demand, old, level) {
			return
		}
	}
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

// answer meets demand by publishing forks, oldest first. It publishes as many as the
// worker has credit for. That costs little next to the work it has been doing, and
// serves workers that fall idle later. On hunger it publishes at least until as many
// forks are public as workers search and places are free.
//
//go:noinline
func (w *Worker) answer() {
	p := w.pool
	if p == nil {
		panic("filch: Fork on a Frame after its function has returned")
	}
	w.checkUse()
	if atomic.LoadUint32(&w.demand) == giveWay {
		w.giveWay()
	}
	level := min(atomic.LoadUint32(&w.demand), hunger) // (R12); giveWay that came since is for the next fork
	w.earn()
	idle, public := 0, 0
	if level == hunger { // else neither matters, and other workers write both
		// In this order: what is stolen in between is published anew. In the other, a small
		// tree on 8 workers took 6.4 us instead of 5.6.
		idle = p.idlers()
		public = w.own.Len()
	}
	todo := w.credit.Answer(level, w.owed, public, idle)
	moved := w.publish(todo.Most)
	var next policy.Demand
	w.owed, next = w.credit.Answered(level, todo, moved)
	// If demand rises from supply to hunger meanwhile, it stays up. If it was
	// hunger, something was published, and wake sees what has become free, or
	// nothing was, and it is raised again.
	atomic.CompareAndSwapUint32(&w.demand, level, none)
	if moved > 0 {
		p.wake() // (R10)
	}
	if next != none { // for the next fork
		w.raise(next)
	}
}

// earn counts the credit.
func (w *Worker) earn() int {
	if w.fresh {
		w.fresh = false
		return w.credit.Start(now(), int(w.pool.limit.Load()))
	}
	return w.credit.Earn(now())
}

// publish moves up to n of the oldest private forks to the deque and returns
// how many it moved.
func (w *Worker) publish(n int) (moved int) {
	labels := w.labelsToShare()
	for moved < n && w.first < len(w.acts) {
		j := w.acts[w.first].publish()
		switch {
		case j != nil:
			j.owner, j.level, j.labels = w, w.level.Load(), labels
			w.own.Push(j) // (W10)
			moved++
		case w.first < len(w.acts)-1:
			w.first++
		default:
			n = moved
		}
	}
	w.count.published += moved
	return moved
}

// run is the life of a goroutine that fills a place: it looks for work and does
// it until there is none.
func (w *Worker) run(uint64, step) {
	left := false
	unlabel() // the labels of the goroutine that this one was started by
	defer func() {
		if !left { // something ended in runtime.Goexit: another goroutine goes on
			go w.pool.mark(w.run)
		}
	}()
	for w.hold.load().hasPlace() || w.regain() {
		j, t := w.find()
		switch {
		case j != nil:
			if j.level != nothing {
				w.setLevel(j.level)
			}
			w.start()
			w.execute(j)
		case t.body != nil:
			w.serve(t, &w)
			if w.pool.way.n.Load() > 0 {
				w.passPlace()
			}
		default:
			left = true
			return
		}
	}
	left = true
	w.pool.fire(w)
}

// find returns a job or a task, or neither when there is none: then w and its
// place are given back.
func (w *Worker) find() (j *job, t task) {
	for {
		if j, t = w.search(); w.got(j, t) {
			return j, t
		}
		if !w.giveUp() {
			return nil, task{}
		}
	}
}

// search returns a job or a task, or neither.
func (w *Worker) search() (j *job, t task) {
	p := w.pool
	if c := p.counts(p.places.Load()); c.Active <= c.Limit {
		if t, _ = w.nextTask(); t.body != nil {
			return nil, t
		}
		if j, t = w.look(false); j != nil || t.body != nil {
			return j, t
		}
	}
	if w.searching || w.startSearching() {
		for s := (spin{}); s.next() || p.mayPoll(); {
			if w.tasks.some.Load() { // pushed with the context of a task that w ran
				if t, _ = w.nextTask(); t.body != nil {
					return nil, t
				}
			}
			if j, t = w.look(true); j != nil || t.body != nil {
				return j, t
			}
			if w.pool.way.n.Load() > 0 { // leaving lets one go on
				break
			}
		}
	}
	return nil, task{}
}

// giveUp gives back w's place, and w, unless its goroutine is kept and has
// another place in the end: then it reports true.
func (w *Worker) giveUp() bool {
	p := w.pool
	searched := w.searching
	w.searching = false
	if p.linger == 0 {
		p.fire(w)
	}
	if searched {
		p.leaveSearching()
	} else {
		p.leave()
	}
	if p.linger == 0 {
		return false
	}
	if w.park() {
		return true
	}
	p.fire(w)
	return false
}

// mayPoll reports whether a worker may look for work without end.
func (p *Pool) mayPoll() bool {
	if !p.busyPoll || p.phase.Load() != open {
		return false
	}
	c := p.counts(p.places.Load())
	return c.Active <= c.Limit
}

// got ends the search if it found something.
func (w *Worker) got(j *job, t task) bool {
	if j == nil && t.body == nil {
		return false
	}
	w.found()
	w.pool.urge()
	w.pool.guard()
	return true
}

func (w *Worker) found() {
	if w.searching {
		w.stopSearching()
	}
}

// look goes once through the global queues, then through the queues of the
// others if some may hold tasks, or else at a glance through the deques of forkers.
// If ask is set, it asks workers that have nothing public to publish.
func (w *Worker) look(ask bool) (*job, task) {
	p := w.pool
	if j := p.global.take(); j != nil {
		return j, task{}
	}
	if p.order == ByPriority {
		if t, ok := w.stealTask(); ok {
			return nil, t
		}
	} else if t, ok := w.takeFrom(&p.tasks, int(p.limit.Load()), false); ok {
		return nil, t
	}
	tasks := p.order != ByPriority && p.laden.Load() > 0 // else that was stealTask's affair
	var all []*Worker
	var pass policy.Pass
	var n int
	if tasks {
		all, pass, n = w.others()
	} else {
		all, pass, n = w.otherForkers()
		n = min(n, glance)
	}
	for i := range n {
		v := all[pass.At(i)]
		if v.forks.Load() {
			if j := w.steal(v); j != nil {
				return j, task{}
			}
		}
		if tasks {
			if t, ok := w.takeFrom(&v.tasks, 2, true); ok {
				return nil, t
			}
		}
		if ask {
			v.raise(hunger)
		}
	}
	return nil, task{}
}

// glance is how many others a worker looks at in one turn if none of them need have
// anything. How many workers search is limited, but each that runs out of work takes a
// turn before it knows whether it may: on a thousand workers, a full turn took the
// processors from those that had work. What a glance misses is found by the next, and at
// last by release, which looks at all.
const glance = 32

// others returns all workers, and in which order to look at those that are not w, n of them.
func (w *Worker) others() (all []*Worker, pass policy.Pass, n int) {
	all = *w.pool.workers.Load()
	return all, w.victims.Pass(w.placeIn(all, &w.index), len(all)), len(all) - 1
}

// otherForkers is others for those that may have forks, of which w may be none.
func (w *Worker) otherForkers() (all []*Worker, pass policy.Pass, n int) {
	all = *w.pool.forkers.Load()
	if !w.forks.Load() {
		return all, w.victims.Pass(len(all), len(all)+1), len(all)
	}
	return all, w.victims.Pass(w.placeIn(all, &w.forker), len(all)), len(all) - 1
}

// placeIn returns where w is in all, which is at last, most often.
func (w *Worker) placeIn(all []*Worker, last *int) int {
	if *last >= len(all) || all[*last] != w {
		*last = max(0, slices.Index(all, w))
	}
	return *last
}

// steal takes the oldest public fork of v. If steals come seldom, so that forks
// are coarse, it also asks v to keep enough public for everybody.
func (w *Worker) steal(v *Worker) *job {
	w.count.attempts++
	j, r := v.thief.Steal()
	if r != deque.Success {
		return nil
	}
	w.count.steals++
	t := now()
	if policy.Coarse(t-w.lastSteal) && v.thief.Len() < int(w.pool.limit.Load()) {
		v.raise(supply)
	}
	w.lastSteal = t
	return j
}

// spin is a wait in turns of about a tenth of a microsecond, as long as policy.Spin says.
// Now and then it lets other goroutines have the processor.
type spin struct {
	policy policy.Spin
	noise  int // so that the pause is not optimized away
}

func (s *spin) next() bool {
	free := s.policy.Turn()
	s.pause()
	if free {
		return true
	}
	if !s.policy.Timed() {
		s.policy.Begin(now())
	}
	runtime.Gosched()
	return s.policy.Goes(now())
}

// pause takes some tens of nanoseconds. Polling with less in between takes the
// cache lines from the workers that write them.
func (s *spin) pause() {
	for i := range 64 {
		s.noise ^= i
	}
}
