// Package event is what a pool tells of itself while it works: an [Event] for each step of a
// task, a fork, a worker or the pool, to one [Hook]. It has one text form, a line an event,
// which reads like a play:
//
//	12.300us  worker 0   publishes fork 0.1
//	13.050us  worker 1   steals fork 0.1 from worker 0
//	15.000us  worker 0   waits for fork 0.1 on worker 1
//
// See [Event.Append] for the form.
package event

import (
	"fmt"
	"runtime"
	"strings"
)

// A Hook is told of events.
//
// Event is called by the goroutine to which it happens, several at once. It must be quick and
// safe for concurrent use. It must not use the pool, because some events are told under a lock.
//
// The events of one goroutine come in their order, and so do those that the pool orders: a
// fork is published, stolen and finished in this order. Of two goroutines that wait for
// nothing from each other, either may come first, whatever their times say.
//
// If Event panics or calls runtime.Goexit, the program ends. It is called halfway through the
// steps of the pool, where no caller could go on, so a panic is not passed to any.
type Hook interface {
	Event(e Event)
}

// An Event is something that happened.
type Event struct {
	At     int64  // in nanoseconds since the program began; 0 if it is not known
	Kind   Kind   // what
	Worker int    // the number of the worker that it happened to; -1 if there is none
	Other  int    // another worker, as the kind says; -1 if there is none
	ID     uint64 // of the fork or the task, or a number, as the kind says; 0 if there is none
	Name   string // of the task, if it has one

	// Func is where the function of a task, a fork or a call begins, if it is known. The text form
	// does not have it: Name can have its name.
	Func uintptr
}

// A Kind is a kind of event.
type Kind uint8

// Of a task. ID is its number, and Worker the one that runs it, if there is one.
const (
	Submitted Kind = iota // was accepted
	Rejected              // was not accepted
	Started               // begins to run
	Done                  // has ended, however it did, unless it crashed
	Next                  // begins to run; the one that Worker ran before, with the ID before, has ended by then
	Cancelled             // will never run
	Crashed               // has ended by a panic or runtime.Goexit, and not by Done
)

// Of a fork. ID is that of ForkID.
const (
	Published Kind = Crashed + 1 + iota // Worker offers its fork to others
	Stolen                              // Worker takes the oldest fork of Other, to run it
	TakenBack                           // Worker takes its fork back, which no other has begun, to run it or to drop it
	HandedOn                            // Worker leaves a fork of Other, which it has stolen and must not run, to the next that comes
	TakenUp                             // Worker takes such a fork of Other, to run it
	Finished                            // Worker is done with a fork of Other, before that may know of it
	Joined                              // Worker has run a fork that it took back; not told of asyncs, which it queues again
	Spins                               // Worker waits for its fork, which Other has, and keeps its slot; it helps if it can
	Helped                              // Worker runs a fork of Other meanwhile, which it has stolen
	Spun                                // Worker does so no more: the fork is done, or Worker blocks
)

// Of a queue of tasks. Worker is whose it is; without one it is the global queue.
const (
	Queued  Kind = Spun + 1 + iota // it has so many tasks, which is ID
	Spilled                        // a task of Worker went to the global queue, since its own could not take it
	Fetched                        // Worker has taken so many tasks, which is ID, from the queue of Other, or the global one
)

// Of a worker.
const (
	Woken     Kind = Fetched + 1 + iota // gets a place, to look for work
	Searching                           // looks for work, after it has found none at a glance
	Found                               // has found work: it searches no more
	Left                                // is given back: it had nothing to do, or the call of Do has ended
	Entered                             // gets a place for a goroutine from outside, an extra one if all are taken
	Called                              // runs the function that such a goroutine has passed to Do or Call, until it leaves
	Blocked                             // gives up its place, until fork ID is done, which Other has
	PassedOn                            // gives its place to Other, which has waited
	GaveWay                             // gives up its place to tasks that go first
	Lent                                // gives up its place while a function blocks or a task waits
	Resumed                             // has a place again, after Blocked, PassedOn, GaveWay or Lent
)

// Of the pool.
const (
	Extra  Kind = Resumed + 1 + iota // the number of places beyond its limit is now ID, since workers wait out of sight
	Closed                           // takes no more work from outside
	Ended                            // is closed, and all is done

	kinds // is how many there are
)

// object is what ID is for the events of a kind.
type object uint8

const (
	nothing object = iota
	aTask
	aFork
	aNumber
)

// A phrase is how the events of a kind are told.
type phrase struct {
	name string // of the kind
	verb string // before what ID is
	id   object
	with string // before the other worker
}

// phrases are told apart by verb and object.
var phrases = [kinds]phrase{
	Submitted: {"Submitted", "accepts", aTask, "with"},
	Rejected:  {"Rejected", "rejects", aTask, "with"},
	Started:   {"Started", "starts", aTask, "with"},
	Done:      {"Done", "completes", aTask, "with"},
	Next:      {"Next", "goes on to", aTask, "with"},
	Cancelled: {"Cancelled", "cancels", aTask, "with"},
	Crashed:   {"Crashed", "crashes in", aTask, "with"},
	Published: {"Published", "publishes", aFork, "with"},
	Stolen:    {"Stolen", "steals", aFork, "from"},
	TakenBack: {"TakenBack", "takes back", aFork, "from"},
	HandedOn:  {"HandedOn", "hands on", aFork, "of"},
	TakenUp:   {"TakenUp", "takes up", aFork, "of"},
	Finished:  {"Finished", "finishes", aFork, "of"},
	Joined:    {"Joined", "returns from", aFork, "with"},
	Spins:     {"Spins", "spins for", aFork, "on"},
	Helped:    {"Helped", "helps with", aFork, "of"},
	Spun:      {"Spun", "spins no more for", aFork, "on"},
	Queued:    {"Queued", "has queued", aNumber, "with"},
	Spilled:   {"Spilled", "spills a task", nothing, "with"},
	Fetched:   {"Fetched", "fetches tasks:", aNumber, "from"},
	Woken:     {"Woken", "is woken", nothing, "by"},
	Searching: {"Searching", "searches", nothing, "with"},
	Found:     {"Found", "finds work", nothing, "with"},
	Left:      {"Left", "leaves", nothing, "with"},
	Entered:   {"Entered", "enters", nothing, "with"},
	Called:    {"Called", "is called", nothing, "by"},
	Blocked:   {"Blocked", "waits for", aFork, "on"},
	PassedOn:  {"PassedOn", "passes its slot on", nothing, "to"},
	GaveWay:   {"GaveWay", "gives way", nothing, "to"},
	Lent:      {"Lent", "lends its slot", nothing, "to"},
	Resumed:   {"Resumed", "goes on", nothing, "with"},
	Extra:     {"Extra", "has slots beyond its limit:", aNumber, "with"},
	Closed:    {"Closed", "is closed", nothing, "by"},
	Ended:     {"Ended", "has ended", nothing, "with"},
}

// String returns the name of the kind.
func (k Kind) String() string {
	if k < kinds {
		return phrases[k].name
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Bits of a fork's ID: the number of its owner is above that of the publication.
const publicationBits = 40

// ForkID returns the ID of a fork: the number of the worker that made it, and the number of
// that worker's publication, from 1. The worker counts to 2^32, and then from 0; and from 1 if
// its number was that of a worker that was let go.
func ForkID(worker int, publication uint64) uint64 {
	return uint64(worker)<<publicationBits | publication&(1<<publicationBits-1)
}

// TaskID returns the ID of a task that a worker has counted, from 1. The others are counted by the
// pool, up to 1<<40.
func TaskID(worker int, n uint64) uint64 { return ForkID(worker+1, n) }

// Fork returns what ForkID was called with.
func Fork(id uint64) (worker int, publication uint64) {
	return int(id >> publicationBits), id & (1<<publicationBits - 1)
}

// FuncName returns the name of the function that begins at entry, without the path of its package, or "" if
// there is none.
func FuncName(entry uintptr) string {
	fn := runtime.FuncForPC(entry)
	if fn == nil {
		return ""
	}
	name := fn.Name()
	return name[strings.LastIndexByte(name, '/')+1:]
}
