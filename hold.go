package filch

import (
	"fmt"
	"sync/atomic"
)

// hold is what a worker has, and lends, while it runs tasks: its place in the
// pool, its use as a Scope, and the seat that tasks run in on top of others. A
// task's context leads all of that to any goroutine, during the task and after
// it, so the three change together, in one word, and each change by way of a
// context names the round it is meant for:
//
//	bit   0      the worker has its place
//	bits  1-2    its Scope: none, free, used or left
//	bits  3-31   tasks that run in place in its seat
//	bits 32-63   the round: how many series of tasks the worker has run before
//
// In a later round the worker belongs to other tasks. A context that outlives
// 2^32 rounds of its worker would be taken for one of the current round.
//
//	          openRound          enterScope         endRound
//	none ───────────────> free ─────────────> used ──────────> left
//	  ^                    │ ^                 │                 │
//	  └────────────────────┘ └─────────────────┘                 │
//	  │      endRound             leaveScope                     │
//	  └──────────────────────────────────────────────────────────┘
//	                        leaveScope
type hold struct{ word atomic.Uint64 }

const (
	holdPlace  = 1 << 0
	scopeNone  = 0 << 1 // the worker runs no tasks
	scopeFree  = 1 << 1
	scopeUsed  = 2 << 1
	scopeLeft  = 3 << 1 // used, and left behind by the goroutine that ran the tasks
	scopeBits  = 3 << 1
	oneSeated  = 1 << 3
	seatedBits = 1<<32 - oneSeated
	oneRound   = 1 << 32
)

// A holdState is a value of the word.
type holdState uint64

func (s holdState) hasPlace() bool      { return s&holdPlace != 0 }
func (s holdState) scope() holdState    { return s & scopeBits }
func (s holdState) seated() int         { return int(s & seatedBits / oneSeated) }
func (s holdState) round() uint32       { return uint32(s >> 32) }
func (s holdState) in(r uint32) bool    { return s.round() == r }
func (s holdState) is(f holdState) bool { return s.scope() == f }

// String tells the parts of the word, for messages of what must not be.
func (s holdState) String() string {
	scope := [...]string{"none", "free", "used", "left"}[s.scope()>>1]
	return fmt.Sprintf("{place: %t, scope: %s, seated: %d, round: %d}", s.hasPlace(), scope, s.seated(), s.round())
}

func (h *hold) load() holdState { return holdState(h.word.Load()) }

func (h *hold) swap(from, to holdState) bool {
	return h.word.CompareAndSwap(uint64(from), uint64(to))
}

// init gives a new worker its first place.
func (h *hold) init() { h.word.Store(holdPlace) }

// yieldPlace gives up the place, and reports false if that was done already in
// the worker's name. It is for the worker's own goroutine.
func (h *hold) yieldPlace() bool {
	for {
		s := h.load()
		if !s.hasPlace() {
			return false
		}
		if h.swap(s, s&^holdPlace) {
			return true
		}
	}
}

// retakePlace notes that the worker has a place, and reports false if it has one
// already. It is for the worker's own goroutine.
func (h *hold) retakePlace() bool {
	for {
		s := h.load()
		if s.hasPlace() {
			return false
		}
		if h.swap(s, s|holdPlace) {
			return true
		}
	}
}

// lendPlace gives up the place in the name of a task of the round. lent is false
// if another goroutine has done so before; ok is false if the round is over.
func (h *hold) lendPlace(round uint32) (lent, ok bool) {
	for {
		s := h.load()
		switch {
		case !s.in(round):
			return false, false
		case !s.hasPlace():
			return false, true
		case h.swap(s, s&^holdPlace):
			return true, true
		}
	}
}

// reclaimPlace notes that the worker has a place again, for a task of the round.
// It reports false, and no place must be taken, if the round is over, or another
// goroutine has done so before.
func (h *hold) reclaimPlace(round uint32) bool {
	for {
		s := h.load()
		if !s.in(round) || s.hasPlace() {
			return false
		}
		if h.swap(s, s|holdPlace) {
			return true
		}
	}
}

// openRound makes the worker the Scope of the tasks that it is about to run, and
// returns the round. It is for the worker's own goroutine.
func (h *hold) openRound() uint32 {
	for {
		s := h.load()
		if !s.is(scopeNone) {
			panic("filch: internal error: a worker runs tasks within a round: " + s.String())
		}
		if h.swap(s, s|scopeFree) {
			return s.round()
		}
	}
}

// endRound begins the next round, when the worker's tasks are done. It reports
// false if the word is not s any more: the caller has counted the tasks that still
// run in the seat by it. left tells whether another goroutine uses the worker as
// its Scope: then the worker is that one's until leaveScope.
func (h *hold) endRound(s holdState) (left, ok bool) {
	to := s&holdPlace | holdState(s.round()+1)*oneRound
	left = s.is(scopeUsed)
	if left {
		to |= scopeLeft
	}
	return left, h.swap(s, to)
}

// enterScope makes the caller the user of the worker, and reports false if the
// round is over or another goroutine uses it.
func (h *hold) enterScope(round uint32) bool {
	for {
		s := h.load()
		if !s.in(round) || !s.is(scopeFree) {
			return false
		}
		if h.swap(s, s&^scopeBits|scopeUsed) {
			return true
		}
	}
}

// leaveScope ends the use of the worker. It reports true if the round has ended
// meanwhile: then the caller has to see to the worker, which is nobody else's.
func (h *hold) leaveScope() (left bool) {
	for {
		s := h.load()
		to := s &^ scopeBits
		switch s.scope() {
		case scopeUsed:
			to |= scopeFree
		case scopeLeft:
			left = true
		default:
			panic("filch: internal error: a Scope was left that nobody uses: " + s.String())
		}
		if h.swap(s, to) {
			return left
		}
	}
}

// sitDown counts a task that runs in the seat, and reports false if the round is
// over.
func (h *hold) sitDown(round uint32) bool {
	for {
		s := h.load()
		if !s.in(round) || s&seatedBits == seatedBits {
			return false
		}
		if h.swap(s, s+oneSeated) {
			return true
		}
	}
}

// standUp ends what sitDown began. It reports false if the round has ended
// meanwhile: then the task was counted by endRound's caller.
func (h *hold) standUp(round uint32) bool {
	for {
		s := h.load()
		if !s.in(round) {
			return false
		}
		if s.seated() == 0 {
			panic("filch: internal error: nobody is in the seat: " + s.String())
		}
		if h.swap(s, s-oneSeated) {
			return true
		}
	}
}
