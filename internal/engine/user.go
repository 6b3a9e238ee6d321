package engine

import (
	"unsafe"

	"github.com/filch-go/filch/internal/goroutine"
	"github.com/filch-go/filch/internal/race"
)

// The most natural mistake is to use, in a forked function, the worker of the function around it. Once the fork is stolen, two
// goroutines use one worker. So a worker notes its goroutine where it is handed to one that may fork, and looks whose it
// is where a Join, a Call or a Finish begins, and on the slow paths of forks.
//
// To ask for the goroutine takes about 2 ns, a Join some 25. So the worker also knows a range of its goroutine's stack, and
// asks only if the caller is outside. The stack may have moved since, and its old memory be another goroutine's: then a
// mistake is missed. The next use on the right goroutine is outside, and moves the range.
//
// A goroutine that is not the one noted may be right all the same, as that of iter.Pull is, which runs while its caller
// waits. So the use is a mistake only if that goroutine has a worker of its own, as a thief has, or if w waits at a join.

// A User is the goroutine that has a worker, or none.
type User struct {
	id        uintptr // 0 if it is not known; others load it
	low, size uintptr // of its stack, as far as it is known; size is 0 with Checks, and under the race detector
}

const anywhere = ^uintptr(0) // a size that leaves nothing outside

// Occupy notes that the calling goroutine has w, and returns the User of before, which is to be set again in the end.
func (w *Worker) Occupy() (before User) {
	before = w.User
	if goroutine.Cheap && !(race.Enabled && w.pool.Logical.On) { // else each child has an alias of w
		w.User = User{id: goroutine.ID()}
	}
	return before
}

// Leave notes that no goroutine has the worker.
func (u *User) Leave() { u.id = 0 }

// Roam notes that w goes from goroutine to goroutine, until the User that it returns is set again.
func (w *Worker) Roam() (before User) {
	before = w.User
	w.roam()
	return before
}

func (w *Worker) roam() {
	if w.User = (User{}); !w.UsesAreChecked() {
		w.User.size = anywhere
	}
}

// CheckUse panics if w is used by what it called by Blocking, on a goroutine that is certainly another, or as Checks say.
func (w *Worker) CheckUse() {
	if race.Enabled { // each use, since the size is 0; without a read that the detector would note
		w.checkSlow(0)
		return
	}
	var here byte
	if at := uintptr(unsafe.Pointer(&here)); at-w.User.low >= w.User.size {
		w.checkSlow(at)
	}
}

// UsesAreChecked reports whether each use of w is to come to CheckUse, however fast a plain one is.
func (w *Worker) UsesAreChecked() bool { return race.Enabled || w.checked }

// CheckUseWithRaces is CheckUse with the race detector, and nothing without.
func (w *Worker) CheckUseWithRaces() {
	if race.Enabled {
		w.CheckUse()
	}
}

// checkSlow is the rest of CheckUse by a function with at in its frame. The race detector remembers so many reads and calls of a
// goroutine, and those of the program are worth more than these.
//
//go:norace
//go:noinline
func (w *Worker) checkSlow(at uintptr) {
	if w.checked {
		w.pool.Checks.Uses(w)
	}
	if w.User.id != 0 {
		switch id := goroutine.ID(); {
		case id == w.User.id:
			if !w.UsesAreChecked() {
				w.User.know(at)
			}
		case w.blocked || w.pool.isUser(id):
			w.isElsewhere()
		}
	}
	if w.UsesAreChecked() && w.blocking {
		panic("filch: a Worker is used inside of its Blocking")
	}
}

// isElsewhere panics, since the caller uses w, which another goroutine has.
func (w *Worker) isElsewhere() {
	if w.pool.Elsewhere != nil {
		w.pool.Elsewhere(w)
	}
	panic("filch: a Worker is used on another goroutine than the one that it was handed to")
}

// know adds to the range the address at, which is on the stack of u. What is further from it than the least
// stack is large may be where the stack has moved to.
func (u *User) know(at uintptr) {
	const least = 2 << 10
	switch {
	case at < u.low && u.low-at <= least:
		u.size += u.low - at
		u.low = at
	case at >= u.low+u.size && at-(u.low+u.size) < least:
		u.size = at - u.low + 1
	default:
		u.low, u.size = at, 1
	}
}

// isUser reports whether the goroutine has a worker of p.
//
//go:norace
func (p *Pool) isUser(id uintptr) bool {
	for _, w := range *p.Workers.Load() {
		if w.User.id == id {
			return true
		}
	}
	return false
}
