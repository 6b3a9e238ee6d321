// Package engine is the heart of a pool: places, the workers that fill them, and forks.
//
//   - A worker looks for work and does it until there is none: search.go. It counts in the
//     pool's word of places, a place.Word: places.go. roster.go has the list of workers.
//   - Forks are private until another worker asks for them. Then their owner publishes them:
//     worker.go and demand.go. A published fork is a Job: job.go, jobstate.go. unwind.go takes
//     back what a panic leaves open.
//   - What happens can be told to a hook: hook.go.
//   - Tasks come from a [Source], of which the engine knows nothing more.
//
// README.md has the life of a fork, and the argument that no wake-up is lost. Each decision is
// one of package policy.
package engine

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/filch-go/filch/internal/clock"
	"github.com/filch-go/filch/internal/event"
	"github.com/filch-go/filch/internal/place"
	"github.com/filch-go/filch/internal/policy"
	"github.com/filch-go/filch/internal/tag"
)

// A Source is what a pool does beside forks: tasks. The engine knows no more of them than
// this. Its methods are called by any goroutine, unless they are for a worker: then by that
// worker's own.
type Source interface {
	// New makes a worker of the pool with the given id, by Init. The Source keeps beside it
	// what it needs to know of it. It is called under the lock of the roster.
	New(id int) *Worker
	// Retire reports whether a worker that is not in use may be forgotten. It is called under
	// the lock of the roster.
	Retire(w *Worker) bool

	// Look takes something to do for w, first from what w has, and keeps it for Serve. It
	// reports false if there is nothing.
	Look(w *Worker) bool
	// Serve does what Look has kept, and all that it finds next. It leaves the worker that
	// the goroutine goes on with in *w.
	Serve(w **Worker)

	// Found is called when a worker has found something to do, or a place was offered: what
	// is queued may have to wait.
	Found()
	// PlaceFree is called when a place is free, or more of them are. It reports whether something
	// is queued that a worker should be woken for.
	PlaceFree() bool
	// Waiting reports whether a goroutine waits for a place that it has given to the Source.
	Waiting() bool
	// Woken is called when a worker is woken.
	Woken()
	// AllLeft is called when the last place of a closed pool was given up, and reports
	// whether that is the end.
	AllLeft() bool

	// GiveWay is called where the forks of w are in order, if its demand is GiveWay: w may
	// give its place to what is queued.
	GiveWay(w *Worker)
	// SetLevel notes how urgent it is what w is about to run.
	SetLevel(w *Worker, level int64)
	// LabelsOf returns a context with the profiler labels of what works for ctx, or nil if
	// there are none.
	LabelsOf(ctx context.Context) *context.Context
}

// Pool is the places of a pool, and the workers that fill them.
type Pool struct {
	// Its methods stand with what they are about, one concept a file.

	Places place.Word // how many places are taken, and what for

	// Seldom written: thieves look here at every turn.
	limit   atomic.Int32 // places in all; guests may exceed it; written under mu
	extra   atomic.Int32 // more of them, while workers are blocked out of sight
	fixed   atomic.Bool  // the limit was set; else it follows GOMAXPROCS; written under mu
	held    atomic.Bool  // no worker is woken for forks; see budget.go
	Workers atomic.Pointer[[]*Worker]
	forkers atomic.Pointer[[]*Worker]    // those of them that have run fork-join work; see addForker
	hooks   atomic.Pointer[[]event.Hook] // are told what happens; nil if there are none; see hook.go

	// Written before there is a worker.
	source Source
	Number uint64 // of the pool, as its goroutines' stacks spell it
	Settings
	wrap      func(v any) error   // the error for a panic with the value v, made while the stack is there
	Elsewhere func(w *Worker)     // panics, since a goroutine uses w that has another worker; nil if nobody is told
	Disorder  func(entry uintptr) // panics, since two goroutines have used one worker, which has forked the function at entry
	Checks    Checks              // looks for misuse of workers, if it is not nil; see checks.go
	Seats     Seats               // pins the goroutines that fill places, if it is not nil; see seat.go
	Logical   Logical             // each fork is a goroutine of its own to the race detector; see logical.go
	_         [56]byte

	global jobQueue
	_      [64]byte

	spare    atomic.Pointer[Worker] // a cache of one for free
	budget   budget
	patience patience
	_        [96]byte

	mu      sync.Mutex
	free    []*Worker // in workers, but unused
	ids     []int     // less than the most of workers so far, and unused
	parked  []*Worker // those whose goroutine is kept; see WithIdleTimeout
	retired Figures   // of workers that were let go

	store atomic.Pointer[Store] // see store.go; what has a place writes, once
}

// Settings are what a Pool is made with.
type Settings struct {
	BusyPoll bool          // half of the workers never leave
	Linger   time.Duration // how long a worker that finds nothing keeps its goroutine
	Stealing Stealing
}

// pools counts the pools that were made.
var pools atomic.Uint64

// Init makes p a pool of places without a limit.
func (p *Pool) Init(source Source, wrap func(v any) error, s Settings) {
	p.source, p.wrap, p.Settings = source, wrap, s
	p.Stealing.complete()
	p.Number = pools.Add(1) % tag.Max
	p.Workers.Store(&[]*Worker{})
	p.forkers.Store(&[]*Worker{})
	p.budget.word.Store(int64(policy.FullSearch(clock.Now())))
	p.patience.word.Store(policy.SpinTime)
}

// Tag calls then below frames that spell the number of p.
func (p *Pool) Tag(then tag.Step) { tag.Below(p.Number, then) }

// Follow takes over the limit from GOMAXPROCS, unless it is fixed, and returns
// GOMAXPROCS. It is called when a worker begins to search, by what could not
// call others in because there was one place, and when it is asked for.
func (p *Pool) Follow() int {
	procs := runtime.GOMAXPROCS(0)
	n := int32(min(procs, MaxWorkers))
	if !p.fixed.Load() && p.limit.Load() != n && p.SetLimit(n, false) {
		p.MatchWork()
	}
	return procs
}

// SetLimit sets the number of places, for good if fix is set; else it leaves one
// alone that is. It reports whether there are more than before.
func (p *Pool) SetLimit(n int32, fix bool) (more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !fix && p.fixed.Load() {
		return false
	}
	p.fixed.Store(fix)
	return p.limit.Swap(n) < n
}

// Size returns how many workers there may be at once, but for extra ones.
func (p *Pool) Size() int { return int(p.limit.Load()) }

// SetExtra sets how many places there are beyond the limit, and returns how many there were.
func (p *Pool) SetExtra(n int) (before int) {
	before = int(p.extra.Swap(int32(n)))
	if before != n {
		p.Tell(event.Event{Kind: event.Extra, Worker: -1, Other: -1, ID: uint64(n)})
	}
	return before
}

// Extra returns how many places there are beyond the limit.
func (p *Pool) Extra() int { return int(p.extra.Load()) }
