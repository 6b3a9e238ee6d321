package engine

import (
	"sync/atomic"
	"unsafe"
)

// What a worker is at is a word, Worker.doing, which Dump may load at any time: the owner
// stores it when it begins with something that takes long as a rule, next to which
// a store is little: a call from outside, a burst of tasks, a stolen fork, a wait
// at a join, a search. Forks and tasks do not. It stays when the worker is let go;
// Dump knows which workers are in use.
//
//	bits  0-2   kind
//	bits  3-23  number of another worker, and one more: whose fork it is, or which has it
//	bits 24-63  entry of the function, from origin; 0 if it is not known
type DoingKind uint64

const (
	AtTasks  DoingKind = iota // serves tasks; which one, its queue tells
	AtDo                      // in a function passed to Do
	AtCall                    // in a Call
	AtFork                    // runs a stolen fork
	AtJoin                    // waits for a fork that was stolen
	AtSearch                  // looks for work
	AtWay                     // has given way to a task
)

// origin is so far below the functions of a program that the difference is positive, if
// they are not in a plugin.
var origin = uint64(EntryOf(NameOf)) - 1<<39

// note is a word that is there for Dump alone.
type note = atomic.Uint64

// makeDoing packs a word. other may be nil, and entry 0.
func makeDoing(kind DoingKind, other *Worker, entry uintptr) uint64 {
	d := uint64(kind)
	if other != nil {
		d |= uint64(other.ID+1) << 3
	}
	if from := uint64(entry) - origin; entry != 0 && from < 1<<40 {
		d |= from << 24
	}
	return d
}

// notes tell what a worker is at. The owner writes, or the goroutine that hires it; Dump loads.
type notes struct {
	doing note // as makeDoing returns it
	since note // of a stolen fork, when it was taken
}

// Note notes what w is at.
func (n *notes) Note(kind DoingKind, other *Worker, entry uintptr) {
	n.doing.Store(makeDoing(kind, other, entry))
}

// noteFork notes that w is at a fork of another worker, which it took at the given time.
func (n *notes) noteFork(of *Worker, entry uintptr, taken int64) {
	n.since.Store(uint64(taken))
	n.Note(AtFork, of, entry)
}

// Doing is what a worker is at.
type Doing struct {
	Kind  DoingKind
	Other int     // number of another worker, or -1
	Entry uintptr // of a function, or 0
	Since int64   // of a stolen fork, when it was taken
}

// Doing returns what w is at, or was when it was let go.
func (n *notes) Doing() Doing {
	d := n.doing.Load()
	at := Doing{Kind: DoingKind(d & 7), Other: int(d>>3&(1<<21-1)) - 1, Since: int64(n.since.Load())}
	if from := d >> 24; from != 0 {
		at.Entry = uintptr(origin + from)
	}
	return at
}

// EntryOf returns where f begins, whose type must be that of a function, or 0 if it is nil. A function is a pointer to where it begins. As an any, it would have all
// that the types of its arguments lead to in every program.
func EntryOf[F any](f F) uintptr {
	if p := *(**uintptr)(unsafe.Pointer(&f)); p != nil {
		return *p
	}
	return 0
}
