// Package place counts the places of a pool. A place is the right to run: as many
// goroutines run at once as there are places. All counts are in one atomic word, because a
// goroutine that queues work and one that stops looking for work must agree on which of them
// sees to the other. README.md of package engine has the argument.
package place

import (
	"fmt"
	"sync/atomic"

	"github.com/filch-go/filch/internal/race"
)

// Word is the word of one pool. Any goroutine may call its methods. None blocks, and each is
// one step to all others.
//
//	bits  0-24  active: goroutines that have a place, at work or searching
//	bits 25-36  searching: those of them that look for work
//	bits 37-61  blocked: goroutines of the pool that have no place, and wait, or need none
//	bit  62     ended: closed, and all was done
//	bit  63     closed
//
//	        Enter, TryEnter               TryWake
//	outside ───────────────> active <───────────────────┐
//	   │   <──────────────     │  ^                     outside
//	   │        Leave          │  │ TrySearch, Found      ^
//	   │                 Block │  │ Unblock               │ LeaveSearching
//	   │     EnterBlocked      v  │                   searching
//	   └─────────────────────> blocked
//	       <────────────────
//	          LeaveBlocked
//
// No field carries into its neighbour: a caller refuses a goroutine from outside when the
// State is Crowded, and the others only move from field to field.
type Word struct {
	word atomic.Uint64
	_    [120]byte
}

const (
	oneActive     = 1 << 0
	oneSearching  = 1 << 25
	oneBlocked    = 1 << 37
	ended         = 1 << 62
	closed        = 1 << 63
	activeBits    = oneSearching - 1
	searchingBits = oneBlocked - oneSearching
	blockedBits   = ended - oneBlocked

	// MaxSearching is how many may search at once.
	MaxSearching = searchingBits / oneSearching
	// MaxCrowd is how many goroutines may be active or blocked. It leaves room for as many
	// as may come at once before they see that there are too many.
	MaxCrowd = activeBits - 1<<22
)

// State is a value of the Word.
type State uint64

// Active returns how many goroutines have a place.
func (s State) Active() int { return int(s & activeBits) }

// Searching returns how many of the active ones look for work.
func (s State) Searching() int { return int(s & searchingBits / oneSearching) }

// Blocked returns how many goroutines of the pool have no place.
func (s State) Blocked() int { return int(s & blockedBits / oneBlocked) }

// Closed reports whether the pool takes no more work from outside.
func (s State) Closed() bool { return s&closed != 0 }

// Ended reports whether the pool is closed and all is done.
func (s State) Ended() bool { return s&ended != 0 }

// AtRest reports whether no goroutine is active or blocked.
func (s State) AtRest() bool { return s&^(closed|ended) == 0 }

// Crowded reports whether a goroutine that came from outside has to go again.
func (s State) Crowded() bool { return s.Active()+s.Blocked() > MaxCrowd }

// String tells the parts, for messages of what must not be.
func (s State) String() string {
	return fmt.Sprintf("{active: %d, searching: %d, blocked: %d, closed: %t, ended: %t}",
		s.Active(), s.Searching(), s.Blocked(), s.Closed(), s.Ended())
}

// Load returns the current State.
func (w *Word) Load() State { return State(w.word.Load()) }

// add moves the counts, and returns the new State. have is what there must have been.
func (w *Word) add(d uint64, have State) State {
	s := State(w.word.Add(d))
	if race.Enabled {
		s.check(d, have)
	}
	return s
}

// check panics if more tasks are done than there were.
func (t *Tally) check(done uint64) {
	if race.Enabled && int64(t.in.Load()>>1-done>>1) < 0 {
		panic("filch: internal error: more tasks are done than there were: " + t.String())
	}
}

// check panics if the step by d to s was not allowed.
func (s State) check(d uint64, have State) {
	before := s - State(d)
	if before.Active() < have.Active() || before.Searching() < have.Searching() || before.Blocked() < have.Blocked() ||
		s.Searching() > s.Active() {
		panic(fmt.Sprintf("filch: internal error: places went from %v to %v", before, s))
	}
}

// Enter takes a place for a goroutine that is not counted, whether one is free or not.
func (w *Word) Enter() State { return w.add(oneActive, 0) }

// TryEnter takes a place if fewer than limit are taken, and the pool has not ended. A worker that
// passed its place on may come for another when all is done, and must not be counted then.
func (w *Word) TryEnter(limit int) bool {
	for {
		s := w.Load()
		if s.Active() >= limit || s.Ended() {
			return false
		}
		if w.swap(s, s+oneActive) {
			return true
		}
	}
}

// TryWake takes a place for a goroutine that is about to search. It reports false if the
// State is not s any more.
func (w *Word) TryWake(s State) bool { return w.swap(s, s+oneActive+oneSearching) }

// TrySearch counts an active goroutine as searching. It reports false if the State is not
// s any more.
func (w *Word) TrySearch(s State) bool { return w.swap(s, s+oneSearching) }

// Found ends the search of a goroutine, which keeps its slot.
func (w *Word) Found() { _ = w.add(minus(oneSearching), oneActive+oneSearching) }

// Leave gives up a place.
func (w *Word) Leave() State { return w.add(minus(oneActive), oneActive) }

// LeaveSearching gives up the place of a goroutine that has searched in vain.
func (w *Word) LeaveSearching() State {
	return w.add(minus(oneActive+oneSearching), oneActive+oneSearching)
}

// EnterBlocked counts n goroutines that have no place, and were not counted before.
func (w *Word) EnterBlocked(n int) State { return w.add(uint64(n)*oneBlocked, 0) }

// LeaveBlocked ends that.
func (w *Word) LeaveBlocked(n int) State {
	return w.add(minus(uint64(n)*oneBlocked), State(n)*oneBlocked)
}

// Block gives up the place of a goroutine that will come back for one.
func (w *Word) Block() State { return w.add(oneBlocked-oneActive, oneActive) }

// Unblock takes a place for a goroutine that is blocked, whether one is free or not.
func (w *Word) Unblock() State { return w.add(minus(oneBlocked-oneActive), oneBlocked) }

// Close notes that the pool takes no more work from outside.
func (w *Word) Close() { w.word.Or(closed) }

// TryEnd ends the pool if it is closed, at rest, and has not ended yet. It reports whether
// it did.
func (w *Word) TryEnd() bool { return w.swap(closed, closed|ended) }

func (w *Word) swap(from, to State) bool {
	return w.word.CompareAndSwap(uint64(from), uint64(to))
}

// minus is what to add to subtract n.
func minus(n uint64) uint64 { return ^(n - 1) }
