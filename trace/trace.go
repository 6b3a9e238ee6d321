// Package trace records what the workers of a pool do, and writes it for the viewers that
// programmers have: Perfetto, Chrome and Speedscope, or a terminal.
//
//	r := trace.New(pool)
//	r.Start()
//	work(pool)
//	r.Stop()
//	err := r.WriteChrome(file) // open it at ui.perfetto.dev or chrome://tracing
//
// There is one track for each worker, with the tasks, calls and published forks that it ran, its
// waits and searches, and an arrow for each steal, from the worker that published the fork to the
// thief. Forks that no other worker asked for are not shown: they are plain calls, some
// nanoseconds apart. So who has stolen what are the arrows, or of the text the lines with "steals":
// the thief comes first, the victim and the function last.
//
// Asyncs count as forks, and so do the continuations of package strand: what is stolen there is the rest of the function
// that is named. A function literal in a package variable, as of filch.NewFunc, is main.init.func1; a function with a
// name of its own is easier to find. The forks of a loop of package par are par.partOfLoop; the task or the call that they
// are in says whose loop it is. docs/glossary.md has the words.
//
// A [Recorder] that is not started costs nothing. Started, it costs what the events cost: some 60 to 90 ns for each
// event, one for a task that follows another, and three to four for a steal. Its memory is fixed: a ring of the latest events
// for each worker. So it can stay on for good as a flight recorder, which has the last seconds when something
// goes wrong; see [OnStall] and [OnPanic].
//
// Recording does not change what runs where: it takes no places, starts no goroutines, and workers do not wait
// for one another in it.
package trace

import (
	"fmt"
	"sync"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/event"
)

// A Recorder records the events of a pool. Make one with [New]. Its methods may be called from any
// goroutine. A pool may have several.
type Recorder struct {
	// Its methods stand with what they write: each form has a file.

	pool     *filch.Pool
	source   event.Source
	capacity int
	onStall  *alarm // nil without OnStall
	onPanic  *alarm // nil without OnPanic

	mu      sync.Mutex
	started bool       // under mu
	now     *recording // the last, or an empty one; under mu
}

// An Option is one of [New].
type Option func(r *Recorder)

// WithCapacity sets how many of the latest events are kept of each worker, and as many for what no worker
// does. It is rounded up to a power of two; the default is 4,096, or 160 KB a worker. The name of a task
// stays as long as its event; of a longer one the first 256 bytes are kept. Workers beyond the first
// 256, which there are if so many are blocked, share one ring. WithCapacity panics
// unless 1 <= n <= 1<<24.
func WithCapacity(n int) Option {
	if n < 1 || n > 1<<24 {
		panic(fmt.Sprintf("trace: WithCapacity(%d): n must be from 1 to %d", n, 1<<24))
	}
	return func(r *Recorder) {
		for r.capacity = 1; r.capacity < n; {
			r.capacity *= 2
		}
	}
}

// made panics if r is nil or zero.
func (r *Recorder) made(method string) {
	if r == nil || r.pool == nil {
		panic("trace: " + method + ": the Recorder is nil or zero: make one with New")
	}
}

// New returns a Recorder of p, which does not record yet. p may be filch.Default(). New panics if p is nil or
// a zero Pool, which filch.New has not made, and if an option is nil.
func New(p *filch.Pool, opts ...Option) *Recorder {
	if p == nil {
		panic("trace: New: p is nil")
	}
	r := &Recorder{pool: p, source: event.SourceOf(p), capacity: 4096}
	if r.source == nil {
		panic("trace: New: p is a Pool that filch.New has not made")
	}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("trace: New: option %d is nil", i))
		}
		opt(r)
	}
	r.now = r.newRecording()
	return r
}

// Start begins to record, and forgets what was recorded before. It does nothing if the Recorder records
// already. It does not block.
func (r *Recorder) Start() {
	r.made("Start")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return
	}
	r.started = true
	r.now = r.newRecording()
	r.source.AddHook(r.now)
}

// Stop ends what Start began. What was recorded stays. Events that are under way may be recorded shortly
// after. It does nothing if the Recorder does not record.
func (r *Recorder) Stop() {
	r.made("Stop")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		r.source.RemoveHook(r.now)
		r.started = false
	}
}

// Snapshot returns what has been recorded so far, while the Recorder goes on. It takes some
// microseconds for 100 events. No worker waits for it.
func (r *Recorder) Snapshot() *Trace {
	r.made("Snapshot")
	r.mu.Lock()
	now := r.now
	r.mu.Unlock()
	return now.snapshot()
}

// A Trace is what a [Recorder] has recorded until a moment.
type Trace struct {
	// Its methods stand with what they write: each form has a file.

	Pool  string    // its name and how many workers it has
	Begun time.Time // when the recording began
	Lost  uint64    // events that later ones have overwritten; Last does not change it

	began, ended int64 // since Start, as the times of events are
	events       []event.Event
}

// take takes t's events and those of a ring, of which some were lost.
func (t *Trace) take(events []event.Event, lost, _ uint64) {
	t.events = events
	t.Lost += lost
}
