// Package trace records what the workers of a pool do, and writes it for common viewers: Perfetto, Chrome and
// Speedscope, or a terminal.
//
//	r := trace.New(pool)
//	r.Start()
//	work(pool)
//	r.Stop()
//	err := r.WriteChrome(file) // open it at ui.perfetto.dev or chrome://tracing
//
// Each worker is a track with the tasks, calls and published forks that it ran, its waits and its searches. Each steal
// is an arrow from the worker that published the fork to the thief; in the text form, it is a line with "steals" that
// names the thief first, and the victim and the function last. Forks that no other worker asked for are not shown: they
// are plain calls, some nanoseconds apart.
//
// Asyncs count as forks, and so do continuations of package strand, where a thief takes the rest of the named function.
// A function literal in a package variable, as with filch.NewFunc, appears as main.init.func1; a named function is
// easier to find. Forks of a loop of package par appear as par.partOfLoop; the task or call around them tells whose
// loop it is. docs/glossary.md defines the terms.
//
// A [Recorder] that is not started costs nothing. A started one costs some 60 to 90 ns an event: one event for a task
// that follows another, and three to four for a steal. Its memory is fixed: a ring of the latest events for each
// worker. It can therefore stay on permanently as a flight recorder, which has the last seconds when something goes
// wrong; see [OnStall] and [OnPanic].
//
// Recording does not change where tasks and forks run: it takes no worker slots and starts no goroutines, and workers
// do not wait for one another in it.
package trace

import (
	"fmt"
	"sync"
	"time"

	"github.com/filch-go/filch"
	"github.com/filch-go/filch/internal/event"
)

// A Recorder records the events of a pool. Make one with [New]. Any goroutine may call its methods. A pool may have
// several.
type Recorder struct {
	// Its methods stand with what they write: each form has a file.

	pool     *filch.Pool
	source   event.Source
	capacity int
	onStall  *alarm // nil without OnStall
	onPanic  *alarm // nil without OnPanic

	mu      sync.Mutex
	started bool       // whether it records; under mu
	now     *recording // the latest, or an empty one; under mu
}

// An Option is an option of [New].
type Option func(r *Recorder)

// WithCapacity sets how many of the latest events are kept for each worker, and for everything outside workers. n is
// rounded up to a power of two; the default is 4,096, or 160 KB a worker. WithCapacity panics unless 1 <= n <= 1<<24.
//
// A task's name stays as long as its event; names are cut to 256 bytes. If blocked workers raise the number of workers
// above 256, those beyond share one ring.
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

// New returns a Recorder of p, which does not record yet. p may be filch.Default(). New panics if p is nil or a zero
// Pool, not made by filch.New, or if an option is nil.
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

// Start begins to record, and discards earlier events. It does nothing if the Recorder already records. It does not
// block.
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

// Stop ends the recording; recorded events stay. Events under way may still be recorded shortly after. Stop does nothing
// if the Recorder does not record.
func (r *Recorder) Stop() {
	r.made("Stop")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		r.source.RemoveHook(r.now)
		r.started = false
	}
}

// Snapshot returns the events recorded so far, and does not stop the recording. It takes some microseconds for 100
// events. No worker waits for it.
func (r *Recorder) Snapshot() *Trace {
	r.made("Snapshot")
	r.mu.Lock()
	now := r.now
	r.mu.Unlock()
	return now.snapshot()
}

// A Trace holds the events that a [Recorder] had recorded at a moment.
type Trace struct {
	// Its methods stand with what they write: each form has a file.

	Pool  string    // its name and number of workers
	Begun time.Time // when the recording began
	Lost  uint64    // events overwritten by later ones; Last does not change it

	began, ended int64 // since Start, as the times of events are
	events       []event.Event
}

// take adds the events and the losses of a ring to t.
func (t *Trace) take(events []event.Event, lost, _ uint64) {
	t.events = events
	t.Lost += lost
}
