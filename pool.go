package filch

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a set of places for workers that steal work from one another. Make
// one with [New]. A pool at rest has no goroutine and uses no CPU, so it need not
// be closed; all of its methods may be called from any goroutine.
type Pool struct {
	idle // how many places are taken, and by whom

	// Seldom written: thieves look here at every turn.
	limit   atomic.Int32 // places in all; guests may exceed it
	fixed   bool         // the limit was set; else it follows GOMAXPROCS
	workers atomic.Pointer[[]*Worker]
	_       [128]byte

	global jobQueue

	spare atomic.Pointer[Worker] // a cache of one for free
	_     [120]byte

	mu      sync.Mutex
	free    []*Worker     // in workers, but unused
	closed  chan struct{} // Close waits here; made by the first Close
	retired Stats         // of workers that were let go
}

// Option configures a [Pool]. Misuse of an option panics in [New].
type Option func(*Pool)

// WithWorkers sets the number of workers, that is, how many goroutines of the
// pool run at once. It panics if n < 1. Without it the number follows
// GOMAXPROCS: a change is noticed when a worker begins to look for work, and on
// a pool of one worker at the next Do.
func WithWorkers(n int) Option {
	if n < 1 || n > maxPlaces {
		panic(fmt.Sprintf("filch: WithWorkers(%d): the number of workers must be from 1 to %d", n, maxPlaces))
	}
	return func(p *Pool) {
		p.fixed = true
		p.limit.Store(int32(n))
	}
}

// New returns a pool. It starts no goroutine: workers start when there is work
// and leave when there is none.
func New(opts ...Option) *Pool {
	p := &Pool{}
	p.workers.Store(&[]*Worker{})
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("filch: New: option %d is nil", i))
		}
		opt(p)
	}
	p.follow()
	return p
}

var defaultPool atomic.Pointer[Pool]

// Default returns the pool that is shared by all who ask for none of their
// own. It is made on first use and follows GOMAXPROCS. It cannot be closed.
func Default() *Pool {
	if p := defaultPool.Load(); p != nil {
		return p
	}
	defaultPool.CompareAndSwap(nil, New())
	return defaultPool.Load()
}

// follow takes over the limit from GOMAXPROCS, unless it is fixed, and returns
// GOMAXPROCS. It is called when a worker begins to search, by whoever could not
// call others in because there was one place, and when somebody asks.
func (p *Pool) follow() int {
	procs := runtime.GOMAXPROCS(0)
	if n := int32(min(procs, maxPlaces)); !p.fixed && p.limit.Load() != n && p.limit.Swap(n) < n {
		p.offer()
	}
	return procs
}

// Scope is where fork-join work can be started: a *Pool, from any goroutine,
// or a *Worker, from inside such work. Functions that take a Scope compose:
// nested calls share the same workers.
type Scope interface {
	// Do calls f and returns when f has returned.
	Do(f func(w *Worker))
}

// Do calls f on the calling goroutine, which takes part as a worker of the
// pool until f returns: it takes a place, or an extra one when all are taken,
// so a small job starts at once, and pools may be used from within one
// another, or a pool from within itself, without deadlock. Forks made in f may
// be run by the other workers. A Do inside a Do on the same pool takes a second
// place; pass on the Worker instead.
//
// If f panics, Do waits for what other workers have taken of its forks, then
// panics with a [*PanicError]; after runtime.Goexit it likewise waits. A Do
// that forks nothing costs about as much as two uncontended mutexes. Do panics
// if f is nil or the pool is closed.
func (p *Pool) Do(f func(w *Worker)) {
	if f == nil {
		panic("filch: Do: f is nil")
	}
	w := p.enter("Do")
	defer p.exit(w)
	w.Do(f)
}

// enter makes the caller a worker with a place.
func (p *Pool) enter(op string) *Worker {
	s := p.state.Add(onePlace)
	if s&closed != 0 {
		p.release(minus(onePlace))
		panic("filch: " + op + " on a closed Pool")
	}
	if p.limit.Load() == 1 {
		p.follow()
	}
	w := p.hire()
	w.start()
	return w
}

// exit gives back what enter gave.
func (p *Pool) exit(w *Worker) {
	if !w.placed {
		panic("filch: internal error: a worker left without its place")
	}
	p.fire(w)
	p.release(minus(onePlace))
}

// Close makes further use of the pool panic, waits for the calls to Do that
// are under way, and returns nil. It may be called more than once and from
// several goroutines, but not from inside Do, where it would wait for itself.
// The default pool is everybody's: Close leaves it alone and returns an error.
func (p *Pool) Close() error {
	if p == defaultPool.Load() {
		return errors.New("filch: Close: the default pool cannot be closed")
	}
	p.mu.Lock()
	if p.closed == nil {
		p.closed = make(chan struct{})
		if p.quiet(p.state.Or(closed)) {
			close(p.closed)
		}
	}
	c := p.closed
	p.mu.Unlock()
	<-c
	return nil
}

// hire returns a worker for the caller's use, one that was used before if
// there is any.
func (p *Pool) hire() *Worker {
	w := p.spare.Swap(nil)
	if w == nil {
		w = p.hireSlow()
	}
	w.placed = true
	return w
}

func (p *Pool) hireSlow() *Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		w := p.free[n-1]
		p.free = p.free[:n-1]
		return w
	}
	old := *p.workers.Load()
	w := newWorker(p, len(old))
	all := append(old, w) // those who have the old list do not see what is beyond it
	p.workers.Store(&all)
	return w
}

// fire takes w back. Its deque is empty.
func (p *Pool) fire(w *Worker) {
	w.placed = false
	if p.spare.CompareAndSwap(nil, w) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, w)
	p.trim()
}

// trim forgets workers that a crowd of callers has left behind, so that
// thieves need not look at them for ever.
func (p *Pool) trim() {
	old := *p.workers.Load()
	keep := max(2*int(p.limit.Load()), 16)
	if len(p.free) <= keep || len(p.free) < len(old)/2 {
		return
	}
	gone := map[*Worker]bool{}
	for _, w := range p.free[keep/2:] {
		gone[w] = true
		w.flush()
		w.stats.addTo(&p.retired)
	}
	clear(p.free[keep/2:])
	p.free = p.free[:keep/2]
	all := make([]*Worker, 0, len(old)-len(gone))
	for _, w := range old {
		if !gone[w] {
			all = append(all, w)
		}
	}
	p.workers.Store(&all)
}

// epoch is what times are counted from, so that reading the clock yields an
// int64 and takes the monotonic path.
var epoch = time.Now()

func now() int64 { return int64(time.Since(epoch)) }
